/**
 * The sessions of a home: each in a file of its own, which only its owner can read, so that a client continues its
 * session after the gateway was restarted or killed. What is live is kept in memory too; files are read only for a
 * session that this gateway does not have.
 *
 *     sessions.key                     the key of the seals
 *     sessions/<digest of id>.session  a session, sealed
 *     sessions/<digest of id>.events   events on its streams, each sealed
 *     locks/session-owner-<run>.lock   the gateway that has sessions
 *
 * No file has the id of a session, a token or a secret that the gateway knows. A file gives no authority: the caller of
 * a session proves its identity with each request. No failure of the disk ends or delays a call: the session then ends
 * with the gateway.
 */

import { join } from "node:path";
import { isCodedError } from "@toolcrib/diagnostics";
import { makePrivateDirectory, reasonOf } from "@toolcrib/files";
import { disposeOnce, FairShare } from "@toolcrib/lifecycle";
import { type SessionRecord, type SessionStore, StoreError } from "@toolcrib/store";
import { identityKey } from "@toolcrib/tool";
import type { SessionEvent, StoredEvents } from "./event-file.ts";
import { EventFiles } from "./event-files.ts";
import { GatewayRun } from "./gateway-run.ts";
import { LeftFiles, removeFiles } from "./left-sessions.ts";
import { fileNameOf, openSeal, type Seal } from "./seal.ts";
import { readSession, toText, writeSession } from "./session-file.ts";
import { resolveLimits, type SessionStoreDeps, type SessionStoreLimits } from "./session-options.ts";

type SessionUse = Parameters<SessionStore["touch"]>[0][number];
type SessionChange = Parameters<SessionStore["change"]>[0];

/** A store of sessions in a home. Disposing of it writes what waits to be written. */
export interface DurableSessionStore extends SessionStore, AsyncDisposable {
  readonly left: NonNullable<SessionStore["left"]>;
}

/** A session of this gateway. */
interface Entry {
  session: SessionRecord;
  readonly name: string;
  /** `lastSeenAt` in the file. */
  writtenUse: number;
  /** The last change of the file; never rejects. */
  tail: Promise<unknown>;
}

/** Milliseconds between two searches for what other gateways left. */
const scanEveryMs = 3_600_000;
/** Milliseconds within which a problem is reported once. */
const reportEveryMs = 60_000;
/** Different problems that are remembered. */
const maxReported = 100;

/** Opens the sessions of a home. Nothing is read or written before the first session. */
export function openSessionStore(
  home: string,
  deps: SessionStoreDeps,
  limits: SessionStoreLimits = {},
): DurableSessionStore {
  return new FileSessionStore(home, deps, resolveLimits(limits));
}

class FileSessionStore implements DurableSessionStore {
  readonly left: DurableSessionStore["left"];
  readonly #home: string;
  readonly #folder: string;
  readonly #deps: SessionStoreDeps;
  readonly #limits: Required<SessionStoreLimits>;
  readonly #sessions = new Map<string, Entry>();
  readonly #names = new Set<string>();
  /** Names of the files that are about to be removed. */
  readonly #leaving = new Set<string>();
  readonly #run: GatewayRun;
  readonly #events: EventFiles;
  readonly #leftFiles: LeftFiles;
  /** Sessions of the home by client. */
  readonly #shares: FairShare;
  readonly #reported = new Map<string, number>();
  readonly #dispose = disposeOnce(() => this.#close());
  #seal: Promise<Seal> | undefined;
  #scannedAt = Number.NEGATIVE_INFINITY;
  #scanning: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(home: string, deps: SessionStoreDeps, limits: Required<SessionStoreLimits>) {
    const { now, randomBytes } = deps;
    this.#home = home;
    this.#folder = join(home, "sessions");
    this.#deps = deps;
    this.#limits = limits;
    this.#run = new GatewayRun(home, randomBytes);
    this.#shares = new FairShare(limits.maxSessions);
    const onProblem = (problem: Error) => this.#report(problem);
    const folder = this.#folder;
    this.#events = new EventFiles({ folder, seal: () => this.#sealed(), randomBytes, onProblem }, limits);
    const { shares } = this.#events;
    this.#leftFiles = new LeftFiles({
      ...{ home, folder, run: this.#run, now, onProblem },
      ...{ shares, sessions: this.#shares },
    });
    this.left = {
      adopt: (id, isOwn) => this.#adopt(id, isOwn),
      append: (id, event) => this.#events.append(id, event),
      delivered: (id, stream) => this.#events.delivered(id, stream),
    };
  }

  async add(session: SessionRecord): Promise<void> {
    const copy = JSON.parse(toText(session)) as SessionRecord;
    const { id } = copy;
    if (this.#find(id) !== undefined) {
      throw new StoreError("STORE_CONFLICT", "Cannot add a session: its id exists");
    }
    const client = identityKey(copy.identity);
    this.#scanSometimes();
    if (this.#shares.refusalFor(client) !== undefined) this.#dropExpired();
    // Before the count is complete, a session that earlier runs left may have to make room.
    while (this.#shares.refusalFor(client) !== undefined && (await this.#leftFiles.removeOldest(client)));
    if (this.#shares.refusalFor(client) !== undefined) throw this.#full();
    const entry: Entry = { session: copy, name: fileNameOf(id), writtenUse: 0, tail: Promise.resolve() };
    this.#have(entry);
    await this.#write(entry);
  }

  async get(id: string): Promise<SessionRecord | undefined> {
    const entry = this.#find(id);
    if (entry !== undefined) return entry.session;
    // Its file says a later end than the session has, and is still there.
    if (this.#leaving.has(fileNameOf(id))) return undefined;
    const stored = await readSession(await this.#files(), fileNameOf(id), id);
    return stored === undefined || stored.session.expiresAt <= this.#deps.now() ? undefined : stored.session;
  }

  /** Returns the sessions of this gateway: the files of others do not have their ids. */
  async list(): Promise<readonly SessionRecord[]> {
    this.#dropExpired();
    return [...this.#sessions.values()].map(({ session }) => session);
  }

  async touch(uses: readonly SessionUse[]): Promise<readonly string[]> {
    this.#scanSometimes();
    const missing: string[] = [];
    const changed: Entry[] = [];
    for (const { id, lastSeenAt, expiresAt } of uses) {
      const entry = this.#find(id);
      if (entry === undefined) missing.push(id);
      else if (lastSeenAt >= entry.session.lastSeenAt) {
        entry.session = { ...entry.session, lastSeenAt, expiresAt };
        if (lastSeenAt - entry.writtenUse >= this.#limits.touchEveryMs) changed.push(entry);
      }
    }
    for (const entry of changed) await this.#write(entry);
    return missing;
  }

  async change({ id, logLevel, subscriptions }: SessionChange): Promise<void> {
    const entry = this.#find(id);
    if (entry === undefined) return;
    const { logLevel: _level, subscriptions: _uris, ...rest } = entry.session;
    const changed = {
      ...rest,
      ...(logLevel === undefined ? {} : { logLevel }),
      ...(subscriptions === undefined ? {} : { subscriptions }),
    };
    entry.session = JSON.parse(toText(changed)) as SessionRecord;
    await this.#write(entry);
  }

  async delete(id: string): Promise<void> {
    const entry = this.#sessions.get(id);
    if (entry !== undefined) await this.#remove(entry);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  async #adopt(
    id: string,
    isOwn: (session: SessionRecord) => boolean,
  ): Promise<{ session: SessionRecord; events: readonly SessionEvent[] } | undefined> {
    if (this.#isClosed) return undefined;
    const name = fileNameOf(id);
    const files = await this.#files();
    const known = this.#find(id);
    const isLeft = known === undefined && !this.#leaving.has(name);
    const stored = isLeft ? await this.#readable(name, id) : undefined;
    const session = known?.session ?? stored?.session;
    if (session === undefined || session.expiresAt <= this.#deps.now() || !isOwn(session)) return undefined;
    if (stored !== undefined && (await this.#run.isElsewhere(stored.run))) return undefined;
    // What waits belongs to the session, too.
    await this.#events.flush();
    const events = await this.#storedEvents(name, files.seal);
    if (known === undefined && this.#sessions.get(id) === undefined) {
      this.#leftFiles.forget(name);
      const entry: Entry = { session, name, writtenUse: 0, tail: Promise.resolve() };
      this.#have(entry, events);
      await this.#write(entry).catch((error: unknown) => this.#report(error as Error));
    }
    return { session, events: this.#events.kept(events.events) };
  }

  async #readable(name: string, id: string): ReturnType<typeof readSession> {
    try {
      return await readSession(await this.#files(), name, id);
    } catch (error) {
      this.#report(error as Error);
      return undefined;
    }
  }

  async #storedEvents(name: string, seal: Seal): Promise<StoredEvents> {
    try {
      const stored = await this.#events.read(name, seal);
      if (stored.invalidCount > 0) this.#report(this.#forgedEvents(name, stored.invalidCount));
      return stored;
    } catch (error) {
      this.#report(error as Error);
      return { events: [], bytes: 0, invalidCount: 0, isDamaged: true };
    }
  }

  /** Begins to have a session. @param stored the events in its file. @default there is none */
  #have(entry: Entry, stored?: StoredEvents): void {
    const { session, name } = entry;
    const client = identityKey(session.identity);
    this.#sessions.set(session.id, entry);
    this.#names.add(name);
    this.#shares.take(client);
    if (stored !== undefined) this.#events.shares.take(client, stored.bytes);
    this.#events.open(session.id, name, client, stored);
  }

  #find(id: string): Entry | undefined {
    const entry = this.#sessions.get(id);
    if (entry === undefined || entry.session.expiresAt > this.#deps.now()) return entry;
    this.#removeLater(entry);
    return undefined;
  }

  #dropExpired(): void {
    for (const id of [...this.#sessions.keys()]) this.#find(id);
  }

  #removeLater(entry: Entry): void {
    this.#remove(entry).catch((error: unknown) => this.#report(error as Error));
  }

  #remove(entry: Entry): Promise<void> {
    const { session, name } = entry;
    this.#sessions.delete(session.id);
    this.#names.delete(name);
    this.#shares.giveBack(identityKey(session.identity));
    const events = this.#events.close(session.id);
    if (events !== undefined) this.#events.shares.giveBack(events.client, events.bytes);
    this.#leaving.add(name);
    return this.#inTurn(entry, async () => {
      // The same id can be in use again.
      if (!this.#names.has(name)) await removeFiles(this.#folder, name);
    }).finally(() => this.#leaving.delete(name));
  }

  /** Writes the file of a session as it is when its turn comes. @throws {FilesError} */
  #write(entry: Entry): Promise<void> {
    return this.#inTurn(entry, async () => {
      const { session } = entry;
      if (this.#sessions.get(session.id) !== entry) return;
      const files = await this.#files();
      await this.#run.begin();
      const expiresAt = session.expiresAt + this.#limits.touchEveryMs;
      await writeSession(files, { session: { ...session, expiresAt }, run: this.#run.name });
      entry.writtenUse = session.lastSeenAt;
    });
  }

  #inTurn(entry: Entry, work: () => Promise<void>): Promise<void> {
    const done = entry.tail.then(work);
    entry.tail = done.catch(() => {});
    return done;
  }

  async #files() {
    return { folder: this.#folder, seal: await this.#sealed(), randomBytes: this.#deps.randomBytes };
  }

  #sealed(): Promise<Seal> {
    this.#seal ??= this.#openSeal();
    return this.#seal;
  }

  async #openSeal(): Promise<Seal> {
    try {
      await makePrivateDirectory(this.#folder);
      return await openSeal(this.#home, this.#deps.randomBytes);
    } catch (error) {
      // The next attempt can find the disk writable.
      this.#seal = undefined;
      throw error;
    }
  }

  #scanSometimes(): void {
    const now = this.#deps.now();
    if (now - this.#scannedAt < scanEveryMs || this.#isClosed) return;
    this.#scannedAt = now;
    this.#scanning = this.#scan();
  }

  async #scan(): Promise<void> {
    try {
      await this.#run.begin();
      await this.#leftFiles.scan(await this.#sealed(), (name) => this.#names.has(name));
    } catch (error) {
      this.#report(error as Error);
    }
  }

  /** Reports a problem, and the same one not again within a minute. */
  #report(error: Error): void {
    const now = this.#deps.now();
    const problem = isCodedError(error)
      ? error
      : new StoreError("STORE_UNWRITABLE", `Cannot keep sessions in "${this.#folder}": ${reasonOf(error)}`);
    const reportedAt = this.#reported.get(problem.message) ?? Number.NEGATIVE_INFINITY;
    if (now - reportedAt < reportEveryMs) return;
    if (this.#reported.size >= maxReported) this.#reported.clear();
    this.#reported.set(problem.message, now);
    this.#deps.logger.warn({ code: problem.code, reason: problem.message }, "sessions");
  }

  #forgedEvents(name: string, count: number): StoreError {
    const path = join(this.#folder, `${name}.events`);
    const message = `${count} lines of "${path}" are ignored: this home did not write them, or they were changed since`;
    const hint = "find out who writes to the home; what clients get again on their streams is not complete";
    return new StoreError("STORE_UNREADABLE", message, { hint });
  }

  #full(): StoreError {
    const { maxSessions } = this.#limits;
    const text = `Cannot store a session: at most ${maxSessions} are allowed, and one client gets at most half of them`;
    return new StoreError("STORE_FULL", text, { hint: "the session works, and ends with the gateway" });
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    await this.#events.flush();
    const entries = [...this.#sessions.values()];
    const changed = entries.filter(({ session, writtenUse }) => session.lastSeenAt > writtenUse);
    const written = await Promise.allSettled(changed.map((entry) => this.#write(entry)));
    for (const one of written) if (one.status === "rejected") this.#report(one.reason as Error);
    await Promise.all(entries.map(({ tail }) => tail));
    await this.#scanning;
    await this.#run[Symbol.asyncDispose]();
  }
}
