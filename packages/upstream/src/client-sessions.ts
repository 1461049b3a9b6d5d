/**
 * The sessions of a server that belong to one client each. A client gets a session
 * of its own if it can be asked (sampling, elicitation, roots) by a server that is
 * known to ask, or if it set a log level, so that the server's requests and log
 * messages reach that client and no other. A session is opened at the first call of its client, and closed
 * with the client or after an idle time; never while a lease holds it.
 */

import type { Logger } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { abortable, disposeOnce, FairShare } from "@toolcrib/lifecycle";
import { type ClientSession, type Identity, identityKey, isSameIdentity } from "@toolcrib/tool";
import { ClientEntry, type SessionClient } from "./client-entry.ts";
import { askable, tasksExtension } from "./input-required.ts";
import { UpstreamError } from "./upstream-error.ts";
import { reasonOf } from "./upstream-failure.ts";
import type { UpstreamLimits, UpstreamSettings } from "./upstream-options.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/**
 * Whether calls of `client` need a session of their own.
 *
 * @param asks capabilities that the server is known to ask for.
 */
export function needsOwnSession<Client extends Pick<ClientSession, "capabilities" | "logLevel">>(
  client: Client | undefined,
  asks: ReadonlySet<string>,
): client is Client {
  if (client === undefined) return false;
  const { capabilities, logLevel } = client;
  if (logLevel !== undefined) return true;
  for (const name of asks) if (declares(capabilities, name)) return true;
  return false;
}

/** Whether a client declares a capability, or an extension as `extensionAsks` names it. */
function declares(capabilities: ClientSession["capabilities"], name: string): boolean {
  if (!name.includes(" ")) return capabilities[name] !== undefined;
  const [kind = "", extension = ""] = name.split(" ");
  const declared = capabilities[kind];
  return isJsonObject(declared) && declared[extension] !== undefined;
}

/**
 * Returns names for the extensions that a server declares and the shared session does not: a client that declares one of
 * them, too, has agreed on it with the server in a session of its own.
 */
export function extensionAsks(server: JsonObject): readonly string[] {
  return extensionKinds.flatMap((kind) => {
    const declared = server[kind];
    if (!isJsonObject(declared)) return [];
    const names = Object.keys(declared).filter((name) => name !== appsExtension && name !== tasksExtension);
    return names.slice(0, maxExtensions).map((name) => `${kind} ${name}`);
  });
}

/** Extensions of one kind that give clients sessions of their own. @limit client */
const maxExtensions = 32;
const extensionKinds = ["extensions", "experimental"];
const appsExtension = "io.modelcontextprotocol/ui";

/** Returns the capabilities of a client that its own session declares: those that can be passed on to the client, and its extensions. */
export function passedOnCapabilities(
  client: Pick<ClientSession, "capabilities">,
): ClientSession["capabilities"] {
  const given = Object.entries(client.capabilities);
  const passed = given.filter(([name]) => askable.includes(name) || name === "experimental");
  const { extensions } = client.capabilities;
  if (!isJsonObject(extensions)) return Object.fromEntries(passed);
  const { [tasksExtension]: _tasks, ...others } = extensions;
  return { ...Object.fromEntries(passed), extensions: others };
}

/** Capabilities of the shared session: all that can be passed on to clients, so that a server lists everything it has. */
export const sharedCapabilities: ClientSession["capabilities"] = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
  // A server offers its pages to clients that show them only. The gateway lists for each client what it can use.
  extensions: { [appsExtension]: { mimeTypes: ["text/html;profile=mcp-app"] } },
};

/** Returns the capabilities that the server asked clients for in earlier runs and the extensions that it declared, if it may ask. */
export function knownAsks({
  isInteractive,
  remembered,
}: Pick<UpstreamSettings, "isInteractive" | "remembered">): readonly string[] {
  if (isInteractive === false || remembered === undefined) return [];
  const asked = (remembered.asks ?? []).filter((name) => askable.includes(name));
  return [...asked, ...extensionAsks(remembered.capabilities)];
}

/** The right to use a session, which stays open until the lease is released. */
export interface Lease {
  readonly session: UpstreamSession;
  /** Safe to repeat. */
  release(): void;
  /** Says that the lease is for a subscription, which moves to another session where this one ends. */
  yields?(): void;
}

/** Dependencies of `ClientSessions`. */
export interface ClientSessionsDeps {
  readonly serverId: string;
  readonly now: () => number;
  readonly random: () => number;
  readonly logger: Logger;
  /** Removes secrets from a reason. */
  readonly scrub: (text: string) => string;
  /** Opens a session for one client. */
  open(client: ClientSession): Promise<UpstreamSession>;
  /** Returns the error of a server that may not be used now. */
  refusal(): Error | undefined;
}

/** Returns the key of the caller whose share a session of `client` counts towards. */
function holderOf({ identity, id }: ClientSession): string {
  return identity === undefined ? id : identityKey(identity);
}

/** Idle sessions are searched for at most this often. */
const sweepMinMs = 1000;
/** Calls that wait for a session of a server at a time; more are refused. @limit client */
const maxWaiters = 256;
/** Sessions of one pool that are opened at a time. Further calls wait for them: many calls are over sooner than a server starts. @limit server */
const maxPoolOpenings = 4;

interface HeldEntry {
  readonly entry: ClientEntry;
  readonly hold: ReturnType<ClientEntry["hold"]>;
}

/** The clients' own sessions with one server. Nothing is opened before the first lease. */
export class ClientSessions implements AsyncDisposable {
  readonly #deps: ClientSessionsDeps;
  readonly #limits: Required<UpstreamLimits>;
  readonly #entries = new Map<string, ClientEntry>();
  /** Clients whose session ends with the last call that holds it; they have another one for further calls. */
  readonly #retired = new Set<ClientEntry>();
  /** Sessions counted by client identity. */
  readonly #shares: FairShare;
  /** Sessions that are being closed; disposal waits for them. */
  readonly #endings = new Set<Promise<void>>();
  /** Clients that wait for room, in the order in which they came. */
  readonly #waiters = new Set<() => void>();
  #sweepTimer: NodeJS.Timeout | undefined;
  #isDisposed = false;
  readonly #dispose = disposeOnce(() => this.#close());

  constructor(deps: ClientSessionsDeps, limits: Required<UpstreamLimits>) {
    this.#deps = deps;
    this.#limits = limits;
    this.#shares = new FairShare(limits.maxClientSessions);
  }

  get size(): number {
    return this.#entries.size + this.#retired.size;
  }

  /** Whether `client` has a session now. */
  has(client: ClientSession): boolean {
    return this.#entries.get(client.id)?.opening !== undefined;
  }

  /**
   * Leases the session of `client`, and opens one if it has none. Waits while calls of other clients use all sessions.
   *
   * @throws {UpstreamError} `UPSTREAM_UNAVAILABLE` when it cannot be opened, `UPSTREAM_SESSION_LIMIT`;
   *   the refusal of the server; the reason of `signal`.
   */
  async lease(client: SessionClient, signal: AbortSignal): Promise<Lease> {
    this.#throwIfOver(client);
    const { entry, hold } = await this.#waitForEntry(client, signal);
    const release = () => {
      hold.release();
      this.#wakeNext();
    };
    try {
      await entry.passBlock(signal);
      // The client can leave, or the server be stopped or quarantined, during a pause.
      this.#throwIfOver(client);
      const opening = entry.opening ?? this.#open(entry);
      const session = await abortable(opening, signal).catch((error: unknown) => {
        if (signal.aborted) throw signal.reason;
        this.#throwIfOver(client);
        throw entry.unavailable(reasonOf(error, this.#deps.scrub));
      });
      this.#throwIfOver(client);
      return { session, release, yields: hold.yields };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Closes all sessions. */
  endAll(): void {
    for (const entry of [...this.#entries.values(), ...this.#retired]) this.#drop(entry);
  }

  /**
   * Closes all sessions, or those of one identity, each after the calls in flight on it. Later calls open another one, and
   * subscriptions move.
   */
  retireAll(owner?: Identity): void {
    for (const entry of [...this.#entries.values()]) {
      const { identity } = entry.client;
      if (owner !== undefined && identity !== undefined && !isSameIdentity(identity, owner)) continue;
      if (!entry.isCalled) {
        this.#drop(entry);
        continue;
      }
      this.#entries.delete(entry.client.id);
      this.#retired.add(entry);
      entry.onFree(() => this.#drop(entry));
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  /** @param before the end of the session whose place the client gets */
  #createEntry(client: SessionClient, before: Promise<void> | undefined): ClientEntry {
    const { clientSessionIdleMs } = this.#limits;
    const events = {
      onClientClosed: () => this.#drop(entry),
      onEnding: (ending: Promise<void>) => this.#track(ending),
    };
    const entry: ClientEntry = new ClientEntry(client, this.#deps, this.#limits, events, before);
    const sweepMs = Math.max(sweepMinMs, clientSessionIdleMs / 4);
    this.#sweepTimer ??= setInterval(() => this.#sweep(), sweepMs).unref();
    this.#entries.set(client.id, entry);
    this.#shares.take(holderOf(client));
    return entry;
  }

  #open(entry: ClientEntry): Promise<UpstreamSession> {
    const opening = entry.open();
    const wake = () => this.#wakeNext();
    opening.then(wake, wake);
    return opening;
  }

  /** Closes a session. Its place is free when it has ended: until then its process can run. */
  #drop(entry: ClientEntry): void {
    const isKnown = this.#remove(entry);
    const ending = entry.end();
    const giveBack = () => {
      if (isKnown) this.#shares.giveBack(holderOf(entry.client));
      this.#wakeNext();
    };
    if (ending === undefined) giveBack();
    else void ending.then(giveBack);
  }

  /** Removes an entry. @returns whether it was there */
  #remove(entry: ClientEntry): boolean {
    const { id } = entry.client;
    const isCurrent = this.#entries.get(id) === entry;
    if (isCurrent) this.#entries.delete(id);
    return this.#retired.delete(entry) || isCurrent;
  }

  #track(ending: Promise<void>): void {
    this.#endings.add(ending);
    void ending.finally(() => this.#endings.delete(ending));
  }

  /** Closes the sessions that were not used for the idle time. */
  #sweep(): void {
    const now = this.#deps.now();
    for (const entry of this.#entries.values()) {
      if (!entry.isHeld && now - entry.lastUsedAt > this.#limits.clientSessionIdleMs) this.#drop(entry);
    }
  }

  /**
   * Returns the entry of `client`, held, or waits for one.
   *
   * @throws {UpstreamError} `UPSTREAM_SESSION_LIMIT` after the limits of waiting
   */
  async #waitForEntry(client: SessionClient, signal: AbortSignal): Promise<HeldEntry> {
    const { sessionWaitMs } = this.#limits;
    const endsAt = this.#deps.now() + sessionWaitMs;
    for (;;) {
      const remainingMs = endsAt - this.#deps.now();
      const canWait = remainingMs > 0 && this.#waiters.size < maxWaiters;
      // It is held in the same turn as it is found, so that no other client that was woken takes or closes it.
      const entry = this.#findEntry(client, canWait);
      if (entry !== undefined) return { entry, hold: entry.hold() };
      await this.#nextRelease(remainingMs, signal);
      signal.throwIfAborted();
      this.#throwIfOver(client);
    }
  }

  /**
   * Returns the entry of `client`: the one that it has, one of its pool that is not used, or a new one.
   *
   * @param canWait whether to return undefined where there is none now.
   * @throws {UpstreamError} `UPSTREAM_SESSION_LIMIT`
   */
  #findEntry(client: SessionClient, canWait: boolean): ClientEntry | undefined {
    const known = this.#entries.get(client.id) ?? this.#takeFromPool(client);
    if (known !== undefined) return known;
    if (canWait && this.#poolOpenings(client) >= maxPoolOpenings) return undefined;
    const holder = holderOf(client);
    const refusal = this.#shares.refusalFor(holder);
    if (refusal === undefined) return this.#createEntry(client, undefined);
    const oldest = this.#oldestUnused(holder);
    if (oldest !== undefined) {
      this.#remove(oldest);
      this.#shares.giveBack(holderOf(oldest.client));
      return this.#createEntry(client, oldest.end());
    }
    if (canWait) return undefined;
    throw this.#limitError(refusal === "share");
  }

  /** Gives `client` the session of its pool that was used last, of those that are not in use; open ones come first. */
  #takeFromPool(client: SessionClient): ClientEntry | undefined {
    const { pool } = client;
    if (pool === undefined) return undefined;
    let best: ClientEntry | undefined;
    for (const entry of this.#entries.values()) {
      if (entry.client.pool !== pool || entry.isHeld) continue;
      const isOpen = entry.opening !== undefined;
      const isBestOpen = best?.opening !== undefined;
      const isNewer = best === undefined || entry.lastUsedAt >= best.lastUsedAt;
      if (isOpen === isBestOpen ? isNewer : isOpen) best = entry;
    }
    if (best === undefined) return undefined;
    this.#entries.delete(best.client.id);
    best.passTo(client);
    this.#entries.set(client.id, best);
    return best;
  }

  /** Sessions of the pool of `client` that are being opened. */
  #poolOpenings({ pool }: SessionClient): number {
    if (pool === undefined) return 0;
    return this.#entries.values().reduce((sum, entry) => {
      return sum + (entry.client.pool === pool && !entry.isReady ? 1 : 0);
    }, 0);
  }

  /** Resolves when a session may have become free, after `maxMs`, or when the signal aborts. */
  #nextRelease(maxMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiters.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, maxMs);
      this.#waiters.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }

  #wakeNext(): void {
    // Each one checks whether the session that became free is one that it may use.
    for (const wake of [...this.#waiters]) wake();
  }

  /** Returns the session that was unused for longest: of the same caller, or of any caller for one that has no session. */
  #oldestUnused(holder: string): ClientEntry | undefined {
    const isFirst = this.#shares.countOf(holder) === 0;
    let oldest: ClientEntry | undefined;
    for (const entry of this.#entries.values()) {
      const isOlder = oldest === undefined || entry.lastUsedAt < oldest.lastUsedAt;
      const canEnd = !entry.isHeld && (isFirst || holderOf(entry.client) === holder);
      if (isOlder && canEnd) oldest = entry;
    }
    return oldest;
  }

  #limitError(isShare: boolean): UpstreamError {
    const { serverId } = this.#deps;
    const whose = isShare ? "This client's share of the" : `All ${this.#limits.maxClientSessions}`;
    const verb = isShare ? "is" : "are";
    return new UpstreamError(
      "UPSTREAM_SESSION_LIMIT",
      `${whose} client sessions of the server "${serverId}" ${verb} in use`,
      { hint: "try again when other calls have ended", data: { server: serverId } },
    );
  }

  #throwIfOver(client: ClientSession): void {
    if (this.#isDisposed) {
      throw new UpstreamError("UPSTREAM_CLOSED", `The server "${this.#deps.serverId}" was stopped`);
    }
    const refusal = this.#deps.refusal();
    if (refusal !== undefined) throw refusal;
    client.closed.throwIfAborted();
  }

  async #close(): Promise<void> {
    this.#isDisposed = true;
    clearInterval(this.#sweepTimer);
    this.endAll();
    await Promise.allSettled([...this.#endings]);
  }
}
