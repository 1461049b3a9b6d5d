/**
 * Checks the explanations of `toolcrib explain`: each code of a `codes.ts` has one in the area of its
 * package, and each explanation has a code. The message of an example that does not run is one of the
 * sources: a template or text that the message contains, with anything in the place of its values. And
 * the file that its `tested` names is a test that has the code or a part of the message in a text or
 * pattern, outside of comments. That the test expects the error there, and not its absence, is up to the
 * author and the review: it is not checked.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import {
  isNoSubstitutionTemplateLiteral,
  isPropertyAssignment,
  isRegularExpressionLiteral,
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
/** Least letters of several words in a test that are recognizable within a message. */
const phraseMinLength = 14;

/** Codes that nothing provokes in a test or example: this list only becomes shorter. */
const untested: ReadonlySet<string> = new Set<string>([]);

/** One explanation as its file has it. */
interface Entry {
  readonly code: string;
  readonly area: string;
  readonly source: WorkspaceFile;
  readonly name: Node;
  /** The message of an example that does not run, and the path of the test that provokes it. */
  readonly prints?: Text | undefined;
  readonly tested?: Text | undefined;
  /** The reason why it does not run. */
  readonly unrun?: string | undefined;
}

interface Text {
  readonly text: string;
  readonly node: Node;
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
    ...checkTested(workspace, entries),
    ...checkUntested(entries),
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
      const texts = new Map<string, Text>();
      visitNodes(node, (inner) => {
        if (!isPropertyAssignment(inner)) return;
        const value = inner.initializer;
        if (isStringLiteral(value) || isNoSubstitutionTemplateLiteral(value))
          texts.set(inner.name.getText(), { text: value.text, node: value });
      });
      const code = isStringLiteral(node.name) ? node.name.text : node.name.getText();
      const [prints, tested] = [texts.get("prints"), texts.get("tested")];
      entries.push({ code, area, source, name: node.name, prints, tested, unrun: texts.get("unrun")?.text });
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

/** Returns a finding for each example that does not run, and whose code no test provokes. */
function checkTested(workspace: Workspace, entries: readonly Entry[]): Diagnostic[] {
  const tests = new Map(workspace.packages.flatMap(({ test }) => test.map((file) => [file.name, file])));
  return entries.flatMap(({ code, source, name, prints, tested, unrun }) => {
    if (prints === undefined || (unrun === "untested" && tested === undefined)) return [];
    const file = tested === undefined ? undefined : tests.get(tested.text);
    const isTest = file !== undefined && /(?:\.test|-contract)\.ts$/.test(file.name);
    if (isTest && mentions(file, code, prints.text)) return [];
    const message = isTest
      ? `The test of "${code}" has neither the code nor a part of its message: ${file.name}`
      : `The example of "${code}" does not run, and names no test that provokes the code`;
    const hint = `tested: "packages/…/test/….test.ts", a file that expects "${code}" or the message of prints`;
    const span = spanOf(tested?.node ?? name);
    return [{ severity: "error" as const, code: "EXPLANATION_UNTESTED", message, hint, source, span }];
  });
}

/** Returns a finding where more examples than the list has are neither run nor provoked by a test, or fewer. */
function checkUntested(entries: readonly Entry[]): Diagnostic[] {
  return entries.flatMap(({ code, source, name, unrun }) => {
    if ((unrun === "untested") === untested.has(code)) return [];
    const message =
      unrun === "untested"
        ? `The example of "${code}" is "untested", and not in the list of those that may be`
        : `"${code}" is in the list of untested examples, and its example has another reason, or runs`;
    const hint =
      unrun === "untested"
        ? "write an example that runs, or name the test that provokes the code"
        : "remove it from untested in scripts/explanations.ts";
    const span = spanOf(name);
    return [{ severity: "error" as const, code: "EXPLANATION_UNTESTED", message, hint, source, span }];
  });
}

/** Whether a text or pattern of a test is the code, or recognizable as a part of its message. What the test does with it is not read. */
function mentions(file: WorkspaceFile, code: string, prints: string): boolean {
  const [line = "", ...hints] = prints.split("\n");
  const messages = prints.startsWith("{") ? [] : [line, ...hints];
  let isFound = false;
  visitNodes(file.syntax, (node) => {
    const texts =
      isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node)
        ? [node.text]
        : isTemplateExpression(node)
          ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)]
          : [];
    for (const text of texts) {
      isFound ||= new RegExp(`(?<![\\w.])${code.replaceAll(".", "\\.")}(?![\\w.])`).test(text);
      isFound ||= isPhrase(text) && messages.some((message) => message.includes(text));
    }
    if (isRegularExpressionLiteral(node)) {
      const text = node.getText();
      isFound ||= new RegExp(`(?<!\\w)${code}(?!\\w)`).test(text);
      // Of a pattern with alternatives, one alternative is enough.
      const body = text.slice(1, text.lastIndexOf("/"));
      isFound ||= body
        .split("|")
        .some((part) => isPhrase(part) && messages.some((message) => matchesPart(part, message)));
    }
  });
  return isFound;
}

/** Whether a text has several words, so that it is in few messages. */
function isPhrase(text: string): boolean {
  return text.includes(" ") && text.replace(/[^A-Za-z]/g, "").length >= phraseMinLength;
}

function matchesPart(pattern: string, message: string): boolean {
  try {
    return new RegExp(pattern).test(message);
  } catch {
    // A part of a group is no pattern.
    return false;
  }
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
