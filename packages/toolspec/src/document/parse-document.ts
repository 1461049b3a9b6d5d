/**
 * A file's text to a checked value: bounds, syntax, shape. YAML 1.2 or JSON.
 * Collects everything that is wrong; throws for no text.
 */

import { type Diagnostic, hasErrors, type Span } from "@toolcrib/diagnostics";
import { type DocumentNode, documentMaxBytes, fieldOf, stringOf } from "./document-tree.ts";
import { readJson } from "./read-json.ts";
import { readPlainYaml } from "./read-plain-yaml.ts";
import { readYaml } from "./read-yaml.ts";
import {
  createReporter,
  type Problem,
  type Reporter,
  type StructureCodes,
  toShownSource,
} from "./reporter.ts";
import type { Shape } from "./shape.ts";

/** A kind of file. */
export interface DocumentKind {
  readonly noun: string;
  readonly codes: StructureCodes;
}

/** What reading a file came to. */
export interface ParsedDocument<T> {
  /** `undefined` where there is an error. */
  readonly value: T | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** A file that was read, whatever is wrong with it. */
export interface OpenDocument {
  readonly reporter: Reporter;
  /** `undefined` for an empty text and for one with syntax errors. */
  readonly tree: DocumentNode | undefined;
}

/** A file as it was read: its text, or its bytes. */
export interface UnreadSource {
  readonly name: string;
  readonly text: string | Uint8Array;
}

/** Read the text of `source` into a tree. JSON where it begins like JSON, unless the name says YAML. */
export function openDocument(source: UnreadSource, kind: DocumentKind): OpenDocument {
  const { noun, codes } = kind;
  const text = readText(source.text, kind);
  if (typeof text !== "string") {
    const reporter = createReporter({ name: source.name, text: "" }, noun, codes);
    reporter.report(text);
    return { reporter, tree: undefined };
  }
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const isJson = /^\s*[{[]/.test(text) && !/\.ya?ml$/i.test(source.name);
  const tree = isJson
    ? readJson(text, codes, report)
    : (readPlainYaml(text) ?? readYaml(text, codes, report));
  const shown = toShownSource({ name: source.name, text }, tree === undefined ? [] : literalFormats(tree));
  const reporter = createReporter(shown, noun, codes);
  if (tree === undefined && problems.length === 0) {
    problems.push({
      code: codes.syntax,
      message: `The ${noun} is empty`,
      hint: "write at least schemaVersion, name and version",
      span: { start: 0, end: 0 },
    });
  }
  for (const problem of problems) reporter.report(problem);
  return { reporter, tree };
}

/** The text without its byte order mark, or what keeps it from being read. */
function readText(given: string | Uint8Array, { noun, codes }: DocumentKind): string | Problem {
  const isTooLong =
    given.length > documentMaxBytes ||
    (typeof given === "string" && new TextEncoder().encode(given).length > documentMaxBytes);
  if (isTooLong) {
    const message = `Cannot read a ${noun} of more than ${documentMaxBytes.toLocaleString("en")} bytes`;
    return { code: codes.fileTooLarge, message, span: { start: 0, end: 0 } };
  }
  if (typeof given === "string") return given.startsWith("\ufeff") ? given.slice(1) : given;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(given);
  } catch {
    const message = `Cannot read the ${noun}: it is not text in UTF-8`;
    return { code: codes.syntax, message, hint: "store the file as UTF-8", span: { start: 0, end: 0 } };
  }
}

/** Check `open` by `shape`. */
export function checkDocument<T>(open: OpenDocument, shape: Shape<T>): T | undefined {
  const { tree, reporter } = open;
  if (tree === undefined) return undefined;
  const value = shape.check(tree, { path: "", key: "", keySpan: tree.span, reporter });
  return hasErrors(reporter.diagnostics) ? undefined : value;
}

/** Formats without a place for the token: people write the secret itself there. */
function literalFormats(tree: DocumentNode): Span[] {
  const credentials = fieldOf(tree, "credentials");
  const holders = [
    fieldOf(tree, "auth"),
    ...(credentials?.kind === "list" ? credentials.items.map((item) => fieldOf(item, "inject")) : []),
  ];
  return holders.flatMap((holder) => {
    return ["format", "pathPrefix"].flatMap((field) => {
      const format = fieldOf(holder, field);
      const written = stringOf(format);
      const isLiteral = written !== undefined && !written.includes("{token}");
      return format !== undefined && isLiteral ? [format.span] : [];
    });
  });
}
