/**
 * Shows what `toolcrib add` and `toolcrib update` know about a server: publisher, version and integrity, containment,
 * secrets, and its definitions with their cost. Texts of registries and servers are escaped and cut.
 */

import { existsSync } from "node:fs";
import type { ToolServerConfig } from "@toolcrib/config";
import type { SourceStatus } from "@toolcrib/inventory";
import type { StoredPackage } from "@toolcrib/runners";
import { pathsInArgument } from "@toolcrib/sandbox";
import { printDefinition } from "../approve/print-definition.ts";
import type { UnseenPlace } from "../config/lint-arguments.ts";
import { counted } from "../output/counted.ts";
import { wrapProse } from "../output/fit-styled.ts";
import { type Output, safeLine } from "../output/output.ts";
import type { OfferFact } from "./offer.ts";
import type { TriedDefinition } from "./trial.ts";

/** Definitions that are listed of many. */
const rowsMaxCount = 60;
/** Suspicious definitions that are printed. */
const suspiciousMaxCount = 20;
/** Characters of a definition, as JSON, above which only its beginning is printed, and its findings that are named then. */
const wholeMaxLength = 16_384;
const beginningMaxLength = 4096;
const findingsMaxCount = 10;
const valueMaxLength = 400;
const nameMaxLength = 80;
const descriptionMaxLength = 100;

/** Columns of the labels of facts, and the indent of what follows the first line of one. */
const labelWidth = 14;
const factIndent = " ".repeat(2 + labelWidth);

/** Prints facts as a list with aligned labels. */
export function printFacts(output: Output, facts: readonly OfferFact[]): void {
  for (const [label, text] of facts) {
    const line = safeLine(text);
    const shown = line.length > valueMaxLength ? `${line.slice(0, valueMaxLength)}…` : line;
    const [first = "", ...others] = wrapProse(shown, output.width - factIndent.length);
    output.print(`  ${output.style("dim", safeLine(label).slice(0, 20).padEnd(labelWidth))}${first}`);
    output.print(...others.map((one) => `${factIndent}${one.trimStart()}`));
  }
}

/** Returns what was fetched: the integrity value of the package itself, and the size of its tree. */
export function integrityFacts(fetched: StoredPackage | undefined): readonly OfferFact[] {
  if (fetched === undefined) return [];
  const { locked, files, bytes } = fetched.receipt;
  const own = ownLock(fetched);
  const [first = "none", ...others] = (own?.integrity ?? "").split(" ").filter((one) => one !== "");
  const more =
    others.length === 0
      ? ""
      : ` (or that of ${others.length === 1 ? "the other file" : `one of ${others.length} other files`} of this version)`;
  return [
    ["integrity", `${first}${more}`],
    [
      "installed",
      `${counted(locked.length, "package")} in the lock, each with an integrity value; ${counted(files, "file")}, ${megabytes(bytes)}`,
    ],
  ];
}

/** Returns the lock of the package that was asked for. */
export function ownLock({ receipt }: StoredPackage): StoredPackage["receipt"]["locked"][number] | undefined {
  const { packages, locked, kind } = receipt;
  const [first = ""] = packages;
  if (kind === "go") return locked[0];
  const name = /^(@?[^@[=<>!~\s]+)/.exec(first)?.[1] ?? first;
  const plain = kind === "python" ? name.replace(/[-_.]+/g, "-").toLowerCase() : name;
  return locked.find((one) => one.name === plain);
}

/** Bytes as megabytes. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Places of a server that its sandbox shows, or does not show. */
export interface ShownPlaces {
  readonly unseen: readonly UnseenPlace[];
  /** The result of `programFolders`. */
  readonly folders: readonly string[];
  /** Folder that relative paths are relative to. */
  readonly directory: string;
}

/** Returns the containment of a server part by part, and who enforces it. */
export function containmentFacts(
  { transport, containment }: ToolServerConfig,
  status: Pick<SourceStatus, "containment"> | undefined,
  places: ShownPlaces,
): readonly OfferFact[] {
  const { networkEgress, filesystemWrite, maxExecutionSeconds, ...scope } = containment.effective;
  const deadline: OfferFact = ["deadline", `${maxExecutionSeconds} s for each call (by the gateway)`];
  if (transport.kind !== "stdio") {
    return [["containment", "none: it runs elsewhere, and sees what calls send to it"], deadline];
  }
  const tier = status?.containment?.tier ?? "sandbox";
  const unenforced = new Set<string>(status?.containment?.notEnforcedParts ?? []);
  const by = (part: string) => (unenforced.has(part) ? "NOT enforced here" : `by ${tier}`);
  const hosts = scope.egressAllow.join(", ");
  const network = { deny: "none", allow: "any host", scoped: `only ${hosts}` }[networkEgress];
  const written = {
    deny: "nothing",
    allow: "everything of yours",
    scoped: `only ${scope.writePaths.join(", ")}`,
  };
  const { folders, others } = readPlaces(transport.args, scope.readPaths, places);
  const read = [programText(folders), ...others];
  return [
    ["network", `${network} (${by("network_egress")})`],
    ["writes", `${written[filesystemWrite]} (${by("filesystem_write")})`],
    [
      "reads",
      `${read.join(", ")}${folders.length === 0 ? "" : ","} and the system; a HOME of its own${scope.hasState ? ", kept" : ", empty at each start"}`,
    ],
    ...unseenFacts(places.unseen),
    deadline,
  ];
}

/** Returns what the process of a server may reach, in one line; undefined for a server that runs elsewhere. */
export function reachText(
  { transport, containment }: ToolServerConfig,
  places: ShownPlaces,
): string | undefined {
  if (transport.kind !== "stdio") return undefined;
  const { networkEgress, filesystemWrite, egressAllow, writePaths, readPaths } = containment.effective;
  const network = {
    deny: "no network",
    allow: "any host of the network",
    scoped: `of the network only ${egressAllow.join(", ")}`,
  };
  const written = {
    deny: "writes nothing",
    allow: "writes everything of yours",
    scoped: writePaths.length === 0 ? "writes nothing of yours" : `writes only ${writePaths.join(", ")}`,
  };
  const { folders, others } = readPlaces(transport.args, readPaths, places);
  const read = [...folders.slice(0, foldersMaxCount), ...moreText(folders), ...others];
  const reads = read.length === 0 ? "no folder of yours" : `of your folders it reads ${read.join(", ")}`;
  return `${network[networkEgress]}; ${reads}; it ${written[filesystemWrite]}`;
}

/** Returns what a server does not see although its arguments name it. */
export function unseenFacts(unseen: readonly UnseenPlace[]): readonly OfferFact[] {
  return unseen.map(({ problem, hint }) => ["NOT SEEN", `it ${problem}; ${hint}`]);
}

type StdioArguments = Extract<ToolServerConfig["transport"], { kind: "stdio" }>["args"];

/** Folders of a program that are named. */
const foldersMaxCount = 3;

/** Names the program of a server by the folders that are shown for it. */
function programText(folders: readonly string[]): string {
  if (folders.length === 0) return "its program";
  const [noun, pronoun] = folders.length === 1 ? ["folder", "it"] : ["folders", "them"];
  const named = [...folders.slice(0, foldersMaxCount), ...moreText(folders)].join(", ");
  return `the ${noun} ${named} with everything in ${pronoun} (its program)`;
}

function moreText(folders: readonly string[]): readonly string[] {
  const left = folders.length - foldersMaxCount;
  return left > 0 ? [`${left} more`] : [];
}

/** The folders of the program, and what arguments and `read_paths` name outside of them. */
function readPlaces(
  args: StdioArguments,
  readPaths: readonly string[],
  { unseen, folders, directory }: ShownPlaces,
): { readonly folders: readonly string[]; readonly others: readonly string[] } {
  const named = [...new Set([...argumentPaths(args, directory, unseen), ...readPaths])];
  const own = folders.filter((folder) => !named.includes(folder));
  const isInside = (path: string): boolean => own.some((folder) => path.startsWith(`${folder}/`));
  return { folders: own, others: named.filter((path) => !isInside(path)) };
}

/** The files and folders that arguments name and a sandbox shows. */
function argumentPaths(
  args: StdioArguments,
  directory: string,
  unseen: readonly UnseenPlace[],
): readonly string[] {
  const left = new Set(unseen.map(({ path }) => path));
  const named = args.flatMap((one) => (one.kind === "literal" ? pathsInArgument(one.text, directory) : []));
  return named
    .filter(
      ({ path, isExplicit, isWhole }) => (isExplicit || !isWhole) && !left.has(path) && existsSync(path),
    )
    .map(({ path }) => path);
}

/**
 * Prints the definitions with the tokens of each and of all, and the suspicious ones completely, or the beginning of
 * those that are long.
 *
 * @param uncounted number of further definitions
 */
export function printDefinitions(
  output: Output,
  definitions: readonly TriedDefinition[],
  uncounted: number,
): void {
  const tools = definitions.filter(({ kind }) => kind === "tool");
  const others = definitions.length - tools.length;
  const sum = tools.reduce((total, { tokens }) => total + tokens, 0);
  const more =
    others === 0 ? "" : `, and ${counted(others, "other definition")} (prompts, resources, instructions)`;
  output.prose(
    "",
    `${counted(tools.length, "tool")}, about ${sum.toLocaleString("en")} tokens in a list${more}`,
  );
  if (uncounted > 0) {
    const rest = `${uncounted.toLocaleString("en")} more ${uncounted === 1 ? "definition" : "definitions"}`;
    output.print(`It lists ${rest}, which are not counted here.`);
  }
  if (tools.length > 0) {
    output.table(
      [
        { title: "TOOL", paint: (cell) => output.style("cyan", cell) },
        { title: "TOKENS" },
        { title: "DESCRIPTION", canShrink: true },
      ],
      tools
        .slice(0, rowsMaxCount)
        .map(({ name, tokens, definition }) => [
          safeLine(name).slice(0, nameMaxLength),
          String(tokens),
          firstOf(String(definition["description"] ?? "")),
        ]),
    );
  }
  if (tools.length > rowsMaxCount) output.print(`… and ${tools.length - rowsMaxCount} more`);
  const suspicious = suspiciousOf(definitions);
  if (suspicious.length === 0) {
    output.print("", "Nothing in their texts is suspicious.");
    return;
  }
  output.print(
    "",
    `${output.style(["bold", "red"], "Suspicious")}: ${counted(suspicious.length, "definition")}`,
    "",
  );
  for (const { waiting } of suspicious.slice(0, suspiciousMaxCount))
    if (waiting) printSuspicious(output, waiting);
  const left = suspicious.length - suspiciousMaxCount;
  if (left > 0) output.print(`… and ${left} more suspicious ones`);
}

/** Prints a suspicious definition, or the beginning of a long one. */
function printSuspicious(output: Output, waiting: NonNullable<TriedDefinition["waiting"]>): void {
  const text = JSON.stringify(waiting.definition);
  if (text.length <= wholeMaxLength) {
    printDefinition(output, waiting);
    return;
  }
  const description = text.slice(0, beginningMaxLength).toWellFormed();
  const findings = waiting.findings.slice(0, findingsMaxCount);
  printDefinition(output, { ...waiting, definition: { description }, previous: undefined, findings });
  const left = (text.length - description.length).toLocaleString("en");
  output.print(`  … ${left} more characters are not printed here`, "");
}

/** The suspicious definitions that are printed completely. */
export function printedSuspicious(definitions: readonly TriedDefinition[]): readonly TriedDefinition[] {
  return suspiciousOf(definitions)
    .slice(0, suspiciousMaxCount)
    .filter(({ definition }) => JSON.stringify(definition).length <= wholeMaxLength);
}

/** The beginning of a description. */
function firstOf(text: string): string {
  const line = safeLine(text.slice(0, valueMaxLength));
  return line.length > descriptionMaxLength ? `${line.slice(0, descriptionMaxLength)}…` : line;
}

/** The definitions in which something is suspicious. */
export function suspiciousOf(definitions: readonly TriedDefinition[]): readonly TriedDefinition[] {
  return definitions.filter(({ waiting }) => (waiting?.findings.length ?? 0) > 0);
}

/** Returns definitions for `--json`. */
export function jsonDefinitions(definitions: readonly TriedDefinition[]): readonly object[] {
  return definitions.map(({ kind, name, tokens, waiting }) => ({
    kind,
    name,
    tokens,
    findings: (waiting?.findings ?? []).map(({ rule, path, message }) => ({ rule, path, message })),
  }));
}
