/**
 * The calls in flight on one session, and the attribution of messages that the
 * server sends to one of these calls or to a client. A message belongs to the
 * call on whose stream it arrived (HTTP), to the call that it refers to (the id
 * of an elicitation), or to the only call that it can belong to. A message that
 * cannot be attributed has no recipient: no client gets it.
 */

import type { JsonObject } from "@toolcrib/json";
import { RequestTable, type RpcId } from "@toolcrib/mcp";
import {
  type CallContext,
  type ClientSession,
  type Era,
  type Identity,
  isSameIdentity,
} from "@toolcrib/tool";

/** The recipient of a message: a call in flight, or the client that the message belongs to. */
export type Recipient =
  | { readonly kind: "call"; readonly context: CallContext }
  | { readonly kind: "client"; readonly session: ClientSession };

/** URL elicitations of one session whose completion the server can still report. @limit server */
const maxElicitations = 1000;

/** The calls in flight on one session. */
export class SessionCalls {
  /** The era of the session; set after the handshake. */
  era: Era = "legacy";
  readonly #owner: ClientSession | undefined;
  readonly #calls = new RequestTable<CallContext>();
  readonly #elicitations = new Map<string, CallContext | undefined>();
  #firstIdentity: Identity | undefined;
  /** Calls of several identities ran on this session, so a late message can belong to any of them. */
  #isMixed = false;

  /** @param owner the client whose own session it is; absent for the shared session. */
  constructor(owner: ClientSession | undefined) {
    this.#owner = owner;
  }

  get size(): number {
    return this.#calls.size;
  }

  add(id: RpcId, context: CallContext): void {
    this.#calls.set(id, context);
    this.#firstIdentity ??= context.identity;
    this.#isMixed ||= !isSameIdentity(context.identity, this.#firstIdentity);
  }

  delete(id: RpcId): void {
    this.#calls.delete(id);
  }

  /**
   * Returns the recipient of a request or notification of the server.
   *
   * @param relatedTo the request on whose stream the message arrived.
   */
  recipientOf(relatedTo: RpcId | undefined): Recipient | undefined {
    if (relatedTo !== undefined && this.#calls.has(relatedTo)) {
      return this.#toRecipient(this.#calls.get(relatedTo));
    }
    if (this.#owner !== undefined) return this.#toRecipient(this.#calls.values().at(-1));
    return relatedTo === undefined ? this.#toRecipient(this.#onlyCall()) : undefined;
  }

  /**
   * Returns the recipient of a request of the server. On the shared session, a request belongs to a call only if it
   * arrived on the stream of that call. Being the only call in flight proves nothing: the server may ask for an earlier one.
   *
   * @param relatedTo the request on whose stream it arrived.
   */
  askedBy(relatedTo: RpcId | undefined): Recipient | undefined {
    const isShared = this.#owner === undefined;
    return isShared && relatedTo === undefined ? undefined : this.recipientOf(relatedTo);
  }

  /** Returns the recipient of a log message. */
  logRecipientOf(relatedTo: RpcId | undefined): Recipient | undefined {
    if (this.era === "legacy" || relatedTo !== undefined) return this.recipientOf(relatedTo);
    // A modern server logs only for requests that name a level, and never after their response.
    const withLevel = this.#calls.values().filter(({ session }) => session?.logLevel !== undefined);
    return withLevel.length === 1 ? this.#toRecipient(withLevel[0]) : undefined;
  }

  /**
   * Returns a call whose client lacks `capability`, provided that the clients of all calls lack it. That call can
   * reject the server's request, whichever call the request belongs to.
   */
  refuser(capability: string): CallContext | undefined {
    const contexts = this.#calls.values();
    const isLackedByAll = contexts.every(
      ({ session }) => session !== undefined && session.capabilities[capability] === undefined,
    );
    return isLackedByAll ? contexts[0] : undefined;
  }

  /** Remembers that `context` got the URL elicitation with this id. */
  addElicitation(elicitationId: unknown, context: CallContext | undefined): void {
    if (typeof elicitationId !== "string") return;
    const elicitations = this.#elicitations;
    if (elicitations.size >= maxElicitations) elicitations.delete(elicitations.keys().next().value ?? "");
    elicitations.set(elicitationId, context);
  }

  /** Returns the recipient of the URL elicitation with this id. */
  elicitationRecipientOf(elicitationId: unknown): Recipient | undefined {
    const owner = this.#owner;
    const isKnown = typeof elicitationId === "string" && this.#elicitations.has(elicitationId);
    if (!isKnown) return owner === undefined ? undefined : { kind: "client", session: owner };
    const context = this.#elicitations.get(elicitationId);
    const isInFlight = context !== undefined && this.#calls.values().includes(context);
    if (isInFlight) return { kind: "call", context };
    const session = owner ?? context?.session;
    return session === undefined ? undefined : { kind: "client", session };
  }

  #toRecipient(context: CallContext | undefined): Recipient | undefined {
    if (context !== undefined) return { kind: "call", context };
    return this.#owner === undefined ? undefined : { kind: "client", session: this.#owner };
  }

  #onlyCall(): CallContext | undefined {
    if (this.#isMixed || this.#calls.size !== 1) return undefined;
    return this.#calls.values()[0];
  }
}

/** Returns the ids of the URL elicitations that a call requires before it can succeed (URLElicitationRequiredError). */
export function requiredElicitations(rpcCode: number, rpcData: unknown): readonly unknown[] {
  if (rpcCode !== urlElicitationRequired) return [];
  const elicitations = (rpcData as JsonObject | undefined)?.["elicitations"];
  if (!Array.isArray(elicitations)) return [];
  return elicitations.slice(0, 100).map((one) => (one as JsonObject | null)?.["elicitationId"]);
}

/** JSON-RPC code of 2025-11-25, elicitation. */
export const urlElicitationRequired = -32042;
