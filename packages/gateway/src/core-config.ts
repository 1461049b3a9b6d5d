/** Types of a core: its part of the configuration, its dependencies, and programs that run in it. */

import type { CallLimits, GuardDeps } from "@toolcrib/admission";
import type { GatewayConfig } from "@toolcrib/config";
import type { Logger } from "@toolcrib/diagnostics";
import type { SearchEmbeddings } from "@toolcrib/embeddings";
import type { TaskFiles } from "@toolcrib/extensions";
import type { CallHooksDeps } from "@toolcrib/hooks";
import type { BackendSelector } from "@toolcrib/inventory";
import type { SearchLearning } from "@toolcrib/learning";
import type { ServerInfo } from "@toolcrib/mcp";
import type { FilePolicies } from "@toolcrib/policy";
import type { SecretScrubber } from "@toolcrib/redaction";
import type { SearchOptions } from "@toolcrib/search";
import type { AuditStore, CallApprovals, PinMemory, SeenLabels } from "@toolcrib/store";
import type { CallContext, Identity } from "@toolcrib/tool";
import type { CallMetrics } from "./call/call-log.ts";
import type { GovernedCallDeps } from "./call/governed-call-deps.ts";

/** The sections that a core needs. Without `execution`, composite tools are listed as its default says. */
export type CoreConfig = Pick<GatewayConfig, "policy" | "serve"> &
  Partial<Pick<GatewayConfig, "execution" | "guards" | "audit" | "profiles" | "toolOverrides">>;

/** The parts that a configuration opened for a core. */
export interface LiveParts extends Pick<GatewayCoreDeps, "hooks" | "seenLabels"> {
  readonly callLimits: CallLimits | undefined;
  /** The policies of its files. */
  readonly files: FilePolicies | undefined;
}

/** A program, and the call that runs it. */
export interface Program extends Pick<CallContext, "signal" | "deadline"> {
  readonly code: string;
}

/** Dependencies of a core. */
export interface GatewayCoreDeps extends Pick<GuardDeps, "pauses" | "budgetStore" | "resumeCommand"> {
  readonly serverInfo: ServerInfo;
  readonly audit: Pick<AuditStore, "intent" | "record">;
  readonly metrics: CallMetrics;
  readonly logger: Logger;
  readonly scrubber: SecretScrubber;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly newCallId: () => string;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly selectBackend?: BackendSelector | undefined;
  /** Parameters of the ranking of searches. */
  readonly search?: SearchOptions | undefined;
  /** Observes searches and calls, and returns the words that they taught. @default search learns nothing */
  readonly learning?: Pick<SearchLearning, "taughtFor" | "isObserving" | "searched" | "called"> | undefined;
  /** Finds what queries mean. @default search goes by words alone */
  readonly embeddings?: Pick<SearchEmbeddings, "meaningOf"> | undefined;
  /** Whether `search_tools`, `describe_tool` and `call_tool` exist. @default true */
  readonly hasMetaTools?: boolean | undefined;
  /** Remembers accepted and quarantined definitions. @default they are forgotten with the process */
  readonly pins?: PinMemory | undefined;
  /** Approvals of single calls. @default calls that need one are refused */
  readonly callApprovals?: CallApprovals | undefined;
  /** Labels of the data that clients received. @default labels of sources have no effect */
  readonly seenLabels?: Pick<SeenLabels, "seen" | "add"> | undefined;
  /** Computes fingerprints of values for records. @default records have none */
  readonly fingerprints?: GovernedCallDeps["fingerprints"];
  /** Programs that are asked about calls, and the clock of their time. @default none */
  readonly hooks?: Pick<CallHooksDeps, "hooks" | "monotonicMs"> | undefined;
  /** Ids of the tools that a client used most, first, as they are listed until the end of the process. @default none */
  readonly mostUsed?: ((identity: Identity) => readonly string[]) | undefined;
  /** The tasks in the home. @default tasks end with the process */
  readonly taskFiles?: TaskFiles | undefined;
  /** The command by which the operator approves. @default "toolcrib approve" */
  readonly approveCommand?: string | undefined;
}
