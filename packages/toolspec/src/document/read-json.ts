/**
 * JSON text to a tree. Strict JSON (RFC 8259); stops at the first syntax error,
 * because what follows one is guesswork. Nothing is thrown for any text; depth
 * and size are bounded before anything is built.
 */

import {
  type DocumentNode,
  documentMaxDepth,
  documentMaxNodes,
  type MapEntry,
  type ScalarNode,
} from "./document-tree.ts";
import { duplicateKey } from "./read-yaml.ts";
import type { Problem, StructureCodes } from "./reporter.ts";

const quoted = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const word = /(?:true|false|null)(?![\w$])/y;
const space = /[ \t\r\n]*/y;

/** A syntax error; it never leaves this file. */
class Unreadable extends Error {}

/** The tree of `text`; `undefined` for an empty text and when `report` was told of a syntax error. */
export function readJson(
  text: string,
  codes: StructureCodes,
  report: (problem: Problem) => void,
): DocumentNode | undefined {
  let at = 0;
  let count = 0;

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  }

  function fail(message: string, hint?: string, code = codes.syntax): never {
    const start = Math.min(at, Math.max(0, text.trimEnd().length - 1));
    report({ code, message, hint, span: { start, end: start + 1 } });
    throw new Unreadable();
  }

  function readValue(depth: number): DocumentNode {
    count += 1;
    const isTooMany = count > documentMaxNodes;
    if (isTooMany || depth > documentMaxDepth) {
      const state = isTooMany
        ? `it has more than ${documentMaxNodes.toLocaleString("en")} values`
        : `it nests deeper than ${documentMaxDepth} levels`;
      return fail(`Cannot read the file: ${state}`, undefined, codes.tooComplex);
    }
    const start = at;
    if (text[at] === "{") return readMap(start, depth);
    if (text[at] === "[") return readList(start, depth);
    if (text[at] === '"') return readString();
    const digits = match(number);
    if (digits !== undefined) return scalar(start, Number(digits), digits);
    const found = match(word);
    if (found !== undefined) return scalar(start, JSON.parse(found) as boolean | null, found);
    if (at >= text.length)
      return fail("The JSON text ends where a value belongs", "look for a bracket that is not closed");
    return fail("Cannot read this JSON value", "texts stand in double quotes; comments are not JSON");
  }

  function scalar(start: number, value: ScalarNode["value"], asText: string): ScalarNode {
    return { kind: "scalar", span: { start, end: at }, value, text: asText, isPlain: false };
  }

  function readString(): ScalarNode {
    const start = at;
    const found = match(quoted);
    if (found === undefined) {
      return fail(
        "Cannot read this JSON text: its closing quote is missing, or it holds a line break or a bad escape",
        "write \\n for a line break and \\\\ for a backslash",
      );
    }
    const value = JSON.parse(found) as string;
    return scalar(start, value, value);
  }

  function readList(start: number, depth: number): DocumentNode {
    const items: DocumentNode[] = [];
    readItems("]", () => items.push(readValue(depth + 1)));
    return { kind: "list", span: { start, end: at }, items };
  }

  function readMap(start: number, depth: number): DocumentNode {
    const entries = new Map<string, MapEntry>();
    readItems("}", () => {
      if (text[at] !== '"') fail("Expected a field name in double quotes", 'write "name": value');
      const key = readString();
      match(space);
      if (text[at] !== ":") fail('Expected ":" after the field name');
      at += 1;
      match(space);
      const value = readValue(depth + 1);
      if (entries.has(key.text)) report(duplicateKey(codes, key.text, key.span));
      else entries.set(key.text, { key: key.text, keySpan: key.span, value });
    });
    return { kind: "map", span: { start, end: at }, entries: [...entries.values()] };
  }

  /** From the opening bracket to past the closing one. */
  function readItems(closing: string, readItem: () => void): void {
    at += 1;
    match(space);
    if (text[at] !== closing) {
      for (;;) {
        readItem();
        match(space);
        if (text[at] === closing) break;
        if (text[at] !== ",")
          fail(`Expected "," or "${closing}" after the value`, "look for a missing comma or bracket");
        at += 1;
        match(space);
      }
    }
    at += 1;
  }

  try {
    match(space);
    if (at >= text.length) return undefined;
    const root = readValue(1);
    match(space);
    return at < text.length
      ? fail("Cannot read what follows the JSON value", "one value makes a file")
      : root;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}
