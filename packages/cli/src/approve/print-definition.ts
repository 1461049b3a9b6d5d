/**
 * Prints a definition that waits for approval: every text of it, because a model reads every text, or, of a
 * changed one, everything that changed. Foreign text is escaped and indented, so that it cannot pass
 * for output of this command.
 */

import type { InspectedDefinition } from "@toolcrib/admission";
import { changesBetween, isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { counted } from "../output/counted.ts";
import { type Output, safeLine, safeText } from "../output/output.ts";

/** Most changes of one definition that are printed. */
const changesMaxCount = 200;

/** Returns the number of definitions with a noun: `2 tools`, or `3 definitions` where not all are tools. */
export function countedOf(
  definitions: readonly Pick<InspectedDefinition, "kind">[],
  count: number = definitions.length,
): string {
  return counted(count, definitions.every(({ kind }) => kind === "tool") ? "tool" : "definition");
}

/** Lines of definitions, as indented JSON, above which a summary is printed. */
const summaryMinLines = 150;

/** Whether definitions are too long to be read at once. */
export function isLong(definitions: readonly InspectedDefinition[]): boolean {
  const lines = definitions.map(
    ({ definition }) => JSON.stringify(definition, undefined, 1).split("\n").length,
  );
  return lines.reduce((sum, count) => sum + count, 0) > summaryMinLines;
}

/**
 * Prints how many definitions wait and their names, and completely those that changed or are suspicious.
 *
 * @param command the command that shows them
 */
export function printSummary(
  output: Output,
  server: string,
  definitions: readonly InspectedDefinition[],
  command: string,
): void {
  const isMarked = ({ isChanged, findings }: InspectedDefinition) => isChanged || findings.length > 0;
  const marked = definitions.filter(isMarked);
  const others = definitions.filter((one) => !isMarked(one));
  const changed = definitions.filter(({ isChanged }) => isChanged).length;
  const suspicious = definitions.filter(({ findings }) => findings.length > 0).length;
  output.print(
    `${output.style("bold", safeLine(server))}: ${countedOf(definitions)} (${definitions.length - changed} new, ${changed} changed, ${suspicious} suspicious)`,
    "",
  );
  for (const definition of marked) printDefinition(output, definition);
  if (others.length > 0) {
    output.print(`New, and nothing in them is suspicious: ${countedOf(others)}`);
    for (const { name } of others) output.print(`  ${safeLine(name)}`);
    output.prose("", `Read all of their texts: ${command} --full, or of one: --tool NAME`, "");
  }
}

/** Prints one definition. */
export function printDefinition(output: Output, waiting: InspectedDefinition): void {
  const { kind, name, definition, previous, isChanged } = waiting;
  output.print(
    `${output.style("bold", safeLine(name))} ${output.style("yellow", isChanged ? "changed" : "new")}`,
  );
  if (kind === "resources") {
    output.prose(
      "  Approves that the server lists resources. Each of them is shown to clients as it is listed then, labelled as unverified; with pin_resources: true, each waits for approval itself.",
    );
  }
  if (previous !== undefined) printChanges(output, previous, definition);
  else if (kind !== "resources") {
    if (isChanged)
      output.print("  The accepted definition was too large to be kept. This is the whole new one:");
    printAll(output, definition);
  }
  for (const { path, message, evidence } of waiting.findings) {
    const where = path === "" ? "" : ` ${safeLine(path)}:`;
    const shown = evidence === "" ? "" : `: “${safeLine(evidence)}”`;
    output.prose(`  ${output.style(["bold", "red"], "suspicious")}${where} ${safeLine(message)}${shown}`);
  }
  output.print("");
}

function printChanges(output: Output, previous: JsonObject, definition: JsonObject): void {
  const changes = changesBetween(previous, definition, changesMaxCount);
  for (const { path, before, after } of changes) {
    output.print(`  ${output.style("cyan", safeLine(path))}${verbOf({ before, after })}`);
    if (before !== undefined) output.print(output.style("red", marked("-", before)));
    if (after !== undefined) output.print(output.style("green", marked("+", after)));
  }
  if (changes.length === changesMaxCount) output.print("  … more changes are in the output with --json");
}

function verbOf({ before, after }: { readonly before?: JsonValue; readonly after?: JsonValue }): string {
  return before === undefined ? " was added" : after === undefined ? " was removed" : " changed";
}

function printAll(output: Output, { name: _name, description, ...rest }: JsonObject): void {
  if (description !== undefined) output.prose(...indented(textOf(description), "  ").split("\n"));
  printMembers(output, rest);
}

/** Prints every leaf of a JSON object with its path. */
function printMembers(output: Output, value: JsonObject): void {
  for (const [path, leaf] of leavesOf(value))
    output.prose(...`  ${output.style("cyan", safeLine(path))}: ${lineOf(leaf)}`.split("\n"));
}

/** The leaves of a value by their paths; members without content are left out. */
function leavesOf(value: JsonValue | undefined, path = ""): readonly (readonly [string, JsonValue])[] {
  if (value === undefined) return [];
  const isNested =
    isJsonObject(value) || (Array.isArray(value) && value.some((one) => typeof one === "object"));
  if (!isNested) return [[path, value]];
  return Object.entries(value).flatMap(([key, one]) => leavesOf(one, path === "" ? key : `${path}.${key}`));
}

function lineOf(value: JsonValue): string {
  const text = textOf(value);
  return text.includes("\n") ? `\n${indented(text, "      ")}` : safeLine(text);
}

function marked(mark: string, value: JsonValue): string {
  return indented(textOf(value), `    ${mark} `);
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function indented(text: string, by: string): string {
  return safeText(text.trim()).replace(/^/gm, by);
}
