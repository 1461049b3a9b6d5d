/**
 * The requests of the client that have no answer. Their number and their bytes are bounded, over all of them: those
 * that the gateway has, and those that wait for one of its answers because it has as many as it takes at once. A
 * request past a bound is refused with an error; until then the client is only read more slowly.
 */

import { type HttpTransport, McpError, type RpcId } from "@toolcrib/mcp";
import type { ClientRequest } from "./client-message.ts";

/** Most requests that the gateway has at once: as many as it takes of one session. */
const sentMaxCount = 256;
/** Most requests that wait for their turn. */
const heldMaxCount = 1024;
/** Most bytes of all of them, and the bytes past which the client is read slowly. */
const maxBytes = 32 * 1024 * 1024;
const slowBytes = 8 * 1024 * 1024;

/** A request without an answer. */
export interface PendingRequest {
  readonly message: ClientRequest;
  /** Whether it was sent more than once, or is. */
  isRepeated: boolean;
  /** When it was sent first, in milliseconds since the epoch; undefined before. */
  sentAt: number | undefined;
  /** The connection on which it waits for its answer. */
  sentOn: HttpTransport | undefined;
  /** Whether the bridge listed the tools for it. */
  isListed: boolean;
}

/** The table of one client. */
export class PendingRequests {
  readonly #all = new Map<RpcId, PendingRequest>();
  /** Those that are not sent, oldest first. */
  readonly #held = new Set<PendingRequest>();
  #bytes = 0;

  /** Whether requests wait for answers to others, or take much memory. */
  get isFull(): boolean {
    if (this.#bytes > slowBytes) return true;
    return this.#all.size - this.#held.size >= sentMaxCount && this.#held.size > 0;
  }

  /** Adds a request. @throws {McpError} when it is refused */
  add(message: ClientRequest): void {
    if (this.#all.has(message.id)) {
      const text = `Request id ${JSON.stringify(message.id).slice(0, 100)} is already in use`;
      throw new McpError("MCP_INVALID_MESSAGE", text, { rpcCode: -32600 });
    }
    const hint = "wait for answers before sending more";
    if (this.#held.size >= heldMaxCount) {
      const text = `More than ${sentMaxCount + heldMaxCount} requests have no answer`;
      throw new McpError("MCP_OVERLOADED", text, { hint });
    }
    if (this.#bytes + message.size > maxBytes) {
      const text = `The requests without an answer have more than ${maxBytes} bytes`;
      throw new McpError("MCP_OVERLOADED", text, { hint });
    }
    const request = { message, isRepeated: false, sentAt: undefined, sentOn: undefined, isListed: false };
    this.#all.set(message.id, request);
    this.#held.add(request);
    this.#bytes += message.size;
  }

  get(id: RpcId): PendingRequest | undefined {
    return this.#all.get(id);
  }

  /** Whether a request has no answer. */
  has(request: PendingRequest): boolean {
    return this.#all.get(request.message.id) === request;
  }

  /** Returns the next request to send, if the gateway takes one more. */
  take(now: number): PendingRequest | undefined {
    if (this.#all.size - this.#held.size >= sentMaxCount) return undefined;
    const [request] = this.#held;
    if (request === undefined) return undefined;
    this.#held.delete(request);
    request.sentAt = now;
    return request;
  }

  /** Removes a request that is answered or cancelled. @returns whether it was there */
  end(id: RpcId): boolean {
    const request = this.#all.get(id);
    if (request === undefined) return false;
    this.#all.delete(id);
    this.#held.delete(request);
    this.#bytes -= request.message.size;
    return true;
  }

  /** Returns those that wait for their answers on a connection. */
  on(connection: HttpTransport): readonly PendingRequest[] {
    return this.all().filter(({ sentOn }) => sentOn === connection);
  }

  all(): readonly PendingRequest[] {
    return [...this.#all.values()];
  }

  /** Whether nothing has to be answered: a stream of changes has no answer while it lasts. */
  get isIdle(): boolean {
    for (const { message } of this.#all.values()) if (message.method !== listenMethod) return false;
    return true;
  }
}

/** The request whose answer is a stream of changes (revision 2026-07-28). */
export const listenMethod = "subscriptions/listen";
