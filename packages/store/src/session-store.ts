/**
 * The interface of the store of sessions: the facts about a session of streamable HTTP
 * that another gateway, or the next run of this one, needs to continue it. Types only.
 * One engine keeps them in memory (memory-session-store.ts), another one in the home
 * (`@toolcrib/sessions`); every engine passes the contract tests in `@toolcrib/testing`.
 *
 * The transport keeps the live session, with its streams and requests in flight, and
 * waits for this store in no call. What is stored gives no authority: the caller of a
 * continued session authenticates anew, and every policy is evaluated anew.
 */

import type { JsonObject } from "@toolcrib/json";
import type { Identity } from "@toolcrib/tool";

/** A session. It belongs to the identity and the view that opened it. */
export interface SessionRecord {
  /** Unguessable. */
  readonly id: string;
  readonly identity: Pick<Identity, "issuer" | "subject" | "credential">;
  /** The endpoint: a server id, or empty for all servers. */
  readonly view: string;
  readonly protocolVersion: string;
  /** As the client sent it. */
  readonly clientInfo?: JsonObject;
  readonly capabilities: JsonObject;
  /** The lowest level of log messages that the client set, if any. */
  readonly logLevel?: string;
  /** The resources that the client subscribed to. */
  readonly subscriptions?: readonly string[];
  /** Milliseconds since the epoch, as the other times. */
  readonly createdAt: number;
  readonly lastSeenAt: number;
  /** From here on the session does not exist, unless `touch` moved this time before. */
  readonly expiresAt: number;
}

/** The last use of a session. */
export type SessionUse = Pick<SessionRecord, "id" | "lastSeenAt" | "expiresAt">;

/** The state that a client can change in its session. */
export type SessionChange = Pick<SessionRecord, "id" | "logLevel" | "subscriptions">;

/** An event that a session sent on one of its streams. */
export interface SessionEvent {
  /** The number of the stream in its session. */
  readonly stream: number;
  /** The number of the event in its session; it only grows. */
  readonly sequence: number;
  /** The message as it is on the wire, without known secrets. */
  readonly data: string;
  /** Whether the stream had no connection when the event was sent. */
  readonly isWaiting: boolean;
}

/**
 * The sessions that several gateways share.
 *
 * A change is atomic and applies to one session; `touch` applies to each of its
 * sessions on its own. Changes by one store are made in the order of the calls.
 * Sessions are limited in number, by default to 10,000, and to 65,536 bytes of JSON each.
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
  /** Replaces what a client can change in its session; what is absent is removed. Ignores an unknown session. @throws as `add` */
  change(change: SessionChange): Promise<void>;
  /** Removes a session. An unknown one is no error. */
  delete(id: string): Promise<void>;
  /** The sessions of gateways that have ended. @default sessions end with their gateway */
  readonly left?: LeftSessions;
}

/** Sessions that outlive the gateway that opened them, and the events on their streams. */
export interface LeftSessions {
  /**
   * Takes over a session that no running gateway has.
   *
   * @param isOwn whether the caller may have it; any other session is as unknown as one that does not exist.
   * @returns the session and its events in order; undefined for an unknown one.
   */
  adopt(
    id: string,
    isOwn: (session: SessionRecord) => boolean,
  ): Promise<{ readonly session: SessionRecord; readonly events: readonly SessionEvent[] } | undefined>;
  /** Keeps an event of a session of this gateway. Returns at once, and never throws. */
  append(id: string, event: SessionEvent): void;
  /** Reports that a stream was read to its end by its client, so that events that are not written yet need not be. */
  delivered(id: string, stream: number): void;
}
