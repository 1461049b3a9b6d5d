/**
 * The contract between the composition root and the code that opens one kind of
 * sources: servers, toolspecs, packages, composite tools. Types only.
 */

import type { GatewayConfig } from "@toolcrib/config";
import type { PreparedSources } from "@toolcrib/config-changes";
import type { Logger } from "@toolcrib/diagnostics";
import type { StartTimer } from "@toolcrib/lifecycle";
import type { HttpClient, ServerInfo } from "@toolcrib/mcp";
import type { ProgramRunnerSlot, TrialPackage } from "@toolcrib/mcpkg-runtime";
import type { ProcessLauncher, SpawnWrap } from "@toolcrib/process";
import type { SecretScrubber } from "@toolcrib/redaction";
import type { Sandboxes } from "@toolcrib/sandbox";
import type { Store } from "@toolcrib/store";
import type { UpstreamLimits } from "@toolcrib/upstream";
import type { GatewayCore } from "../gateway-core.ts";
import type { LateLoginPages } from "../late-login-pages.ts";

/** Everything that sources take from the gateway and from the process. */
export interface SourceContext {
  readonly config: GatewayConfig;
  readonly core: GatewayCore;
  readonly home: string;
  /** As in `GatewayDeps`. */
  readonly homeFlag: string | undefined;
  readonly env: { readonly [name: string]: string | undefined };
  readonly serverInfo: ServerInfo;
  readonly record: Store["audit"]["record"];
  readonly scrubber: SecretScrubber;
  readonly logger: Logger;
  readonly launcher: ProcessLauncher;
  readonly sandboxes: Sandboxes;
  /** Files that the configuration was read from. */
  readonly configFiles: readonly string[];
  /** Paths of the policy files in force. */
  readonly policyFiles: () => readonly string[];
  /** Folder that relative paths of the command line are relative to. */
  readonly directory: string;
  /** Folder of the project whose packages are offered. */
  readonly projectFolder: string;
  /** Wraps processes that the launcher does not start; the launcher wraps its own. */
  readonly wrap: SpawnWrap | undefined;
  readonly httpClient: HttpClient;
  /** PEM certificates of authorities that are trusted in addition to the default ones. */
  readonly authorities: string | undefined;
  readonly upstreamLimits: UpstreamLimits | undefined;
  /** Packages whose tests run, in place of installed ones. */
  readonly trialPackages: readonly TrialPackage[];
  readonly packageRunner: ProgramRunnerSlot;
  /** Gets the pages at which clients log in to servers, where there are such servers. */
  readonly logins: LateLoginPages;
  /** The system, and the Node that runs this process. */
  readonly machine: {
    readonly system: { readonly platform: string; readonly arch: string };
    readonly node: { readonly command: string; readonly version: string };
  };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly monotonicMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly randomBytes: (length: number) => Buffer;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
  /** Resolves when the event loop has time to spare, after `maxMs` at the latest. */
  readonly untilIdle: (maxMs: number) => Promise<void>;
  /** Calls `callback` once after `delayMs`. @returns a function that cancels it */
  readonly startTimer: StartTimer;
  /** As `startTimer`, but the timer does not keep the process alive. */
  readonly startBackgroundTimer: StartTimer;
}

/** Sources of one kind, in the roster of the gateway. Disposing them waits for what they started. */
export interface OpenedSources extends AsyncDisposable {
  /** Makes first contact with each, after all kinds were opened. Resolves whether it succeeds or not, and never rejects. */
  start(): Promise<unknown>;
  /** Prepares the sources of another configuration. Until `commit`, nothing changes. @default they are never other ones */
  prepare?(config: GatewayConfig): Promise<PreparedSources>;
}

/** Opens the sources of one kind and adds them to the roster of `context.core`. */
export type OpenSources = (context: SourceContext) => Promise<OpenedSources>;
