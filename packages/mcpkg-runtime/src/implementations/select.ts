/**
 * Selects among the implementations of a tool (MCPKG document, section 10.3): those whose platform,
 * runtime and requirements the machine has, of the wanted language, the best first. Every
 * implementation has its reasons, so that the choice can be explained. The machine is asked through
 * `Machine`; nothing else is read.
 */

import type { JsonValue } from "@toolcrib/json";
import { type Command, type Endpoint, type Manifest, parseCommand } from "@toolcrib/mcpkg";
import type { FoundRuntime, Machine, RuntimeKind } from "./machine.ts";
import {
  compareVersions,
  meetsConditions,
  parseRequirement,
  parseVersion,
  type Version,
  versionText,
} from "./version.ts";

/** One of the ways in which a tool can run. */
export interface Candidate {
  /** Id of the implementation; `endpoint` for the endpoint of the manifest. */
  readonly id: string;
  readonly language: string | undefined;
  readonly runtime: string | undefined;
  readonly platforms: readonly string[] | undefined;
  readonly requirements: { readonly [name: string]: JsonValue };
  readonly endpoint: Endpoint;
}

/** The results of the tests of a candidate. */
export interface Measurement {
  /** Share of its tests that passed, from 0 to 1. */
  readonly passRate: number;
  /** Median milliseconds of the calls of passed tests. */
  readonly latencyMs: number;
  /** Runs of its tests that were counted. */
  readonly runs: number;
}

/** The facts that decide besides the machine. */
export interface Selection {
  /** The wanted language. @default any */
  readonly language?: string | undefined;
  /** The only implementation that may run, by its id. @default any */
  readonly implementation?: string | undefined;
  /** Why no Starlark program may run. @default they run */
  readonly programs?: { readonly refusal: string | undefined } | undefined;
  /** Measurements by the ids of candidates; those without one count as untested. @default none */
  readonly measurements?: ReadonlyMap<string, Measurement> | undefined;
}

/** The verdict about one candidate. */
export interface Verdict {
  readonly candidate: Candidate;
  readonly isUsable: boolean;
  /** Why it can be used or not: at least one, each a sentence without a full stop. */
  readonly reasons: readonly string[];
  /** The program that its runtime stands for on this machine; undefined for one without a runtime. */
  readonly program: string | undefined;
  /** The results of its tests; undefined for one without a run, and for one that cannot be used. */
  readonly measured?: Measurement | undefined;
}

/** Id of the endpoint that accompanies implementations. */
const endpointId = "endpoint";

/** Returns the ways in which the tool of `manifest` can run, in the order of the manifest; none for a chain. */
export function candidatesOf({ endpoint, implementations = [] }: Manifest): readonly Candidate[] {
  const own: Candidate[] = implementations.map((one) => ({
    id: one.id,
    language: one.language,
    runtime: one.runtime,
    platforms: one.platforms,
    requirements: one.requirements ?? {},
    endpoint: one.endpoint,
  }));
  if (endpoint === undefined) return own;
  const fallback = {
    id: endpointId,
    language: undefined,
    runtime: undefined,
    platforms: undefined,
    requirements: {},
    endpoint,
  };
  return [...own, fallback];
}

/** Judges every candidate. @returns those that can be used first, the best one first of all; then the others */
export async function selectImplementations(
  candidates: readonly Candidate[],
  machine: Machine,
  selection: Selection = {},
): Promise<readonly Verdict[]> {
  const verdicts = await Promise.all(candidates.map((one) => judge(one, machine, selection)));
  const { measurements } = selection;
  const usable = verdicts.filter(({ isUsable }) => isUsable);
  // The sort is stable: equal ones keep the order of the manifest. The endpoint stays the last one.
  const ranked = usable.toSorted(
    (a, b) =>
      Number(a.candidate.id === endpointId) - Number(b.candidate.id === endpointId) ||
      compareMeasurements(measurements?.get(a.candidate.id), measurements?.get(b.candidate.id)),
  );
  return [
    ...ranked.map((verdict, at) => withRank(verdict, at, measurements)),
    ...verdicts.filter(({ isUsable }) => !isUsable),
  ];
}

/** Those that passed all of their tests, the fastest first; those without tests, as they are; those that failed some. */
function compareMeasurements(a: Measurement | undefined, b: Measurement | undefined): number {
  const difference = groupOf(a) - groupOf(b);
  if (difference !== 0 || a === undefined || b === undefined) return difference;
  return b.passRate - a.passRate || a.latencyMs - b.latencyMs;
}

function groupOf(measured: Measurement | undefined): number {
  if (measured === undefined) return 1;
  return measured.passRate === 1 ? 0 : 2;
}

function withRank(verdict: Verdict, at: number, measurements: Selection["measurements"]): Verdict {
  const measured = measurements?.get(verdict.candidate.id);
  const reason =
    measured === undefined
      ? "it has no tests that ran: the order of the manifest decides"
      : `${Math.round(measured.passRate * 100)} % of its tests passed in ${measured.runs === 1 ? "1 run" : `${measured.runs} runs`}, ${Math.round(measured.latencyMs)} ms a call`;
  return { ...verdict, measured, reasons: [...verdict.reasons, `rank ${at + 1}: ${reason}`] };
}

async function judge(candidate: Candidate, machine: Machine, selection: Selection): Promise<Verdict> {
  const found: string[] = [];
  const faults: string[] = [];
  const note = (isMet: boolean, reason: string): void => void (isMet ? found : faults).push(reason);
  const { id, language, platforms, endpoint } = candidate;
  if (selection.implementation !== undefined && selection.implementation !== id) {
    faults.push(`the configuration selects "${selection.implementation}"`);
  }
  if (selection.language !== undefined && selection.language !== language) {
    faults.push(
      language === undefined
        ? `it names no language, and ${selection.language} is wanted`
        : `its language is ${language}, and ${selection.language} is wanted`,
    );
  }
  if (platforms !== undefined) {
    const isMet = platforms.some((one) => isSamePlatform(one, machine.platform));
    note(
      isMet,
      isMet
        ? `it supports ${machine.platform}`
        : `it supports ${platforms.join(", ")}, and not ${machine.platform}`,
    );
  }
  if (endpoint.type === "starlark") {
    const { refusal } = selection.programs ?? {};
    note(refusal === undefined, refusal ?? "it is a Starlark program, which runs in Toolcrib");
  }
  const runtime = await judgeRuntime(candidate, machine, note);
  for (const [name, value] of Object.entries(candidate.requirements)) {
    await judgeRequirement(name, value, { runtime, machine, note });
  }
  const isUsable = faults.length === 0;
  const reasons = isUsable ? (found.length === 0 ? ["it requires nothing"] : found) : faults;
  return { candidate, isUsable, reasons, program: runtime?.command };
}

/** Whether two platforms are the same; .NET and others have their own words for some. */
function isSamePlatform(written: string, platform: string): boolean {
  return canonicalPlatform(written) === canonicalPlatform(platform);
}

const systems: { readonly [word: string]: string } = {
  win32: "win",
  windows: "win",
  macos: "darwin",
  osx: "darwin",
};
const architectures: { readonly [word: string]: string } = {
  amd64: "x64",
  x86_64: "x64",
  aarch64: "arm64",
  x86: "ia32",
};

function canonicalPlatform(text: string): string {
  const [system = "", architecture = ""] = text.split("-");
  const known = (words: { readonly [word: string]: string }, word: string): string =>
    Object.hasOwn(words, word) ? (words[word] as string) : word;
  return `${known(systems, system)}-${known(architectures, architecture)}`;
}

/** Records whether a condition is met, with the reason. */
type Note = (isMet: boolean, reason: string) => void;

/** The requirements of a candidate: the kind of the runtime, and its version as `runtime` states it. */
interface WantedRuntime {
  readonly kind: RuntimeKind;
  readonly text: string;
  readonly version: Version | undefined;
  /** .NET starts a program on a runtime of the same major version only. */
  readonly isSameMajor: boolean;
}

/** @returns the runtime that would run the candidate; undefined for none, or where there is no fitting one */
async function judgeRuntime(
  candidate: Candidate,
  machine: Machine,
  note: Note,
): Promise<FoundRuntime | undefined> {
  const { endpoint, runtime } = candidate;
  const command = endpoint.type === "local" ? parseCommand(endpoint.command) : undefined;
  if (command?.kind === "invalid") {
    note(false, `its command cannot be run: ${command.reason}`);
    return undefined;
  }
  const stated = runtime === undefined ? undefined : parseRuntime(runtime);
  if (runtime !== undefined && stated === undefined) {
    note(
      false,
      `it needs the runtime "${runtime}", which Toolcrib does not know; it knows node, pythonX.Y and netX.0`,
    );
    return undefined;
  }
  const started = command?.kind === "runtime" ? runtimeOfCommand(command) : undefined;
  if (started !== undefined && stated !== undefined && started.kind !== stated.kind) {
    note(false, `its runtime is ${stated.text}, and its command starts ${started.text}`);
    return undefined;
  }
  const wanted = strictest(started, stated);
  if (wanted === undefined) return undefined;
  const all = await machine.runtimes(wanted.kind);
  const fitting = all.find(({ version }) => fits(version, wanted));
  if (fitting !== undefined) {
    note(true, `${wanted.text} is there: ${wanted.kind} ${versionText(fitting.version)}`);
    return fitting;
  }
  note(
    false,
    all.length === 0
      ? `it needs ${wanted.text}, and this machine has no ${wanted.kind}`
      : `it needs ${wanted.text}, and this machine has ${wanted.kind} ${[...new Set(all.map(({ version }) => versionText(version)))].join(", ")}`,
  );
  return undefined;
}

function runtimeOfCommand({
  runtime,
}: Extract<Command, { readonly kind: "runtime" }>): WantedRuntime | undefined {
  return parseRuntime(runtime);
}

/** The later of two demands on the same kind of runtime. */
function strictest(a: WantedRuntime | undefined, b: WantedRuntime | undefined): WantedRuntime | undefined {
  if (a?.version === undefined) return b ?? a;
  if (b?.version === undefined) return a;
  return compareVersions(a.version, b.version) >= 0 ? a : b;
}

function parseRuntime(text: string): WantedRuntime | undefined {
  const found = /^(node|nodejs|python|net|dotnet)\s*v?(\d+(?:\.\d+)*)?$/.exec(text.trim().toLowerCase());
  if (found === null) return undefined;
  const [, word = "", written] = found;
  const version = written === undefined ? undefined : parseVersion(written);
  const kind = word === "python" ? "python" : word.startsWith("node") ? "node" : "dotnet";
  return { kind, text, version, isSameMajor: kind !== "node" };
}

function fits(version: Version, { version: wanted, isSameMajor }: WantedRuntime): boolean {
  if (wanted === undefined) return true;
  return compareVersions(version, wanted) >= 0 && (!isSameMajor || version[0] === wanted[0]);
}

const minimums: { readonly [name: string]: RuntimeKind } = {
  minNodeVersion: "node",
  minPythonVersion: "python",
  minDotnetVersion: "dotnet",
};

/** Most libraries that one implementation can need: a process of its runtime finds each. */
const librariesMaxCount = 64;

/** Judges one requirement. One that is not known is not met: the package knows what it needs, and this version does not. */
async function judgeRequirement(
  name: string,
  value: JsonValue,
  {
    runtime,
    machine,
    note,
  }: { readonly runtime: FoundRuntime | undefined; readonly machine: Machine; readonly note: Note },
): Promise<void> {
  const minimum = Object.hasOwn(minimums, name) ? minimums[name] : undefined;
  if (minimum !== undefined) {
    const wanted = typeof value === "string" ? parseVersion(value) : undefined;
    if (wanted === undefined) return note(false, `${name} is not a version`);
    const runtimes = runtime === undefined ? await machine.runtimes(minimum) : [runtime];
    const isMet = runtimes.some(({ version }) => compareVersions(version, wanted) >= 0);
    return note(isMet, `${name} ${versionText(wanted)} is ${isMet ? "" : "not "}met`);
  }
  if (name === "gpu") {
    if (value === false) return;
    const isMet = value === true && (await machine.hasGpu());
    return note(isMet, isMet ? "the machine has a GPU" : "it needs a GPU, and this machine has none");
  }
  if (name === "packages" && Array.isArray(value)) {
    if (value.length > librariesMaxCount) {
      return note(false, `it needs more than ${librariesMaxCount} packages`);
    }
    for (const one of value) await judgePackage(one, { runtime, machine, note });
    return;
  }
  note(false, `its requirement "${name}" is not known to this version of Toolcrib`);
}

/** Longest version of a library in a reason, in UTF-16 units. */
const shownVersionMaxLength = 100;

async function judgePackage(
  written: JsonValue,
  {
    runtime,
    machine,
    note,
  }: { readonly runtime: FoundRuntime | undefined; readonly machine: Machine; readonly note: Note },
): Promise<void> {
  const requirement = typeof written === "string" ? parseRequirement(written) : undefined;
  if (requirement === undefined) {
    return note(
      false,
      `the requirement ${JSON.stringify(written).slice(0, 100)} is not a package with its versions`,
    );
  }
  if (runtime === undefined) return;
  const version = await machine.libraryVersion(runtime, requirement.name);
  if (version === undefined)
    return note(false, `it needs the package ${String(written)}, which is not installed`);
  const isMet = meetsConditions(version, requirement.conditions);
  // The package can bring the library, and with it the text of its version.
  const shown = version.slice(0, shownVersionMaxLength);
  note(isMet, `${requirement.name} ${shown} is there${isMet ? "" : `, and it needs ${String(written)}`}`);
}
