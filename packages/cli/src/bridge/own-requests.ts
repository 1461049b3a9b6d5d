/** Requests that the bridge itself sends to the gateway. The client sees neither them nor their answers. */

import { randomUUID } from "node:crypto";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import type { HttpTransport, RpcId } from "@toolcrib/mcp";

type Message = Parameters<HttpTransport["send"]>[0];

/** A request without an id. */
export interface OwnRequest {
  readonly method: string;
  readonly params?: JsonValue | undefined;
}

/** A message from the gateway. */
export interface GatewayMessage {
  readonly id?: RpcId;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: JsonValue };
}

interface OpenRequest extends PromiseWithResolvers<JsonObject> {
  readonly sentOn: HttpTransport;
}

/** The requests of one bridge. */
export class OwnRequests {
  readonly #open = new Map<RpcId, OpenRequest>();
  /** The beginning of their ids, which no client knows. */
  readonly #idPrefix = `toolcrib-bridge-${randomUUID()}-`;
  #count = 0;

  /** Sends a request. @returns its result @throws when the gateway refuses it, or it is lost */
  send(transport: HttpTransport, { method, params }: OwnRequest): Promise<JsonObject> {
    this.#count += 1;
    const id = `${this.#idPrefix}${this.#count}`;
    const waiting = { ...Promise.withResolvers<JsonObject>(), sentOn: transport };
    this.#open.set(id, waiting);
    const message = { jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) };
    transport.send(message as Message);
    return waiting.promise;
  }

  /** Whether a message answers one of them. */
  received({ id, method, result, error }: GatewayMessage): boolean {
    const waiting = method === undefined && id !== undefined ? this.#open.get(id) : undefined;
    if (waiting === undefined || id === undefined) return false;
    this.#open.delete(id);
    if (error === undefined) waiting.resolve(result ?? {});
    else waiting.reject(new Error(`the gateway refuses it: ${String(error.message)}`));
    return true;
  }

  /** Whether some of them on a connection have no answer. */
  isUsing(transport: HttpTransport): boolean {
    return [...this.#open.values()].some(({ sentOn }) => sentOn === transport);
  }

  /** Fails those on a connection whose session has ended. */
  closed(transport: HttpTransport, error: Error): void {
    for (const [id, { sentOn }] of [...this.#open]) if (sentOn === transport) this.failed(id, error);
  }

  /** Whether a failed request is one of them. */
  failed(id: RpcId, error: Error): boolean {
    const waiting = this.#open.get(id);
    this.#open.delete(id);
    waiting?.reject(error);
    return waiting !== undefined;
  }
}
