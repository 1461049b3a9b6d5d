/**
 * Checks the explanations of `toolcrib explain`: each code of a `codes.ts` has one in the area of its
 * package, each explanation has a code, and the message of an example that no test runs is one of the
 * sources: a template or text that the message contains, with anything in the place of its values.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import {
  isNoSubstitutionTemplateLiteral,
  isPropertyAssignment,
  isStringLiteral,
  isTemplateExpression,
  type Node,
} from "typescript/unstable/ast";
import { type ErrorCode, readErrorCodes } from "./error-codes.ts";
import { spanOf, visitNodes } from "./syntax.ts";
import type { Workspace, WorkspaceFile } from "./workspace.ts";

const areaFolder = "packages/cli/src/explain/areas/";
/** Areas whose codes are in no `codes.ts`: numbers of JSON-RPC and types of records. */
const otherAreas: ReadonlySet<string> = new Set(["protocol", "events"]);
/** Least letters of a text that make it recognizable within a message, and as the whole of it. */
const partMinLength = 8;
const wholeMinLength = 5;

/** One explanation as its file has it. */
interface Entry {
  readonly code: string;
  readonly area: string;
  readonly source: WorkspaceFile;
  readonly name: Node;
  /** The message of an example that no test runs. */
  readonly prints?: { readonly text: string; readonly node: Node };
}

/** Returns every disagreement between explanations, codes and messages. */
export function checkExplanations(workspace: Workspace): Diagnostic[] {
  const { codes } = readErrorCodes(workspace);
  const entries = readEntries(workspace);
  const entryOf = new Map(entries.map((entry) => [entry.code, entry]));
  const known = new Map(codes.map((code) => [code.code, code]));
  return [
    ...codes.flatMap((code) => checkExplained(code, entryOf.get(code.code))),
    ...entries.flatMap((entry) => checkKnown(entry, known)),
    ...checkWordings(workspace, entries),
  ];
}

function checkExplained({ code, folder, source, span }: ErrorCode, entry: Entry | undefined): Diagnostic[] {
  if (entry?.area === folder) return [];
  const path = `${areaFolder}${folder}.ts`;
  const message =
    entry === undefined
      ? `"${code}" has no explanation in ${path}`
      : `The explanation of "${code}" is in ${entry.area}.ts and belongs into ${path}`;
  const hint =
    entry === undefined
      ? `add, and then run npm run docs: ${code}: { cause: "Why it happens.", did: "What was done.", prints: "The message\\nthe hint", unrun: "setup", fix: "The steps." }; or, where one command produces it: files: { "toolcrib.yaml": "…" }, run: "toolcrib config check toolcrib.yaml" instead of did, prints and unrun, and then npm test -- packages/cli/test/explain-examples.process.test.ts --update. A new package needs its line in packages/cli/src/explain/areas.ts`
      : "move it";
  return [{ severity: "error", code: "EXPLANATION_MISSING", message, hint, source, span }];
}

function checkKnown({ code, area, source, name }: Entry, known: ReadonlyMap<string, unknown>): Diagnostic[] {
  if (otherAreas.has(area) || known.has(code)) return [];
  const message = `"${code}" is explained and listed in no codes.ts`;
  const hint = "remove the explanation, or list the code";
  return [{ severity: "error", code: "EXPLANATION_UNKNOWN", message, hint, source, span: spanOf(name) }];
}

function readEntries({ packages }: Workspace): Entry[] {
  const cli = packages.find(({ folder }) => folder === "cli");
  const entries: Entry[] = [];
  for (const source of cli?.src.filter(({ name }) => name.startsWith(areaFolder)) ?? []) {
    const area = source.name.slice(areaFolder.length, -".ts".length);
    visitNodes(source.syntax, (node) => {
      if (!isPropertyAssignment(node) || depthOf(node) !== 1) return;
      let prints: Entry["prints"];
      visitNodes(node, (inner) => {
        if (!isPropertyAssignment(inner) || inner.name.getText() !== "prints") return;
        const value = inner.initializer;
        if (isStringLiteral(value) || isNoSubstitutionTemplateLiteral(value))
          prints = { text: value.text, node: value };
      });
      const code = isStringLiteral(node.name) ? node.name.text : node.name.getText();
      entries.push({ code, area, source, name: node.name, prints });
    });
  }
  return entries;
}

/** The number of objects around a property. */
function depthOf(node: Node): number {
  let depth = 0;
  for (let at: Node | undefined = node; at !== undefined; at = at.parent)
    if (isPropertyAssignment(at)) depth += 1;
  return depth;
}

function checkWordings(workspace: Workspace, entries: readonly Entry[]): Diagnostic[] {
  const patterns = workspace.packages.flatMap(({ src }) =>
    src.filter(({ name }) => !name.startsWith(areaFolder)).flatMap(patternsOf),
  );
  return entries.flatMap(({ code, area, source, prints }) => {
    // An example in JSON is a message or record as a client or the trail has it.
    if (prints === undefined || otherAreas.has(area) || prints.text.startsWith("{")) return [];
    const [line = ""] = prints.text.split("\n");
    if (patterns.some((pattern) => pattern.test(line))) return [];
    const message = `The example of "${code}" prints a message that is not in the sources: ${line}`;
    const hint = "copy the wording from where the error is made, with example values";
    const span = spanOf(prints.node);
    return [{ severity: "error" as const, code: "EXPLANATION_WORDING", message, hint, source, span }];
  });
}

/** Returns a pattern for each text of a file that can be recognized. */
function patternsOf(file: WorkspaceFile): RegExp[] {
  const patterns: RegExp[] = [];
  const add = (parts: readonly string[]) => {
    const letters = parts.join("").replace(/[^A-Za-z]/g, "").length;
    if (letters < wholeMinLength) return;
    const pattern = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join(".*");
    patterns.push(new RegExp(letters < partMinLength ? `^${pattern}$` : pattern));
  };
  visitNodes(file.syntax, (node) => {
    if (isTemplateExpression(node))
      add([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)]);
    else if ((isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)) && node.text.includes(" "))
      add([node.text]);
  });
  return patterns;
}
