/**
 * The legacy sessions of a Streamable HTTP endpoint: opened, found by id, ended
 * when idle. Each client has a share of their number; a new session can only
 * replace an idle one of the same client. A session belongs to the identity and
 * the view that opened it; for every other caller it does not exist.
 */

import { messageOf } from "@toolcrib/diagnostics";
import { FairShare } from "@toolcrib/lifecycle";
import type { SessionStore } from "@toolcrib/store";
import { identityKey, rightsKey } from "@toolcrib/tool";
import { invalidRequest } from "../mcp-error.ts";
import { rpcCodes } from "../protocol.ts";
import type { ClientCounts } from "./client-counts.ts";
import { type HttpCaller, overloaded, overQuota } from "./http-io.ts";
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

/** Limits of the sessions. */
export interface HttpSessionsLimits {
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly maxInFlightPerSession: number | undefined;
  readonly unreadMaxBytes: number;
}

export class HttpSessions {
  readonly #deps: HttpSessionsDeps;
  readonly #limits: HttpSessionsLimits;
  readonly #sessions = new Map<string, HttpSession>();
  readonly #shares: FairShare;
  /** The last change of each session in the store; the changes of one session are made in their order. */
  readonly #stored = new Map<string, Promise<unknown>>();
  /** The sessions that were added to the store, with the times of their creation, by id. */
  readonly #registered = new Map<string, number>();
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
    const { maxInFlightPerSession, unreadMaxBytes } = this.#limits;
    const { service, now, newSessionId, onUnexpected, inFlight, memory } = this.#deps;
    const client = identityKey(caller.identity);
    this.#makeRoom(client);
    const session = new HttpSession(service, {
      id: newSessionId(),
      identity: caller.identity,
      view: caller.view,
      maxInFlight: maxInFlightPerSession,
      onUnexpected,
      now: now(),
      inFlight,
      memory,
      unreadMaxBytes,
    });
    this.#sessions.set(session.session.id, session);
    this.#shares.take(client);
    return session;
  }

  /**
   * Returns the session of a request and records its use.
   *
   * @throws {McpError} with status 400 without a session id, with 404 for a session of another caller.
   */
  find(request: HttpRequest, caller: HttpCaller): HttpSession {
    const id = request.headers[sessionHeader];
    if (typeof id !== "string") {
      const text = `The header "${sessionHeader}" is missing; send "initialize" first`;
      throw invalidRequest(text, undefined, 400);
    }
    const session = this.#sessions.get(id);
    const isOwn =
      session !== undefined &&
      session.session.view === caller.view &&
      // A caller with other roles than before opens another session, so that no session keeps old ones.
      rightsKey(session.session.identity) === rightsKey(caller.identity);
    if (!isOwn) throw invalidRequest("Session not found", rpcCodes.sessionNotFound, 404);
    session.lastUsedAt = this.#deps.now();
    return session;
  }

  /** Adds a session to the store. Call it after the handshake; nothing waits for it. */
  register(id: string): void {
    const open = this.#sessions.get(id);
    if (open === undefined) return;
    this.#registered.set(id, open.lastUsedAt);
    this.#addToStore(open, open.lastUsedAt);
  }

  #addToStore(open: HttpSession, createdAt: number): void {
    const { id, identity, view, protocolVersion, clientInfo, capabilities } = open.session;
    const { issuer, subject } = identity;
    const session = {
      identity: { issuer, subject },
      view,
      protocolVersion,
      ...(clientInfo === undefined ? {} : { clientInfo: { ...clientInfo } }),
      capabilities,
      createdAt,
      ...this.#useOf(open),
    };
    this.#change(id, () => this.#deps.store.add(session));
  }

  end(id: string, reason: string): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#sessions.delete(id);
    this.#shares.giveBack(identityKey(session.session.identity));
    session.close(reason);
    if (this.#registered.delete(id)) this.#change(id, () => this.#deps.store.delete(id));
  }

  /** Resolves when the store has every change. */
  async settled(): Promise<void> {
    await Promise.all(this.#stored.values());
  }

  endAll(reason: string): void {
    for (const id of [...this.#sessions.keys()]) this.end(id, reason);
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
