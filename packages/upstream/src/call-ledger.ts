/**
 * The calls that run on one session, and on whose account something that the
 * server sends has come: by the stream that it came on (HTTP), by what it
 * answers to (a page that a client was sent to), or by being the only one that
 * can be meant. What cannot be told is given to nobody.
 */

import type { JsonObject } from "@toolcrib/json";
import { InFlight, type RpcId } from "@toolcrib/mcp";
import {
  type CallContext,
  type ClientSession,
  type Era,
  type Identity,
  isSameIdentity,
} from "@toolcrib/tool";

/** Who a message is for: a call under way, or the client that it belongs to. */
export type Addressee =
  | { readonly kind: "call"; readonly context: CallContext }
  | { readonly kind: "client"; readonly session: ClientSession };

/** The calls of one session. */
export interface CallLedger {
  readonly size: number;
  add(id: RpcId, context: CallContext): void;
  delete(id: RpcId): void;
  /** Who is asked, or told, on account of a message. @param relatedTo the request on whose stream it came */
  addresseeOf(relatedTo: RpcId | undefined): Addressee | undefined;
  /** Who hears a log message. */
  listenerTo(relatedTo: RpcId | undefined): Addressee | undefined;
  /** A call that cannot answer a question of this kind, when none that runs can. */
  refuser(capability: string): CallContext | undefined;
  /** Remember that `context` was sent to a page under this id. */
  elicited(elicitationId: unknown, context: CallContext | undefined): void;
  /** Who was sent to the page with this id. */
  elicitedBy(elicitationId: unknown): Addressee | undefined;
}

/** Pages that clients were sent to and that may still report their end. */
const maxElicitations = 1000;

/** Create the ledger of a session of `owner`, or of the one that all others share. */
export function createCallLedger(owner: ClientSession | undefined, era: () => Era): CallLedger {
  const calls = new InFlight<CallContext>();
  const elicitations = new Map<string, CallContext | undefined>();
  let firstIdentity: Identity | undefined;
  /** Calls of more than one identity ran here: what comes late may be another's. */
  let isMixed = false;

  function toAddressee(context: CallContext | undefined): Addressee | undefined {
    if (context !== undefined) return { kind: "call", context };
    return owner === undefined ? undefined : { kind: "client", session: owner };
  }

  function onlyOf(candidates: readonly CallContext[]): CallContext | undefined {
    if (candidates.length !== 1 || isMixed) return undefined;
    return candidates[0];
  }

  function addresseeOf(relatedTo: RpcId | undefined): Addressee | undefined {
    if (relatedTo !== undefined && calls.has(relatedTo)) return toAddressee(calls.get(relatedTo));
    if (owner !== undefined) return toAddressee(calls.values().at(-1));
    return relatedTo === undefined ? toAddressee(onlyOf(calls.values())) : undefined;
  }

  return {
    get size() {
      return calls.size;
    },
    add(id, context) {
      calls.set(id, context);
      const { identity } = context;
      firstIdentity ??= identity;
      isMixed ||= !isSameIdentity(identity, firstIdentity);
    },
    delete: (id) => void calls.delete(id),
    addresseeOf,
    listenerTo(relatedTo) {
      if (era() === "legacy" || relatedTo !== undefined) return addresseeOf(relatedTo);
      // A modern server may only log for requests that named a level, and not after their answer.
      const asking = calls.values().filter(({ session }) => session?.logLevel !== undefined);
      return asking.length === 1 ? toAddressee(asking[0]) : undefined;
    },
    refuser(capability) {
      const contexts = calls.values();
      const isNone = contexts.every(
        ({ session }) => session !== undefined && session.capabilities[capability] === undefined,
      );
      return isNone ? contexts[0] : undefined;
    },
    elicited(elicitationId, context) {
      if (typeof elicitationId !== "string") return;
      if (elicitations.size >= maxElicitations) elicitations.delete(elicitations.keys().next().value ?? "");
      elicitations.set(elicitationId, context);
    },
    elicitedBy(elicitationId) {
      const isKnown = typeof elicitationId === "string" && elicitations.has(elicitationId);
      if (!isKnown) return owner === undefined ? undefined : { kind: "client", session: owner };
      const context = elicitations.get(elicitationId);
      const isUnderWay = context !== undefined && calls.values().includes(context);
      if (isUnderWay) return { kind: "call", context };
      const session = owner ?? context?.session;
      return session === undefined ? undefined : { kind: "client", session };
    },
  };
}

/** The ids of pages that a server wants visited before a call can succeed (URLElicitationRequiredError). */
export function requiredElicitations(rpcCode: number, rpcData: unknown): readonly unknown[] {
  if (rpcCode !== urlElicitationRequired) return [];
  const elicitations = (rpcData as JsonObject | undefined)?.["elicitations"];
  if (!Array.isArray(elicitations)) return [];
  return elicitations.slice(0, 100).map((one) => (one as JsonObject | null)?.["elicitationId"]);
}

/** JSON-RPC code of 2025-11-25, elicitation. */
const urlElicitationRequired = -32042;
