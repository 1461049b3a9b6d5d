/** Requests that the bridge itself sends to the gateway. The client sees neither them nor their answers. */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import type { HttpTransport, RpcId } from "@toolcrib/mcp";

type Message = Parameters<HttpTransport["send"]>[0];

/** Ids of the requests. No client has such an id. */
const idPrefix = "toolcrib-bridge-";

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

/** The requests of one bridge. */
export class OwnRequests {
  readonly #open = new Map<RpcId, PromiseWithResolvers<JsonObject> & { readonly sentOn: HttpTransport }>();
  #count = 0;

  /** Sends a request. @returns its result @throws when the gateway refuses it, or it is lost */
  send(transport: HttpTransport, { method, params }: OwnRequest): Promise<JsonObject> {
    this.#count += 1;
    const id = `${idPrefix}${this.#count}`;
    const waiting = Promise.withResolvers<JsonObject>();
    this.#open.set(id, { ...waiting, sentOn: transport });
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

  /** Whether answers to them are awaited on `transport`. */
  areOn(transport: HttpTransport): boolean {
    return [...this.#open.values()].some(({ sentOn }) => sentOn === transport);
  }

  /** Whether a failed request is one of them. */
  failed(id: RpcId, error: Error): boolean {
    const waiting = this.#open.get(id);
    this.#open.delete(id);
    waiting?.reject(error);
    return waiting !== undefined;
  }
}
