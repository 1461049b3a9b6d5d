/** What an upstream server is opened with: its settings, its limits and the world around it. */

import type { Logger } from "@toolcrib/diagnostics";
import type { ClientTransport, HttpClient } from "@toolcrib/mcp";
import type { ProcessLauncher } from "@toolcrib/process";
import type { ClientInfo } from "@toolcrib/tool";

/** How a server is reached, with every secret already in its place. */
export type ResolvedTransport =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: { readonly [name: string]: string };
      readonly cwd?: string;
    }
  | {
      readonly kind: "sse" | "streamable_http";
      readonly url: string;
      readonly headers: { readonly [name: string]: string };
    }
  /** A way that the embedding program made, such as an in-memory one; it belongs to the connection from then on. */
  | { readonly kind: "custom"; readonly transport: ClientTransport };

/** One upstream server. */
export interface UpstreamSettings {
  /** The `tool_servers` id; the namespace of its tools. */
  readonly id: string;
  readonly kind: ResolvedTransport["kind"];
  /** Given to each of its tools. */
  readonly tags?: readonly string[];
  /**
   * Resolve references to secrets; called at each connection, so that a
   * rotated secret is used without a restart, and again when a server answers
   * 401. What it throws stops this server only, and is tried again.
   */
  readonly resolveTransport: () => Promise<ResolvedTransport>;
  /** Takes secrets out of what is shown of this server: reasons, log records, lines of standard error. @default nothing is taken out */
  readonly scrub?: (text: string) => string;
}

/** Limits of one upstream server. */
export interface UpstreamLimits {
  /** Milliseconds for launch and handshake. @default 60,000 */
  readonly handshakeTimeoutMs?: number;
  /** Milliseconds for one page of a list; a whole list may take ten times that. @default 30,000 */
  readonly listTimeoutMs?: number;
  /** Most items of one list. @default 20,000 */
  readonly listMaxItems?: number;
  /** Milliseconds before the first reconnection; doubled each time, and cut by up to half at random. @default 250 */
  readonly reconnectMinMs?: number;
  /** Most failed connections in a row before the server is left alone. @default 1,000,000 (years) */
  readonly reconnectMaxAttempts?: number;
  /** Longest pause between reconnections in milliseconds. @default 60,000 */
  readonly reconnectMaxMs?: number;
  /** Milliseconds that a connection must have held for its end not to count as a failure. @default 10,000 */
  readonly stableAfterMs?: number;
  /** Milliseconds that a call waits for a connection that is being made. @default 20,000 */
  readonly connectWaitMs?: number;
  /** Most clients with a session of their own. @default 32 */
  readonly maxClientSessions?: number;
  /** Milliseconds after which a client's own session is closed when unused. @default 300,000 */
  readonly clientSessionIdleMs?: number;
}

/** The world around an upstream server. */
export interface UpstreamDeps {
  readonly launcher: ProcessLauncher;
  /** For HTTP transports; its owner closes it. */
  readonly httpClient: HttpClient;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** In [0, 1); spreads reconnections. */
  readonly random: () => number;
  /** What the gateway says of itself to servers. */
  readonly clientInfo: ClientInfo;
}

/** `limits` with every default in its place. */
export function resolveUpstreamLimits(limits: UpstreamLimits = {}): Required<UpstreamLimits> {
  return {
    handshakeTimeoutMs: limits.handshakeTimeoutMs ?? 60_000,
    listTimeoutMs: limits.listTimeoutMs ?? 30_000,
    listMaxItems: limits.listMaxItems ?? 20_000,
    reconnectMinMs: limits.reconnectMinMs ?? 250,
    reconnectMaxAttempts: limits.reconnectMaxAttempts ?? 1_000_000,
    reconnectMaxMs: limits.reconnectMaxMs ?? 60_000,
    stableAfterMs: limits.stableAfterMs ?? 10_000,
    connectWaitMs: limits.connectWaitMs ?? 20_000,
    maxClientSessions: limits.maxClientSessions ?? 32,
    clientSessionIdleMs: limits.clientSessionIdleMs ?? 300_000,
  };
}
