/** The parts of the gateway and of the process that the tool servers of a configuration use. Types only. */

import type { GatewayConfig } from "@toolcrib/config";
import type { createRecordedEgress } from "@toolcrib/egress";
import type { SourceRoster } from "@toolcrib/inventory";
import type { StartTimer } from "@toolcrib/lifecycle";
import type { HttpClient, ServerInfo } from "@toolcrib/mcp";
import type { ServerLogins } from "@toolcrib/oauth";
import type { ProcessLauncher } from "@toolcrib/process";
import type { SecretScrubber } from "@toolcrib/redaction";
import type { Sandboxes } from "@toolcrib/sandbox";
import type { UpstreamLimits } from "@toolcrib/upstream";

type EgressContext = Parameters<typeof createRecordedEgress>[0];

/** The gateway and the process, as tool servers use them. */
export interface ServersContext extends EgressContext {
  readonly config: GatewayConfig;
  readonly core: {
    readonly roster: SourceRoster;
    /** Reads what was accepted of servers that are about to be added. */
    preparePins(serverIds: readonly string[]): Promise<void>;
  };
  /** Text after `toolcrib` in commands for the operator. @default none */
  readonly homeFlag?: string | undefined;
  readonly env: { readonly [name: string]: string | undefined };
  readonly serverInfo: ServerInfo;
  readonly scrubber: SecretScrubber;
  readonly launcher: ProcessLauncher;
  /** The sandboxes of this machine. */
  readonly sandboxes: Sandboxes;
  /** Files that the configuration was read from. */
  readonly configFiles: readonly string[];
  /** Paths of the policy files in force. */
  readonly policyFiles: () => readonly string[];
  /** Folder that relative paths of the command line are relative to. */
  readonly directory: string;
  readonly httpClient: HttpClient;
  /** PEM certificates of authorities that are trusted in addition to the default ones. */
  readonly authorities: string | undefined;
  readonly upstreamLimits: UpstreamLimits | undefined;
  /** Receives the pages at which clients log in to servers, with the first such server. */
  readonly onLoginPages: (pages: ServerLogins["pages"]) => void;
  /** In [0, 1). */
  readonly random: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Calls `callback` once after `delayMs`, and does not keep the process alive. @returns a function that cancels it */
  readonly startBackgroundTimer: StartTimer;
}
