/**
 * Changes that may make a chain faster (MCPKG document, section 11.6): tools with the same purpose in place of
 * others, steps that nothing needs left out, equal steps made once. It proposes: whether a change is an
 * improvement, the tests of the chain and measurements decide.
 *
 * A step is removed or merged only where its tool changes nothing, and no tool is proposed that may change something
 * in place of one that does not. The order of the steps stays: they run one after the other, so
 * another order takes as long. Pure.
 */

import { isSameJson, type JsonObject, type JsonValue } from "@toolcrib/json";
import { misfit } from "./fits-schema.ts";

/** A step of a chain, as its manifest has it. */
export interface OptimizedStep {
  readonly step: string;
  readonly tool: string;
  readonly inputMapping: JsonObject;
  readonly outputKey: string;
}

/** A tool that steps can call. */
export interface StepTool {
  readonly toolId: string;
  readonly capabilities: readonly string[];
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  /** Whether a call may change something. */
  readonly mayWrite: boolean;
  /** Why it cannot be used, as a clause; undefined for a tool that can. */
  readonly unusable: string | undefined;
  /** Score of its rank, from 0 to 1. */
  readonly score: number;
}

/** A change of a chain. */
export interface ChainChange {
  readonly kind: "replaced" | "removed" | "merged";
  readonly step: string;
  /** The tool of the step before. */
  readonly from: string;
  /** The tool of the step now, or the step that it is merged with; absent for a removed step. */
  readonly to?: string;
  readonly reason: string;
}

/** A changed chain. */
export interface ChangedChain {
  readonly steps: readonly OptimizedStep[];
  readonly changes: readonly ChainChange[];
}

/** Returns `steps` without those that nothing needs and with equal ones made once; undefined where there are none. */
export function simplifyChain(
  steps: readonly OptimizedStep[],
  mayWrite: (tool: string) => boolean,
): ChangedChain | undefined {
  const changes: ChainChange[] = [];
  let kept = [...steps];
  // A merged step can make a later one equal to an earlier one, and a removed one another one superfluous.
  for (;;) {
    const next = mergeOne(kept, mayWrite) ?? removeOne(kept, mayWrite);
    if (next === undefined) break;
    kept = [...next.steps];
    changes.push(...next.changes);
  }
  return changes.length === 0 ? undefined : { steps: kept, changes };
}

/** Tools that can take the place of the one of a step, the best first; and those of its purpose that cannot, with the reasons. */
export interface Alternatives {
  readonly tools: readonly StepTool[];
  readonly excluded: readonly { readonly toolId: string; readonly reason: string }[];
}

/** Returns the alternatives of `step`, whose tool is `current`. */
export function alternativesOf(
  { inputMapping }: OptimizedStep,
  current: StepTool,
  tools: readonly StepTool[],
): Alternatives {
  const same = tools.filter(
    ({ toolId, capabilities }) =>
      toolId !== current.toolId &&
      current.capabilities.length > 0 &&
      current.capabilities.every((one) => capabilities.includes(one)),
  );
  const passed = passedSchema(inputMapping, current.inputSchema);
  const judged = same.map((tool) => ({ tool, reason: exclusionOf(tool, current, passed) }));
  return {
    tools: judged
      .flatMap(({ tool, reason }) => (reason === undefined ? [tool] : []))
      .toSorted((one, other) => other.score - one.score || (one.toolId < other.toolId ? -1 : 1)),
    excluded: judged.flatMap(({ tool: { toolId }, reason }) =>
      reason === undefined ? [] : [{ toolId, reason }],
    ),
  };
}

/** Returns `steps` with another tool in the step at `index`. */
export function replaceTool(
  steps: readonly OptimizedStep[],
  index: number,
  toolId: string,
): readonly OptimizedStep[] {
  return steps.map((step, at) => (at === index ? { ...step, tool: toolId } : step));
}

function exclusionOf(tool: StepTool, current: StepTool, passed: JsonObject): string | undefined {
  if (tool.unusable !== undefined) return tool.unusable;
  if (tool.mayWrite && !current.mayWrite) return `it may change something, and ${current.toolId} does not`;
  const input = misfit(passed, tool.inputSchema, "its input");
  if (input !== undefined) return `it does not take what the step passes: ${input}`;
  const output = misfit(tool.outputSchema, current.outputSchema, "its output");
  return output === undefined ? undefined : `it does not give what ${current.toolId} gives: ${output}`;
}

/** The schema of the arguments that a step passes. */
function passedSchema(mapping: JsonObject, { properties }: JsonObject): JsonObject {
  const names = Object.keys(mapping);
  const known = typeof properties === "object" && properties !== null ? (properties as JsonObject) : {};
  const schemas = names.map((name) => [
    name,
    passedValue(mapping[name], Object.hasOwn(known, name) ? known[name] : {}),
  ]);
  return { type: "object", properties: Object.fromEntries(schemas) as JsonObject, required: names };
}

/** A literal is the value itself; a path gives what the tool takes until now. */
function passedValue(source: JsonValue | undefined, schema: JsonValue | undefined): JsonValue {
  if (source === undefined || (typeof source === "string" && source.startsWith("$"))) return schema ?? {};
  const type =
    source === null
      ? "null"
      : Array.isArray(source)
        ? "array"
        : Number.isInteger(source)
          ? "integer"
          : typeof source;
  return {
    ...(typeof schema === "object" && schema !== null && !Array.isArray(schema) ? schema : {}),
    type,
    enum: [source],
  };
}

function mergeOne(
  steps: readonly OptimizedStep[],
  mayWrite: (tool: string) => boolean,
): ChangedChain | undefined {
  for (const [index, step] of steps.entries()) {
    if (mayWrite(step.tool)) continue;
    const first = steps
      .slice(0, index)
      .find(({ tool, inputMapping }) => tool === step.tool && isSameJson(inputMapping, step.inputMapping));
    if (first === undefined) continue;
    const rest = steps.slice(index + 1);
    // The result of the last step is the result of the chain.
    if (rest.length === 0 || rest.some(isOpaque)) continue;
    const change: ChainChange = {
      kind: "merged",
      step: step.step,
      from: step.tool,
      to: first.step,
      reason: `it makes the same call as the step "${first.step}"`,
    };
    const renamed = rest.map((later) => ({
      ...later,
      inputMapping: renamedPaths(later.inputMapping, step, first),
    }));
    return { steps: [...steps.slice(0, index), ...renamed], changes: [change] };
  }
  return undefined;
}

function removeOne(
  steps: readonly OptimizedStep[],
  mayWrite: (tool: string) => boolean,
): ChangedChain | undefined {
  const index = steps.findIndex(
    (step, at) =>
      at < steps.length - 1 &&
      !mayWrite(step.tool) &&
      !steps.slice(at + 1).some((later) => uses(later, step)),
  );
  const step = steps[index];
  if (step === undefined) return undefined;
  const change: ChainChange = {
    kind: "removed",
    step: step.step,
    from: step.tool,
    reason: "no later step uses its result",
  };
  return { steps: steps.toSpliced(index, 1), changes: [change] };
}

type Names = Pick<OptimizedStep, "step" | "outputKey">;

function pathsOf({ inputMapping }: OptimizedStep): readonly string[] {
  return Object.values(inputMapping).filter(
    (one) => typeof one === "string" && one.startsWith("$"),
  ) as string[];
}

function uses(later: OptimizedStep, names: Names): boolean {
  return isOpaque(later) || pathsOf(later).some((path) => isOf(path, names));
}

/** Whether it is not clear what a path of a step refers to: it begins at the root again, in a filter, or with all members. */
function isOpaque(later: OptimizedStep): boolean {
  return pathsOf(later).some((path) => path.lastIndexOf("$") > 0 || firstNameOf(path) === undefined);
}

function isOf(path: string, { step, outputKey }: Names): boolean {
  const name = firstNameOf(path);
  return name === step || name === outputKey;
}

const firstName = /^\$\s*(?:\.\s*([\p{L}_][\p{L}\p{N}_]*)|\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])/u;

function firstNameOf(path: string): string | undefined {
  const found = firstName.exec(path);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}

function renamedPaths(mapping: JsonObject, from: Names, to: Names): JsonObject {
  return Object.fromEntries(
    Object.entries(mapping).map(([name, source]) => [
      name,
      typeof source === "string" && source.startsWith("$") && isOf(source, from)
        ? source.replace(firstName, () => `$[${JSON.stringify(to.outputKey)}]`)
        : source,
    ]),
  ) as JsonObject;
}
