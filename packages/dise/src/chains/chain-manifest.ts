/** A sequence as the manifest of a chain package (MCPKG document, sections 4 and 11). Pure. */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import type { Sequence } from "./find-sequences.ts";
import { type MappedArgument, mapArguments } from "./map-arguments.ts";
import { toJsonPath } from "./places.ts";

/** An argument that the chain has no value of an earlier step for, and why that matters. */
export interface ChainRemark {
  readonly step: string;
  readonly argument: string;
  readonly remark: string;
}

/** A chain that was found. */
export interface ChainSuggestion {
  /** The content of `manifest.json`. */
  readonly manifest: JsonObject;
  readonly toolId: string;
  readonly tools: readonly string[];
  /** Runs of the sequence that were seen. */
  readonly support: number;
  /** Clients that made them. */
  readonly clients: number;
  /** Share of the calls of its rarest tool that belongs to it, from 0 to 1. */
  readonly confidence: number;
  readonly remarks: readonly ChainRemark[];
}

/** A sequence that cannot become a chain. */
export interface UnmappedSequence extends Pick<Sequence, "tools" | "support" | "clients"> {
  readonly reason: string;
}

const toolMaxLength = 200;
const nameMaxLength = 60;

/** Turns `sequence` into a manifest. @param takenIds ids of earlier suggestions; that of the new one is added */
export function toChain(
  sequence: Sequence,
  prefix: string,
  takenIds: Set<string>,
): ChainSuggestion | UnmappedSequence {
  const { tools, support, clients, confidence } = sequence;
  const args = mapArguments(sequence);
  const reason = whyUnmapped(tools, args);
  if (reason !== undefined) return { tools, support, clients, reason };
  const steps = namesOfSteps(tools);
  const inputs = namesOfInputs(args, steps);
  const chain = tools.map((tool, at): JsonObject => {
    const mapping = args.flatMap((one, index): [string, JsonValue][] => {
      const path = one.step === at ? pathOf(one, inputs.get(index), steps) : undefined;
      return path === undefined ? [] : [[one.name, path]];
    });
    return {
      step: steps[at] ?? "",
      tool,
      inputMapping: Object.fromEntries(mapping),
      outputKey: outputKeyOf(steps[at] ?? ""),
    };
  });
  const toolId = idOf(prefix, steps, takenIds);
  const manifest = {
    toolId,
    name: steps.join(", ").slice(0, 200),
    version: "0.1.0",
    description: `Calls ${tools.join(", then ")}, and passes results on. Suggested from ${support} runs of ${clients === 1 ? "one client" : `${clients} clients`}.`,
    capabilities: ["chain", "suggested"],
    chain,
    input_schema: inputSchemaOf(args, inputs, tools),
    output_schema: {},
  };
  const remarks = args.flatMap(({ step, name, remark }) =>
    remark === undefined ? [] : [{ step: steps[step] ?? "", argument: name, remark }],
  );
  return { manifest, toolId, tools, support, clients, confidence, remarks };
}

/** Each step but the first uses an earlier one, and each but the last is used. */
function whyUnmapped(tools: readonly string[], args: readonly MappedArgument[]): string | undefined {
  const long = tools.find((tool) => tool.length > toolMaxLength || tool.includes("\u0000"));
  if (long !== undefined) return "the id of a tool is longer than a chain can name";
  const outputs = args.flatMap(({ step, source }) =>
    source.kind === "output" ? [{ step, from: source.step }] : [],
  );
  const unused = tools.findIndex(
    (_tool, at) => at < tools.length - 1 && !outputs.some(({ from }) => from === at),
  );
  if (unused === -1) return undefined;
  const remark = args.find(
    ({ source, remark: said }) => source.kind === "input" && said !== undefined,
  )?.remark;
  return `nothing of the result of ${tools[unused]} has a fixed place${remark === undefined ? "" : `; an argument is ${remark}`}`;
}

function namesOfSteps(tools: readonly string[]): readonly string[] {
  const taken = new Set(["input"]);
  return tools.map((tool) => {
    const base = slugOf(tool.slice(Math.max(tool.lastIndexOf(":"), tool.lastIndexOf(".")) + 1));
    for (let count = 1; ; count += 1) {
      const name = count === 1 ? base : `${base}_${count}`;
      if (taken.has(name) || taken.has(outputKeyOf(name))) continue;
      taken.add(name);
      taken.add(outputKeyOf(name));
      return name;
    }
  });
}

function outputKeyOf(step: string): string {
  return `${step}_result`;
}

function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, nameMaxLength);
  return /^[a-z]/.test(slug) ? slug : `step${slug === "" ? "" : `_${slug}`}`;
}

/** Names of the inputs, by the position of their arguments. Arguments that share a value share an input. */
function namesOfInputs(
  args: readonly MappedArgument[],
  steps: readonly string[],
): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  const taken = new Set<string>();
  for (const [at, { step, name, source }] of args.entries()) {
    if (source.kind !== "input") continue;
    const shared = source.sharesWith === undefined ? undefined : names.get(source.sharesWith);
    let own = shared ?? name;
    for (let count = 1; shared === undefined && taken.has(own); count += 1)
      own = `${steps[step]}_${name}${count === 1 ? "" : `_${count}`}`;
    taken.add(own);
    names.set(at, own);
  }
  return names;
}

function pathOf(
  { source }: MappedArgument,
  input: string | undefined,
  steps: readonly string[],
): string | undefined {
  if (source.kind === "output") return toJsonPath(outputKeyOf(steps[source.step] ?? ""), source.pointer);
  if (input === undefined) return undefined;
  return toJsonPath("input", `/${input.replaceAll("~", "~0").replaceAll("/", "~1")}`);
}

function inputSchemaOf(
  args: readonly MappedArgument[],
  inputs: ReadonlyMap<number, string>,
  tools: readonly string[],
): JsonObject {
  const uses = new Map<string, string[]>();
  for (const [at, name] of inputs) {
    const { step, name: argument } = args[at] as MappedArgument;
    uses.set(name, [...(uses.get(name) ?? []), `"${argument}" of ${tools[step]}`]);
  }
  const properties = [...uses].map(([name, used]): [string, JsonValue] => [
    name,
    { description: `Argument ${used.join(", and ")}.` },
  ]);
  // A path without a match is an error, so an input that a step names must be there.
  return { type: "object", properties: Object.fromEntries(properties), required: [...uses.keys()] };
}

function idOf(prefix: string, steps: readonly string[], taken: Set<string>): string {
  const base = `${prefix}.${steps.join("_")}`.slice(0, 180).replace(/_+$/, "");
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? base : `${base}_${count}`;
    if (taken.has(id)) continue;
    taken.add(id);
    return id;
  }
}
