/**
 * The interface of the store of sessions: the facts about a session of streamable HTTP
 * that another gateway needs to continue it. Types only. The engine of one machine
 * keeps them in memory (memory-session-store.ts); every engine passes the contract
 * tests in `@toolcrib/testing`.
 *
 * The transport keeps the live session, with its streams and requests in flight, and
 * waits for this store in no call.
 */

import type { JsonObject } from "@toolcrib/json";

/** A session. It belongs to the identity and the view that opened it. */
export interface SessionRecord {
  /** Unguessable. */
  readonly id: string;
  readonly identity: { readonly issuer: string; readonly subject: string };
  /** The endpoint: a server id, or empty for all servers. */
  readonly view: string;
  readonly protocolVersion: string;
  /** As the client sent it. */
  readonly clientInfo?: JsonObject;
  readonly capabilities: JsonObject;
  /** Milliseconds since the epoch, as the other times. */
  readonly createdAt: number;
  readonly lastSeenAt: number;
  /** From here on the session does not exist, unless `touch` moved this time before. */
  readonly expiresAt: number;
}

/** The last use of a session. */
export type SessionUse = Pick<SessionRecord, "id" | "lastSeenAt" | "expiresAt">;

/**
 * The sessions that several gateways share.
 *
 * A change is atomic and applies to one session; `touch` applies to each of its
 * sessions on its own. Changes by one store are made in the order of the calls.
 * Limit: 10,000 sessions of 65,536 bytes of JSON each.
 */
export interface SessionStore {
  /**
   * Adds a session.
   *
   * @throws {StoreError} `STORE_CONFLICT` when the id exists; `STORE_FULL`, `STORE_RECORD_TOO_LARGE`.
   */
  add(session: SessionRecord): Promise<void>;
  /** Returns a session; `undefined` for an unknown or expired one. */
  get(id: string): Promise<SessionRecord | undefined>;
  /** Returns the sessions that have not expired, in the order in which they were added. */
  list(): Promise<readonly SessionRecord[]>;
  /**
   * Records the last use of sessions. Ignores uses before the recorded one.
   *
   * @returns the ids of unknown and expired sessions, which the caller adds again if they still exist.
   */
  touch(uses: readonly SessionUse[]): Promise<readonly string[]>;
  /** Removes a session. An unknown one is no error. */
  delete(id: string): Promise<void>;
}
