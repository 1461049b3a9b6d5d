/**
 * The requests of the client that have no answer. Their number and their bytes are bounded, over all of them: those
 * that the gateway has, and those that wait for one of its answers because it has as many as it takes at once. A
 * request past a bound is refused with an error; until then the client is only read more slowly.
 */

import { McpError, type RpcId } from "@toolcrib/mcp";
import type { ClientRequest } from "./client-message.ts";

/** Most requests that the gateway has at once: as many as it takes of one session. */
const sentMaxCount = 256;
/** Most requests that wait for their turn. */
const heldMaxCount = 1024;
/** Most characters of all of them. */
const maxLength = 32 * 1024 * 1024;

/** A request without an answer. */
export interface PendingRequest {
  readonly message: ClientRequest;
  /** Whether it was sent more than once, or is. */
  isRepeated: boolean;
  /** When it was sent first, in milliseconds since the epoch; undefined before. */
  sentAt: number | undefined;
  /** The connection on which it was sent last; undefined before, and where it failed there. */
  sentOn: object | undefined;
}

/** The table of one client. */
export class PendingRequests {
  readonly #all = new Map<RpcId, PendingRequest>();
  /** Those that are not sent, oldest first. */
  readonly #held = new Set<PendingRequest>();
  #length = 0;

  /** Whether requests wait for answers to others. */
  get isFull(): boolean {
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
    if (this.#length + message.text.length > maxLength) {
      const text = `The requests without an answer have more than ${maxLength} characters`;
      throw new McpError("MCP_OVERLOADED", text, { hint });
    }
    const request = { message, isRepeated: false, sentAt: undefined, sentOn: undefined };
    this.#all.set(message.id, request);
    this.#held.add(request);
    this.#length += message.text.length;
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
    this.#length -= request.message.text.length;
    return true;
  }

  /** Whether answers to requests are awaited on `connection`. */
  areOn(connection: object): boolean {
    for (const { sentOn } of this.#all.values()) if (sentOn === connection) return true;
    return false;
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
