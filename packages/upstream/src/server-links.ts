/**
 * The eras that a server supports, and its links: the session that all clients share, and for a server of both eras a
 * second one, so that clients of each era get what a direct connection would give them.
 *
 * Over HTTP the eras are found out once: by `server/discover`, and where the server knows it, by `initialize` too. A
 * server that opens no session on `initialize` cannot ask its client in the legacy era, and is used in the modern one.
 * A server that refused a version and listed only modern ones gets no `initialize`.
 * Over stdio a second attempt would take a second process, so the answer to `initialize` decides. What was found is
 * remembered by the owner; over HTTP for a day, because a server can be replaced by one that also supports the other era.
 */

import type { Era } from "@toolcrib/tool";
import type { SessionOptions } from "./open-session.ts";
import { SharedSession, type SharedSessionDeps } from "./shared-session.ts";
import type { UpstreamLimits, UpstreamSettings } from "./upstream-options.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** Milliseconds for the attempt to open a legacy session with a server of the modern era. @limit server */
const probeTimeoutMs = 10_000;
/** Milliseconds after which a server over HTTP is asked again which eras it supports, at its next connection. @limit server */
const erasMaxAgeMs = 86_400_000;

/** The eras that a server supports. */
export interface KnownEras {
  /** The era of its first link comes first. */
  readonly eras: readonly Era[];
  /** When they were found out, in milliseconds since the epoch. */
  readonly foundAt: number;
}

/** Settings for opening one session. */
export interface LinkOptions extends Pick<SessionOptions, "era" | "isPinned" | "signal"> {
  /** @default the limit of handshakes */
  readonly timeoutMs?: number;
}

/** Dependencies of `ServerLinks`. */
export interface ServerLinksDeps extends Omit<SharedSessionDeps, "open"> {
  readonly settings: Pick<UpstreamSettings, "kind" | "protocol" | "remembered">;
  readonly open: (options: LinkOptions) => Promise<UpstreamSession>;
  /** Reports that the second link could not be opened or ended. */
  readonly onSecondDown: (reason: string) => void;
}

/** The links of one server. */
export class ServerLinks implements AsyncDisposable {
  /** The link for lists, changes and health, and for the calls of all clients of a server of one era. */
  readonly main: SharedSession;
  readonly #modern: SharedSession;
  readonly #deps: ServerLinksDeps;
  readonly #limits: Required<UpstreamLimits>;
  #known: KnownEras | undefined;

  constructor(deps: ServerLinksDeps, limits: Required<UpstreamLimits>) {
    this.#deps = deps;
    this.#limits = limits;
    const { eras, erasFoundAt: foundAt } = deps.settings.remembered ?? {};
    if (eras !== undefined && foundAt !== undefined) this.#known = { eras, foundAt };
    this.main = new SharedSession({ ...deps, open: (era, signal) => this.#openMain(era, signal) }, limits);
    this.#modern = new SharedSession(
      {
        ...deps,
        open: (_era, signal) => deps.open({ era: "modern", isPinned: true, signal }),
        prepare: async () => () => {},
        idleMs: undefined,
        onIdle: () => {},
        onDown: (reason) => deps.onSecondDown(reason),
      },
      limits,
    );
    void this.#modern.start("on request");
  }

  /** Eras of the server, as far as they are known. */
  get known(): KnownEras | undefined {
    return this.#known;
  }

  /** Whether the server is used in both eras. */
  get isDual(): boolean {
    return this.#known?.eras.length === 2;
  }

  /** Returns the open link for a client of `era`; undefined while there is none. */
  current(era: Era): UpstreamSession | undefined {
    return era === "modern" && this.isDual ? this.#modern.current : this.main.current;
  }

  /** Returns the link for a client of `era`. @throws what `SharedSession.get` throws */
  async get(era: Era, signal: AbortSignal): Promise<UpstreamSession> {
    if (era === "legacy") return this.main.get(signal);
    const main = await this.main.get(signal);
    if (!this.isDual) return main;
    return this.#modern.get(signal).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return main;
    });
  }

  suspend(): void {
    this.main.suspend();
    if (this.isDual) this.#modern.suspend();
  }

  resume(): void {
    this.main.resume();
    // The second link of other servers was never used.
    if (this.isDual) this.#modern.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled([this.main[Symbol.asyncDispose](), this.#modern[Symbol.asyncDispose]()]);
  }

  async #openMain(last: Era | undefined, signal: AbortSignal): Promise<UpstreamSession> {
    const { settings, open, now } = this.#deps;
    const { protocol, kind } = settings;
    if (protocol !== undefined) return open({ era: protocol, isPinned: true, signal });
    const known = this.#known;
    const isHttp = kind === "streamable_http";
    const isFresh = known !== undefined && now() - known.foundAt < erasMaxAgeMs;
    if (!isHttp || isFresh) {
      const [first] = known?.eras ?? [];
      const session = await open({ era: first ?? last, signal });
      const { era } = session.connection;
      // The server changed since.
      if (era !== first) this.#found([era]);
      return session;
    }
    return this.#detect(signal);
  }

  async #detect(signal: AbortSignal): Promise<UpstreamSession> {
    const { open } = this.#deps;
    const session = await open({ era: "modern", signal });
    if (session.connection.era === "legacy") {
      this.#found(["legacy"]);
      return session;
    }
    if (session.connection.isModernOnly) {
      this.#found(["modern"]);
      return session;
    }
    const timeoutMs = Math.min(probeTimeoutMs, this.#limits.handshakeTimeoutMs);
    const legacy = await open({ era: "legacy", isPinned: true, signal, timeoutMs }).catch(() => undefined);
    if (legacy?.connection.hasSession === true) {
      await session[Symbol.asyncDispose]();
      this.#found(["legacy", "modern"]);
      return legacy;
    }
    await legacy?.[Symbol.asyncDispose]();
    this.#found(["modern"]);
    return session;
  }

  #found(eras: readonly Era[]): void {
    this.#known = { eras, foundAt: this.#deps.now() };
  }
}
