/**
 * Reads the text of a file into a tree, and the tree into a checked value. YAML
 * 1.2 or JSON. Collects all faults; never throws, for any text.
 */

import { hasErrors, type Source } from "@toolcrib/diagnostics";
import { DocumentBuilder } from "./build-document.ts";
import type { DocumentKind } from "./document-kind.ts";
import { type DocumentNode, documentMaxBytes, documentMaxDepth, documentMaxNodes } from "./document-tree.ts";
import { readFastYaml } from "./read-fast-yaml.ts";
import { readJson, skipJsonSpace } from "./read-json.ts";
import { duplicateKey, readYaml } from "./read-yaml.ts";
import { type Problem, Reporter } from "./reporter.ts";
import type { Shape } from "./shape.ts";
import { secretSpans, starOut } from "./shown-text.ts";
import { Unreadable } from "./unreadable.ts";

/** A file before parsing: its text, or its bytes. */
export interface UnreadSource {
  readonly name: string;
  readonly text: string | Uint8Array;
}

/** A document after reading, with or without faults. */
export interface OpenDocument {
  /** The findings so far, and the displayable text. */
  readonly reporter: Reporter;
  /** `undefined` for an empty text and for one with syntax errors. */
  readonly tree: DocumentNode | undefined;
}

type Report = (problem: Problem) => void;

/** Reads the text of `source` into a tree. A text that begins like JSON is JSON, unless its name ends in .yaml or .yml. */
export function openDocument(source: UnreadSource, kind: DocumentKind): OpenDocument {
  const text = readText(source.text, kind);
  if (typeof text !== "string") {
    const reporter = new Reporter({ name: source.name, text: "" }, kind);
    reporter.report(text);
    return { reporter, tree: undefined };
  }
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const tree = isJson(source.name, text, kind)
    ? readJsonTree(text, kind, report)
    : (readPlainJson(text) ?? readPlainYaml(text) ?? readYaml(text, kind, report));
  const given = { name: source.name, text };
  const reporter = new Reporter(kind.toShown?.(given, tree) ?? withoutSecrets(given), kind);
  if (tree === undefined && problems.length === 0 && kind.emptyHint !== undefined) {
    const message = `The ${kind.noun} is empty`;
    report({ code: kind.codes.syntax, message, hint: kind.emptyHint, span: { start: 0, end: 0 } });
  }
  for (const problem of problems) reporter.report(problem);
  return { reporter, tree };
}

/** Checks `open` by `shape`; returns `undefined` when there is an error. */
export function checkDocument<T>(open: OpenDocument, shape: Shape<T>): T | undefined {
  const { tree, reporter } = open;
  if (tree === undefined) return undefined;
  const value = shape.check(tree, { path: "", key: "", keySpan: tree.span, reporter });
  return hasErrors(reporter.diagnostics) ? undefined : value;
}

/** Returns the finding for a document of more than `documentMaxBytes`. */
export function tooLarge({ noun, codes, tooLargeHint }: DocumentKind): Problem {
  const message = `Cannot read a ${noun} of more than ${documentMaxBytes.toLocaleString("en")} bytes`;
  return { code: codes.fileTooLarge, message, hint: tooLargeHint };
}

/** Returns the finding for a document that is not UTF-8. */
export function notUtf8({ noun, codes }: DocumentKind): Problem {
  const message = `Cannot read the ${noun}: it is not text in UTF-8`;
  return { code: codes.syntax, message, hint: "store the file as UTF-8" };
}

/** Returns the text without its byte order mark, or the reason why it cannot be read. */
function readText(given: string | Uint8Array, kind: DocumentKind): string | Problem {
  const isTooLong =
    given.length > documentMaxBytes ||
    (typeof given === "string" &&
      // No character takes more than three bytes.
      given.length * 3 > documentMaxBytes &&
      new TextEncoder().encode(given).length > documentMaxBytes);
  if (isTooLong) return tooLarge(kind);
  if (typeof given === "string") return given.startsWith("\ufeff") ? given.slice(1) : given;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(given);
  } catch {
    return notUtf8(kind);
  }
}

function isJson(name: string, text: string, { allowsComments = false }: DocumentKind): boolean {
  const first = text[skipJsonSpace(text, 0, allowsComments)];
  return !/\.ya?ml$/i.test(name) && (first === "{" || first === "[");
}

function readJsonTree(text: string, kind: DocumentKind, report: Report): DocumentNode | undefined {
  const builder = new DocumentBuilder((key, span) => report(duplicateKey(kind, key, span)));
  const { noun, codes, allowsComments } = kind;
  const limits = { noun, maxDepth: documentMaxDepth, maxNodes: documentMaxNodes };
  const reading = readJson(text, builder, { ...limits, allowsComments });
  if (reading.kind === "read") return reading.root;
  const { message, hint, span } = reading.fault;
  report({ code: codes[reading.fault.kind], message, hint, span });
  return undefined;
}

/** Returns the tree of a YAML `text` that is also JSON; `undefined` for any other text. */
function readPlainJson(text: string): DocumentNode | undefined {
  const first = text[skipJsonSpace(text, 0, false)];
  if (first !== "{" && first !== "[") return undefined;
  const reading = readJson(text, plainBuilder(), { ...plainLimits, allowsComments: false });
  return reading.kind === "read" ? reading.root : undefined;
}

const plainLimits = { noun: "text", maxDepth: documentMaxDepth, maxNodes: documentMaxNodes };

function plainBuilder(): DocumentBuilder {
  return new DocumentBuilder(() => {
    throw new Unreadable("syntax", "The library reports repeated fields", 0);
  });
}

/** Returns the tree of a YAML `text` that the fast reader supports; `undefined` when the library has to read it. */
function readPlainYaml(text: string): DocumentNode | undefined {
  try {
    return readFastYaml(text, plainBuilder(), { ...plainLimits, isExact: true });
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

function withoutSecrets({ name, text }: Source): Source {
  return { name, text: starOut(text, secretSpans(text)) };
}
