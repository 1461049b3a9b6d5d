/**
 * The legacy sessions of a Streamable HTTP endpoint: opened, found by id, ended
 * when idle. Each client has a share of their number; a new session can only
 * replace an idle one of the same client. A session belongs to the identity and
 * the view that opened it; for every other caller it does not exist.
 *
 * Where the store keeps sessions after the end of the gateway, the next one
 * continues a session at the first request of its client.
 */

import { messageOf } from "@toolcrib/diagnostics";
import { FairShare } from "@toolcrib/lifecycle";
import type { SessionStore } from "@toolcrib/store";
import { type Identity, identityKey, rightsKey } from "@toolcrib/tool";
import { invalidRequest } from "../mcp-error.ts";
import { rpcCodes } from "../protocol.ts";
import type { ClientCounts } from "./client-counts.ts";
import { type HttpCaller, overloaded, overQuota, shuttingDown, waitAtMost } from "./http-io.ts";
import type { HttpRequest } from "./http-messages.ts";
import { HttpSession } from "./http-session.ts";
import type { ServerMemory } from "./server-memory.ts";
import type { McpService } from "./service.ts";

/** Header that names the session of a request. */
export const sessionHeader = "mcp-session-id";

/** Dependencies of the sessions. */
export interface HttpSessionsDeps {
  readonly service: McpService;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns a new unguessable id. */
  readonly newSessionId: () => string;
  readonly onUnexpected: ((reason: string) => void) | undefined;
  /** The sessions as other gateways see them. */
  readonly store: SessionStore;
  /** Counts the requests of all sessions. */
  readonly inFlight: ClientCounts;
  readonly memory: ServerMemory;
}

type StoredRecord = Parameters<SessionStore["add"]>[0];
type LeftSession = NonNullable<Awaited<ReturnType<NonNullable<SessionStore["left"]>["adopt"]>>>;

/** Limits of the sessions. */
export interface HttpSessionsLimits {
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly maxInFlightPerSession: number | undefined;
  readonly unreadMaxBytes: number;
}

/** Longest wait of a handshake for the store, in milliseconds. */
const storeWaitMs = 1000;

export class HttpSessions {
  readonly #deps: HttpSessionsDeps;
  readonly #limits: HttpSessionsLimits;
  readonly #sessions = new Map<string, HttpSession>();
  readonly #shares: FairShare;
  /** The last change of each session in the store; the changes of one session are made in their order. */
  readonly #stored = new Map<string, Promise<unknown>>();
  /** The sessions that were added to the store, with the times of their creation, by id. */
  readonly #registered = new Map<string, number>();
  /** Sessions of earlier runs that are being continued, by id and caller. */
  readonly #continuing = new Map<string, Promise<void>>();
  #isClosed = false;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(deps: HttpSessionsDeps, limits: HttpSessionsLimits) {
    this.#deps = deps;
    this.#limits = limits;
    this.#shares = new FairShare(limits.maxSessions);
  }

  get size(): number {
    return this.#sessions.size;
  }

  /**
   * Opens a session.
   *
   * @throws {McpError} with status 503, `MCP_SESSION_QUOTA` or `MCP_OVERLOADED`, when the client has no room for
   *   another session and none of its own is idle.
   */
  open(caller: HttpCaller): HttpSession {
    this.#makeRoom(identityKey(caller.identity));
    return this.#create(this.#deps.newSessionId(), caller);
  }

  #create(id: string, caller: HttpCaller, left?: LeftSession): HttpSession {
    const { maxInFlightPerSession, unreadMaxBytes } = this.#limits;
    const { service, now, onUnexpected, inFlight, memory, store } = this.#deps;
    const session = new HttpSession(service, {
      id,
      identity: caller.identity,
      view: caller.view,
      maxInFlight: maxInFlightPerSession,
      onUnexpected,
      now: now(),
      inFlight,
      memory,
      unreadMaxBytes,
      left: store.left,
      onOpened: () => this.#register(id),
      onChanged: () => this.#storeState(id),
      ...(left && {
        events: left.events,
        continues: { ...left.session, lastRequestId: baseOf(left, now()) },
      }),
    });
    this.#sessions.set(id, session);
    this.#shares.take(identityKey(caller.identity));
    return session;
  }

  /**
   * Returns the session of a request and records its use. A promise is returned for a session that an earlier run of the
   * gateway may have left.
   *
   * @throws {McpError} with status 400 without a session id, with 404 for a session of another caller.
   */
  find(request: HttpRequest, caller: HttpCaller): HttpSession | Promise<HttpSession> {
    const id = request.headers[sessionHeader];
    if (typeof id !== "string") {
      const text = `The header "${sessionHeader}" is missing; send "initialize" first`;
      throw invalidRequest(text, undefined, 400);
    }
    const session = this.#sessions.get(id);
    if (session === undefined && this.#deps.store.left !== undefined) return this.#continued(id, caller);
    return this.#used(session, caller);
  }

  /** @throws {McpError} with status 404 if `session` is not one of the caller */
  #used(session: HttpSession | undefined, caller: HttpCaller): HttpSession {
    const isOwn =
      session !== undefined &&
      session.session.view === caller.view &&
      // A caller with other roles than before opens another session, so that no session keeps old ones.
      rightsKey(session.session.identity) === rightsKey(caller.identity);
    if (!isOwn) throw invalidRequest("Session not found", rpcCodes.sessionNotFound, 404);
    session.lastUsedAt = this.#deps.now();
    return session;
  }

  /** Continues a session of an earlier run. Several requests of its client can come at the same time. */
  async #continued(id: string, caller: HttpCaller): Promise<HttpSession> {
    if (this.#isClosed) throw shuttingDown();
    const key = JSON.stringify([id, caller.view, rightsKey(caller.identity)]);
    const work = this.#continuing.get(key) ?? this.#continue(id, caller);
    this.#continuing.set(key, work);
    try {
      await work;
    } finally {
      this.#continuing.delete(key);
    }
    if (this.#isClosed) throw shuttingDown();
    return this.#used(this.#sessions.get(id), caller);
  }

  /** The identity is the one that the caller has now, so that the session gets no right that it had before. */
  async #continue(id: string, caller: HttpCaller): Promise<void> {
    const { store, service } = this.#deps;
    const { issuer, subject, credential } = caller.identity;
    const isOwn: Parameters<NonNullable<typeof store.left>["adopt"]>[1] = ({ identity, view }) =>
      identity.issuer === issuer &&
      identity.subject === subject &&
      // A session of a revoked token is not that of a later token with its name.
      identity.credential === credential &&
      view === caller.view;
    const left = await store.left?.adopt(id, isOwn).catch((error: unknown) => {
      this.#reportFailure(error);
    });
    // It can have ended, or have been opened by another request, meanwhile.
    if (left === undefined || this.#sessions.has(id) || this.#isClosed) return;
    this.#makeRoom(identityKey(caller.identity));
    const { session } = this.#create(id, caller, left);
    this.#registered.set(id, left.session.createdAt);
    if (service.sessionRestored === undefined) service.sessionOpened(session);
    else service.sessionRestored(session, left.session.subscriptions ?? []);
  }

  /** Adds a session to the store. Resolves when it is there, after a short time at the latest; never rejects. */
  async #register(id: string): Promise<void> {
    const open = this.#sessions.get(id);
    if (open === undefined) return;
    this.#registered.set(id, open.lastUsedAt);
    this.#addToStore(open, open.lastUsedAt);
    const stored = this.#stored.get(id);
    // In memory it is there already.
    if (this.#deps.store.left !== undefined && stored !== undefined) await waitAtMost(stored, storeWaitMs);
  }

  /** Stores what the client changed in its session. */
  #storeState(id: string): void {
    const open = this.#sessions.get(id);
    if (open === undefined || !this.#registered.has(id)) return;
    this.#change(id, () => this.#deps.store.change({ id, ...stateOf(open) }));
  }

  #addToStore(open: HttpSession, createdAt: number): void {
    const { id, identity, view, protocolVersion, clientInfo, capabilities } = open.session;
    const { issuer, subject, credential } = identity;
    const session = {
      identity: { issuer, subject, ...(credential === undefined ? {} : { credential }) },
      view,
      protocolVersion,
      ...(clientInfo === undefined ? {} : { clientInfo: { ...clientInfo } }),
      capabilities,
      ...stateOf(open),
      createdAt,
      ...this.#useOf(open),
    };
    this.#change(id, () => this.#deps.store.add(session));
  }

  end(id: string, reason: string): void {
    this.#close(id, reason);
    if (this.#registered.delete(id)) this.#change(id, () => this.#deps.store.delete(id));
  }

  #close(id: string, reason: string, options?: { readonly isSuspended: boolean }): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#sessions.delete(id);
    this.#shares.giveBack(identityKey(session.session.identity));
    session.close(reason, options);
  }

  /** Ends the sessions of some identities, with their requests in flight. */
  endOf(isEnded: (identity: Identity) => boolean, reason: string): void {
    for (const [id, { session }] of this.#sessions) if (isEnded(session.identity)) this.end(id, reason);
  }

  /** Resolves when the store has every change. */
  async settled(): Promise<void> {
    await Promise.all(this.#stored.values());
  }

  /** Ends all sessions with the gateway; the store can keep them for the next one. */
  endAll(reason: string): void {
    this.#isClosed = true;
    const isSuspended = this.#deps.store.left !== undefined;
    if (isSuspended) this.#touchUsed(this.#deps.now());
    for (const id of [...this.#sessions.keys()]) {
      if (isSuspended) this.#close(id, reason, { isSuspended });
      else this.end(id, reason);
    }
  }

  /** Keeps open streams alive, turns slow responses into streams, and ends idle sessions. */
  sweep(): void {
    const now = this.#deps.now();
    for (const [id, session] of this.#sessions) {
      session.keepAlive();
      session.openSlowExchanges();
      // Idleness starts when the last stream ends, not when it was opened.
      if (session.isBusy) session.lastUsedAt = now;
      else if (now - session.lastUsedAt > this.#limits.sessionIdleMs)
        this.end(id, "The session was idle for too long");
    }
    this.#touchUsed(now);
  }

  /** Ends the idle session of `client` that was unused for longest, if the client has no room for another one. */
  #makeRoom(client: string): void {
    const refusal = this.#shares.refusalFor(client);
    if (refusal === undefined) return;
    let oldest: HttpSession | undefined;
    for (const session of this.#sessions.values()) {
      const isOlder = oldest === undefined || session.lastUsedAt < oldest.lastUsedAt;
      if (isOlder && !session.isBusy && identityKey(session.session.identity) === client) oldest = session;
    }
    if (oldest !== undefined) this.end(oldest.session.id, "The session made room for a newer one");
    else if (refusal === "share") throw overQuota("sessions");
    else throw overloaded(`More than ${this.#limits.maxSessions} sessions are open`);
  }

  /** Records the uses since the last sweep, in one change. */
  #touchUsed(now: number): void {
    const used = [...this.#sessions.values()].filter(
      ({ session, lastUsedAt }) => lastUsedAt >= this.#sweptAt && this.#registered.has(session.id),
    );
    this.#sweptAt = now;
    if (used.length === 0) return;
    const uses = used.map((one) => this.#useOf(one));
    this.#deps.store
      .touch(uses)
      .then((missing) => this.#addAgain(missing))
      .catch((error: unknown) => this.#reportFailure(error));
  }

  /** Adds sessions that are in use and that the store lacks: after a jump of the clock, their records expired. */
  #addAgain(ids: readonly string[]): void {
    for (const id of ids) {
      const open = this.#sessions.get(id);
      const createdAt = this.#registered.get(id);
      // A session that ended meanwhile stays deleted; one with a pending change is about to be added.
      if (open === undefined || createdAt === undefined || this.#stored.has(id)) continue;
      this.#addToStore(open, createdAt);
    }
  }

  #useOf({ session, lastUsedAt }: HttpSession): Parameters<SessionStore["touch"]>[0][number] {
    return { id: session.id, lastSeenAt: lastUsedAt, expiresAt: lastUsedAt + this.#limits.sessionIdleMs };
  }

  /** Queues a change of one session in the store. A failure is reported: the session works in this process. */
  #change(id: string, change: () => Promise<void>): void {
    const before = this.#stored.get(id);
    const changed = (before === undefined ? change() : before.then(change))
      .catch((error: unknown) => this.#reportFailure(error))
      .finally(() => {
        if (this.#stored.get(id) === changed) this.#stored.delete(id);
      });
    this.#stored.set(id, changed);
  }

  #reportFailure(error: unknown): void {
    this.#deps.onUnexpected?.(`The store of sessions failed: ${messageOf(error)}`);
  }
}

/** The state that a client can change in its session, as it is stored. */
function stateOf({ session }: HttpSession): Pick<StoredRecord, "logLevel" | "subscriptions"> {
  const { logLevel, subscriptions } = session;
  return {
    ...(logLevel === undefined ? {} : { logLevel }),
    ...(subscriptions.length === 0 ? {} : { subscriptions }),
  };
}

/** Returns a number above those of all streams, events and requests of the earlier runs of a session. */
function baseOf({ events }: LeftSession, now: number): number {
  const last = events.reduce((most, { stream, sequence }) => Math.max(most, stream, sequence), 0);
  return Math.max(now, last + 1);
}
