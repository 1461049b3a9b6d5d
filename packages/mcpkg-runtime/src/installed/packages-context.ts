/** The parts of the gateway and of the process that installed packages use. Types only. */

import type { Logger } from "@toolcrib/diagnostics";
import type { EgressSettings } from "@toolcrib/egress";
import type { SourceRoster, ToolIndex } from "@toolcrib/inventory";
import type { JsonObject } from "@toolcrib/json";
import type { StartTimer } from "@toolcrib/lifecycle";
import type { InstalledPackage } from "@toolcrib/mcpkg-install";
import type { SpawnWrap } from "@toolcrib/process";
import type { SecretScrubber } from "@toolcrib/redaction";
import type { Sandboxes } from "@toolcrib/sandbox";
import type { SecretCache } from "@toolcrib/secrets";
import type { Store } from "@toolcrib/store";
import type { CallContext, Identity, ToolResult } from "@toolcrib/tool";
import type { ChainDeps } from "../chain/chain-runner.ts";
import type { ChainTools } from "../chain/chain-tools.ts";
import type { ProgramOutcome } from "../starlark/starlark-runner.ts";
import type { TestReplies } from "../tests/test-replies.ts";
import type { PackagesConfig } from "./package-config.ts";

/** A package whose tests run. */
export interface TrialPackage extends InstalledPackage {
  /** Whether `packages.<toolId>` of the configuration counts; otherwise it has the defaults of an `unverified` package. */
  readonly usesConfig: boolean;
  /** Records or replays what its tests call. @default real requests and calls */
  readonly replies?: TestReplies | undefined;
}

/** Limits the concurrent calls of one package. */
export interface CallLoad {
  /** Runs `work` for the call `context` as soon as there is a place for it. @throws {CodedError} when its queue is full */
  run<Value>(context: CallContext, work: () => Promise<Value>): Promise<Value>;
}

/** The outcome of a call of a test. */
type TestOutcome =
  | { readonly kind: "result"; readonly result: ToolResult }
  | { readonly kind: "failed"; readonly error: Error }
  | { readonly kind: "denied"; readonly code: string; readonly reason: string };

/** A program of a package, and what it may use. */
export interface PackageProgram {
  readonly toolId: string;
  readonly code: string;
  readonly inputSchema: JsonObject;
  /** Ids of the tools that it finds. */
  readonly tools: readonly string[];
  /** @default the limit of composites */
  readonly timeoutMs: number | undefined;
  /** Replies to its calls, and its time, of a test that is replayed. @default its calls are made */
  readonly recorded?: ReturnType<TestReplies["takeProgramReplies"]>;
}

/** The runner of the Starlark programs of packages: composites have it once they were opened. */
export interface ProgramRunnerSlot {
  /** Undefined before composites are open, and where they could not be opened. */
  runner:
    | { run(program: PackageProgram, args: JsonObject, context: CallContext): Promise<ProgramOutcome> }
    | undefined;
}

/** The gateway and the process, as installed packages use them. */
export interface PackagesContext {
  readonly config: {
    readonly packages: PackagesConfig;
    readonly egress: EgressSettings;
    readonly sandbox: { readonly mode: "required" | "preferred" };
    /** Whether composites run at all. */
    readonly execution: { readonly isEnabled?: boolean | undefined };
    readonly tests: {
      /** Milliseconds between two runs; undefined: they do not run by themselves. */
      readonly everyMs: number | undefined;
    };
  };
  readonly core: {
    readonly roster: SourceRoster;
    readonly index: Pick<ToolIndex, "together" | "find">;
    /** Calls a tool as a program of the operator. Never rejects for a call that fails. */
    call(
      identity: Identity,
      name: string,
      args: JsonObject,
      options: { readonly signal: AbortSignal },
    ): Promise<TestOutcome>;
  };
  /** Calls and tools of the gateway for chains. @param chainOf returns the chain of an installed package */
  readonly chainHost: (chainOf: ChainTools["chainOf"]) => Omit<ChainDeps, "validator" | "monotonicMs">;
  readonly loadOf: (toolId: string, maxConcurrentCalls: number) => CallLoad;
  /** Resolves the references of the configuration. */
  readonly secretResolver: ConstructorParameters<typeof SecretCache>[0]["resolver"];
  /** The home folder. */
  readonly home: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly serverInfo: { readonly version: string };
  readonly record: Store["audit"]["record"];
  readonly scrubber: SecretScrubber;
  readonly logger: Logger;
  /** The sandboxes of this machine. */
  readonly sandboxes: Sandboxes;
  /** Files that the configuration was read from. */
  readonly configFiles: readonly string[];
  /** Paths of the policy files in force. */
  readonly policyFiles: () => readonly string[];
  /** Folder that relative paths of the command line are relative to. */
  readonly directory: string;
  /** Folder of the project whose packages are offered. */
  readonly projectFolder: string;
  /** Wraps the processes that are started. */
  readonly wrap: SpawnWrap | undefined;
  /** Packages whose tests run, in place of installed ones. */
  readonly trialPackages: readonly TrialPackage[];
  readonly packageRunner: ProgramRunnerSlot;
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
  /** Calls `callback` once after `delayMs`, and does not keep the process alive. @returns a function that cancels it */
  readonly startBackgroundTimer: StartTimer;
}
