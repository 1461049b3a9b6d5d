/** Settings, limits and dependencies of an upstream server, and the defaults of the limits. */

import type { Logger } from "@toolcrib/diagnostics";
import type { StartTimer } from "@toolcrib/lifecycle";
import type { ClientTransport, CredentialProvider, HttpClient, TransportSettings } from "@toolcrib/mcp";
import type { LaunchSpec, ProcessLauncher } from "@toolcrib/process";
import type { ClientInfo, Era, Health, Identity, ToolAnnotations } from "@toolcrib/tool";
import type { RememberedServer } from "./definition-memory.ts";
import type { AskForLogin } from "./login-questions.ts";
import type { ParkedPlaces } from "./parked-places.ts";

/** The transport to a server, with all references to secrets resolved. */
export type ResolvedTransport =
  | TransportSettings
  /** A transport that the embedding program created, such as one in memory. The connection owns it from then on. */
  | { readonly kind: "custom"; readonly transport: ClientTransport };

/** A login to a server that changed. */
export interface CredentialsChange {
  /** The client whose login it is; undefined for that of the gateway. */
  readonly owner: Identity | undefined;
  /** Whether it is another login than before, or the first one after requests failed, and not a refresh. */
  readonly isReplaced: boolean;
}

/** One upstream server. */
export interface UpstreamSettings {
  /** The `tool_servers` id. */
  readonly id: string;
  /** The namespace of its tools. @default the id */
  readonly namespace?: string | undefined;
  readonly kind: ResolvedTransport["kind"];
  /** Whether a tool is offered, by its name; others are neither listed nor called. @default all are offered */
  readonly offers?: ((name: string) => boolean) | undefined;
  /** Returns why a tool that is not offered is not, and how to change that. @default it counts as unknown */
  readonly explainTool?: (name: string) => string | undefined;
  /** Tags of each of its tools. */
  readonly tags?: readonly string[];
  /**
   * Resolves references to secrets. Called at each connection, so that a rotated
   * secret is used without a restart, and again when the server answers with 401.
   * An error makes only this server unavailable; the next attempt calls it again.
   *
   * @param identity the client whose own session it is for; undefined for the shared session
   */
  readonly resolveTransport: (identity?: Identity) => Promise<ResolvedTransport>;
  /**
   * Whether a call whose answer is lost with the connection is made again, once, by the annotations of its tool; a read of
   * a resource or a prompt has `readOnlyHint: true`. @default none is
   */
  readonly isRepeatable?: (annotations: ToolAnnotations) => boolean;
  /**
   * Returns the credentials of requests over HTTP, in addition to the headers of the transport, for the session of one
   * client or for the shared session. @default the headers alone
   */
  readonly credentialsFor?: ((identity: Identity | undefined) => CredentialProvider) | undefined;
  /** Whether each client has a session of its own, with credentials of its own. @default false */
  readonly isPerIdentity?: boolean;
  /** Returns the page at which the client of a failed call can log in. @default clients are not asked */
  readonly askForLogin?: AskForLogin | undefined;
  /** Contains each process of a server over stdio. @default processes run as they are */
  readonly contain?: LaunchSpec["contain"];
  /**
   * Returns how much of its package is there while that is fetched; undefined while it is not. `fetchedBytes` is absent
   * while it waits for other fetches. @default it is never fetched
   */
  readonly fetching?: () => Pick<Health, "fetchedBytes"> | undefined;
  /** Removes secrets from text about this server: reasons, log records, lines of standard error. @default text stays as it is */
  readonly scrub?: (text: string) => string;
  /** Returns advice for the operator about the last lines of a process that ended at its start. @default none */
  readonly advise?: (text: string) => string | undefined;
  /**
   * Whether hidden characters are removed from what the server sends on behalf of calls. Its lists stay as they are: the
   * operator sees them. @default false
   */
  readonly isUntrusted?: boolean;
  /**
   * The name of the server for people in its requests and log messages, such as `Server "files" (unverified)`.
   * @default they are passed on without a name
   */
  readonly shownAs?: string | undefined;
  /**
   * Whether clients that can be asked get a session of their own. With `false`, all clients share one session, which
   * declares no capability, and requests of the server are refused. @default when the server is known to ask
   */
  readonly isInteractive?: boolean | undefined;
  /** The only era that the server is used in. @default those that it supports */
  readonly protocol?: Era | undefined;
  /**
   * Milliseconds without a request after which the server is stopped; its next call starts it again. Such a server
   * starts lazily if its definitions are remembered. @default it starts at once, or in a
   * moment if its definitions are remembered, and stays connected
   */
  readonly idleMs?: number | undefined;
  /** The definitions of an earlier connection, which are listed until the first connection. @default none */
  readonly remembered?: RememberedServer | undefined;
  /** Gets the definitions at each connection and after each change. @default they are not remembered */
  readonly remember?: (definitions: RememberedServer) => void;
}

/** Limits of one upstream server. */
export interface UpstreamLimits {
  /** Milliseconds for launch and handshake. @default 60,000 */
  readonly handshakeTimeoutMs?: number;
  /** Milliseconds for one page of a list; a whole list can take ten times that. @default 30,000 */
  readonly listTimeoutMs?: number;
  /** Items of one list. @default 20,000 */
  readonly listMaxItems?: number;
  /** Milliseconds before the first reconnection; doubled each time, and shortened by a random part of up to half. @default 250 */
  readonly reconnectMinMs?: number;
  /** Consecutive failures after which no further attempt is made. @default 1,000,000 (years) */
  readonly reconnectMaxAttempts?: number;
  /** Milliseconds of the longest pause between reconnections. @default 60,000 */
  readonly reconnectMaxMs?: number;
  /** Milliseconds of the longest `Retry-After` that a reconnection obeys. @default 600,000 */
  readonly retryAfterMaxMs?: number;
  /** Milliseconds that a call waits for a connection that is being opened; its own time limit is usually shorter. @default 3,600,000 */
  readonly connectWaitMs?: number;
  /** Largest message of the server in bytes. @default 33,554,432 */
  readonly messageMaxBytes?: number;
  /** Messages over a limit, within ten minutes, after which the server is quarantined. @default 3 */
  readonly quarantineAfter?: number;
  /** Calls that run at the server at a time; one client gets at most half of them. @default 128 */
  readonly maxConcurrentCalls?: number;
  /** Calls that wait for the server at a time; one client gets at most half of them. @default 256 */
  readonly maxQueuedCalls?: number;
  /** Milliseconds without any answer to running calls after which the health names the server as silent. @default 10,000 */
  readonly silentAfterMs?: number;
  /**
   * Clients with a session of their own; the sessions of one caller get at most half of them. The place of a session is
   * free when its process has ended. @default 32
   */
  readonly maxClientSessions?: number;
  /** Milliseconds that a call waits while calls of other clients use all sessions. @default 20,000 */
  readonly sessionWaitMs?: number;
  /** Milliseconds between pings of a server over HTTP, which notice that it does not answer. @default 30,000 */
  readonly pingIntervalMs?: number;
  /** Milliseconds after which a ping without an answer makes the server unavailable in health and status. @default 10,000 */
  readonly pingTimeoutMs?: number;
  /** Milliseconds after which an unused session of a client is closed. @default 300,000 */
  readonly clientSessionIdleMs?: number;
  /** Milliseconds that a client of the modern era has to answer the questions of a call. @default 600,000 */
  readonly answerTimeoutMs?: number;
  /** Calls that wait for answers of their clients, if no places are given; one client gets at most half of them. @default 64 */
  readonly maxParkedCalls?: number;
  /** Resources that all clients watch at a time; one client gets at most half of them. @default 10,000 */
  readonly maxWatchedUris?: number;
}

/** Dependencies of an upstream server. */
export interface UpstreamDeps {
  readonly launcher: ProcessLauncher;
  /** For HTTP transports; its owner closes it. */
  readonly httpClient: HttpClient;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** In [0, 1); spreads reconnections. */
  readonly random: () => number;
  /**
   * Times the pauses before reconnections and before a changed list is read. The timers do not keep the process
   * alive. @default `setTimeout`
   */
  readonly startBackgroundTimer?: StartTimer;
  /** Places for calls that wait for answers of their clients, of all servers together. @default places of this server only */
  readonly parkedPlaces?: ParkedPlaces;
  /** Name and version that the gateway sends to servers. */
  readonly clientInfo: ClientInfo;
}

/** The default of `UpstreamDeps.startBackgroundTimer`. */
export const startNodeTimer: StartTimer = (delayMs, callback) => {
  const timer = setTimeout(callback, delayMs).unref();
  return () => clearTimeout(timer);
};

/** Completes `limits` with the defaults. */
export function resolveUpstreamLimits(limits: UpstreamLimits = {}): Required<UpstreamLimits> {
  return {
    handshakeTimeoutMs: limits.handshakeTimeoutMs ?? 60_000,
    listTimeoutMs: limits.listTimeoutMs ?? 30_000,
    listMaxItems: limits.listMaxItems ?? 20_000,
    reconnectMinMs: limits.reconnectMinMs ?? 250,
    reconnectMaxAttempts: limits.reconnectMaxAttempts ?? 1_000_000,
    reconnectMaxMs: limits.reconnectMaxMs ?? 60_000,
    retryAfterMaxMs: limits.retryAfterMaxMs ?? 600_000,
    connectWaitMs: limits.connectWaitMs ?? 3_600_000,
    messageMaxBytes: limits.messageMaxBytes ?? 32 * 1024 * 1024,
    quarantineAfter: limits.quarantineAfter ?? 3,
    maxConcurrentCalls: limits.maxConcurrentCalls ?? 128,
    maxQueuedCalls: limits.maxQueuedCalls ?? 256,
    silentAfterMs: limits.silentAfterMs ?? 10_000,
    maxClientSessions: limits.maxClientSessions ?? 32,
    sessionWaitMs: limits.sessionWaitMs ?? 20_000,
    pingIntervalMs: limits.pingIntervalMs ?? 30_000,
    pingTimeoutMs: limits.pingTimeoutMs ?? 10_000,
    clientSessionIdleMs: limits.clientSessionIdleMs ?? 300_000,
    answerTimeoutMs: limits.answerTimeoutMs ?? 600_000,
    maxParkedCalls: limits.maxParkedCalls ?? 64,
    maxWatchedUris: limits.maxWatchedUris ?? 10_000,
  };
}
