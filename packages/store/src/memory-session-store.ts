/** The sessions of one process, in memory. No I/O: every change is made before its call returns. */

import type { SessionChange, SessionRecord, SessionStore, SessionUse } from "./session-store.ts";
import { StoreError } from "./store-error.ts";

const maxSessions = 10_000;
const sessionMaxBytes = 65_536;

/** Dependencies of the sessions. */
export interface MemorySessionStoreDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The sessions of one process. */
export class MemorySessionStore implements SessionStore {
  readonly #now: () => number;
  readonly #sessions = new Map<string, SessionRecord>();

  constructor({ now }: MemorySessionStoreDeps) {
    this.#now = now;
  }

  async add(session: SessionRecord): Promise<void> {
    const copy = copyOf(session);
    if (this.#sessions.size >= maxSessions) this.#dropExpired();
    if (this.#find(session.id) !== undefined) {
      throw new StoreError("STORE_CONFLICT", "Cannot add a session: its id exists");
    }
    if (this.#sessions.size >= maxSessions) {
      throw new StoreError("STORE_FULL", `Cannot add a session: at most ${maxSessions} are allowed`);
    }
    this.#sessions.set(session.id, copy);
  }

  async get(id: string): Promise<SessionRecord | undefined> {
    return this.#find(id);
  }

  async list(): Promise<readonly SessionRecord[]> {
    this.#dropExpired();
    return [...this.#sessions.values()];
  }

  async touch(uses: readonly SessionUse[]): Promise<readonly string[]> {
    const missing: string[] = [];
    for (const { id, lastSeenAt, expiresAt } of uses) {
      const session = this.#find(id);
      if (session === undefined) missing.push(id);
      else if (lastSeenAt >= session.lastSeenAt)
        this.#sessions.set(id, { ...session, lastSeenAt, expiresAt });
    }
    return missing;
  }

  async change({ id, logLevel, subscriptions }: SessionChange): Promise<void> {
    const session = this.#find(id);
    if (session === undefined) return;
    this.#sessions.set(id, copyOf({ ...session, logLevel, subscriptions } as SessionRecord));
  }

  async delete(id: string): Promise<void> {
    this.#sessions.delete(id);
  }

  /** Returns a session that has not expired; removes an expired one. */
  #find(id: string): SessionRecord | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || session.expiresAt > this.#now()) return session;
    this.#sessions.delete(id);
    return undefined;
  }

  #dropExpired(): void {
    const now = this.#now();
    for (const { id, expiresAt } of this.#sessions.values()) {
      if (expiresAt <= now) this.#sessions.delete(id);
    }
  }
}

/** @throws {StoreError} `STORE_RECORD_TOO_LARGE` */
function copyOf(session: SessionRecord): SessionRecord {
  const text = JSON.stringify(session);
  if (Buffer.byteLength(text) > sessionMaxBytes) {
    const message = `Cannot store a session: at most ${sessionMaxBytes} bytes of JSON are allowed`;
    throw new StoreError("STORE_RECORD_TOO_LARGE", message);
  }
  return JSON.parse(text) as SessionRecord;
}
