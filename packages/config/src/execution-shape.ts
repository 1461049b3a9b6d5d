/**
 * The section `execution`: limits of one run of a composite tool (Metatool
 * document, Configuration). The document gives the spelling of `timeout`,
 * `maxMemory` and `enableDebug`; the other fields follow it.
 */

import {
  choice,
  type DocumentNode,
  flag,
  integer,
  invalid,
  type Place,
  record,
  text,
  type ValueOf,
} from "@toolcrib/document";
import type { ExecutionConfig } from "./config-types.ts";
import { quote } from "./display-source.ts";

/** Documented defaults of `execution`. */
export const executionDefaults: Omit<ExecutionConfig, "isEnabled"> = {
  timeoutMs: 30_000,
  memoryBytes: 128 * 1024 ** 2,
  steps: 10_000_000,
  callDepth: 200,
  toolCalls: 100,
  parallelWidth: 8,
  logBytes: 64 * 1024,
  resultBytes: 1024 ** 2,
  debug: false,
  isolation: "none",
};

const memoryUnits: { readonly [unit: string]: number } = { kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };
const leastMemory = 1024 ** 2;
const mostMemory = 1024 ** 3;

/** Parses a size such as `128MB`, in bytes; `undefined` when it is invalid. */
export function parseMemorySize(value: string): number | undefined {
  const [, digits, unit = ""] = /^\s*([0-9]{1,10})\s*([kKmMgG][iI]?[bB])\s*$/.exec(value) ?? [];
  const factor = memoryUnits[unit.toLowerCase().replace("i", "")];
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
}

/** Interprets a number without a unit: bytes if it is large, megabytes otherwise. */
function megabytesMeant(value: number): number {
  return value < leastMemory ? value : Math.ceil(value / 1024 ** 2);
}

function inspectMemory(value: string, node: DocumentNode, place: Place): void {
  const bytes = parseMemorySize(value);
  if (bytes !== undefined && bytes >= leastMemory && bytes <= mostMemory) return;
  invalid(
    node,
    place,
    `${quote(place.path)} must be a size from 1MB to 1GB, but is ${quote(value)}`,
    "write a number and a unit, such as 128MB",
  );
}

export const executionShape = record({
  description: "Limits of one run of a composite tool.",
  hints: {
    timeout_ms: "write timeout, in milliseconds",
    timeoutMs: "write timeout, in milliseconds",
    max_memory: 'write maxMemory: "128MB"',
    memory: 'write maxMemory: "128MB"',
    debug: "write enableDebug",
    enable_debug: "write enableDebug",
  },
  fields: {
    enabled: flag(
      "Whether clients can write and run composite tools. true: their tools are listed in every mode. false: there are no composite and no saved tools. Without this field: listed in mode full, and not in mode search.",
    ),
    timeout: integer({
      description: "Longest run in milliseconds, including the time that it waits for tools.",
      minimum: 1,
      maximum: 3_600_000,
      default: executionDefaults.timeoutMs,
      perSecond: 1000,
    }),
    maxMemory: text({
      description: "Most memory of a run, such as 128MB.",
      maxLength: 20,
      default: "128MB",
      inspect: inspectMemory,
      otherTypeHint: (node) =>
        node.kind === "scalar" && typeof node.value === "number"
          ? `write "${megabytesMeant(node.value)}MB"`
          : undefined,
    }),
    enableDebug: flag("Whether errors of composite tools contain their stack.", {
      default: executionDefaults.debug,
    }),
    maxSteps: integer({
      description: "Most steps of the program.",
      minimum: 1000,
      maximum: 1_000_000_000,
      default: executionDefaults.steps,
    }),
    maxCallDepth: integer({
      description: "Deepest nesting of the program's function calls.",
      minimum: 1,
      maximum: 10_000,
      default: executionDefaults.callDepth,
    }),
    maxToolCalls: integer({
      description: "Most tool calls of a run.",
      minimum: 1,
      maximum: 10_000,
      default: executionDefaults.toolCalls,
    }),
    maxParallel: integer({
      description: "Most tool calls of a run at a time.",
      minimum: 1,
      maximum: 64,
      default: executionDefaults.parallelWidth,
    }),
    maxLogBytes: integer({
      description: "Most bytes that print may write.",
      minimum: 1024,
      maximum: 16 * 1024 ** 2,
      default: executionDefaults.logBytes,
    }),
    maxResultBytes: integer({
      description: "Most bytes of a result, as JSON.",
      minimum: 1024,
      maximum: 64 * 1024 ** 2,
      default: executionDefaults.resultBytes,
    }),
    isolation: choice({
      description:
        "none: in a thread of the gateway process, restricted by the limits of the language. process: each run in a separate process.",
      values: ["none", "process"],
      default: executionDefaults.isolation,
    }),
  },
});

/** `execution` as written. */
export type ExecutionDocument = ValueOf<typeof executionShape>;

export function toExecutionConfig(document: ExecutionDocument | undefined): ExecutionConfig {
  const { timeout, maxMemory, enableDebug } = document ?? {};
  const fallback = executionDefaults;
  return {
    isEnabled: document?.enabled,
    timeoutMs: timeout ?? fallback.timeoutMs,
    memoryBytes: (maxMemory === undefined ? undefined : parseMemorySize(maxMemory)) ?? fallback.memoryBytes,
    steps: document?.maxSteps ?? fallback.steps,
    callDepth: document?.maxCallDepth ?? fallback.callDepth,
    toolCalls: document?.maxToolCalls ?? fallback.toolCalls,
    parallelWidth: document?.maxParallel ?? fallback.parallelWidth,
    logBytes: document?.maxLogBytes ?? fallback.logBytes,
    resultBytes: document?.maxResultBytes ?? fallback.resultBytes,
    debug: enableDebug ?? fallback.debug,
    isolation: document?.isolation ?? fallback.isolation,
  };
}
