/** The parts of the gateway and of the process that the toolspecs of a configuration use. Types only. */

import type { Logger } from "@toolcrib/diagnostics";
import type { createRecordedEgress } from "@toolcrib/egress";
import type { SourceRoster, ToolIndex } from "@toolcrib/inventory";
import type { StartTimer } from "@toolcrib/lifecycle";
import type { SecretScrubber } from "@toolcrib/redaction";
import type { SecretCache, SecretRef } from "@toolcrib/secrets";
import type { CallContext } from "@toolcrib/tool";
import type { Manifest, Toolspec } from "@toolcrib/toolspec";

/** One entry of `toolspecs`: a REST API as tools. */
export interface ToolspecConfig {
  /** Unique among the sources; also the namespace of its tools. */
  readonly id: string;
  /** The files; `undefined` when they were not read. */
  readonly pair: { readonly manifest: Manifest; readonly toolspec: Toolspec } | undefined;
  /** References to the secrets, by the credential ids of the manifest. */
  readonly credentials: { readonly [id: string]: SecretRef };
  /** Values of the variables of base URLs and paths. */
  readonly variables: { readonly [name: string]: string };
  /** Path parameters whose slashes stay unencoded, as `tool.parameter`. */
  readonly reserved: readonly string[];
  /** `default`, also as an entry of a list: the tools that the manifest marks with `default: true`. */
  readonly tools: "all" | "default" | readonly string[];
  readonly labels: { readonly [key: string]: string };
  /** Labels of everything that it returns. */
  readonly dataLabels: readonly string[];
  /** The file that declares it: relative paths are relative to its folder. */
  readonly source: { readonly name: string };
}

/** Limits the concurrent calls of one toolspec. */
export interface CallLoad {
  /** Runs `work` for the call `context` as soon as there is a place for it. @throws {CodedError} when its queue is full */
  run<Value>(context: CallContext, work: () => Promise<Value>): Promise<Value>;
  /** Resolves when no call runs or waits. */
  idle(): Promise<void>;
}

type EgressContext = Parameters<typeof createRecordedEgress>[0];

/** The gateway and the process, as toolspecs use them. */
export interface ToolspecsContext extends EgressContext {
  readonly config: EgressContext["config"] & { readonly toolspecs: readonly ToolspecConfig[] };
  readonly core: { readonly roster: SourceRoster; readonly index: Pick<ToolIndex, "together"> };
  readonly loadOf: (id: string) => CallLoad;
  /** Resolves the references of the configuration. */
  readonly secretResolver: ConstructorParameters<typeof SecretCache>[0]["resolver"];
  readonly env: { readonly [name: string]: string | undefined };
  readonly serverInfo: { readonly version: string };
  readonly scrubber: SecretScrubber;
  readonly logger: Logger;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
  /** Calls `callback` once after `delayMs`, and does not keep the process alive. @returns a function that cancels it */
  readonly startBackgroundTimer: StartTimer;
}
