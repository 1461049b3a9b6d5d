/**
 * JSON text to a `ConfigNode`, with what editors allow in their own files: line
 * and block comments, and a comma before a closing bracket. Stops at the first
 * syntax error, because what follows one is guesswork. Nothing is thrown for
 * any text; depth and size are bounded before anything is built.
 */

import { configSyntax, configTooComplex } from "./codes.ts";
import {
  type ConfigEntry,
  type ConfigNode,
  type ConfigScalar,
  configMaxDepth,
  configMaxNodes,
} from "./config-tree.ts";
import { duplicateKey } from "./parse-yaml-tree.ts";
import type { Problem } from "./reporter.ts";

const quoted = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const word = /[A-Za-z_$][\w$]*/y;

/** Where the white space and comments of `text` from `at` on end; a block comment that never ends is not skipped. */
export function skipJsonSpace(text: string, at: number): number {
  let to = at;
  for (;;) {
    const character = text[to];
    if (character === " " || character === "\t" || character === "\r" || character === "\n") {
      to += 1;
    } else if (text.startsWith("//", to)) {
      const end = text.indexOf("\n", to);
      to = end === -1 ? text.length : end;
    } else if (text.startsWith("/*", to)) {
      const end = text.indexOf("*/", to + 2);
      if (end === -1) return to;
      to = end + 2;
    } else {
      return to;
    }
  }
}

/** The tree of `text`; `undefined` for an empty text and when `report` was told of a syntax error. */
export function parseJsonTree(text: string, report: (problem: Problem) => void): ConfigNode | undefined {
  const reader = createReader(text, report);
  return reader();
}

function createReader(text: string, report: (problem: Problem) => void): () => ConfigNode | undefined {
  let at = 0;
  let count = 0;

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  }

  function fail(message: string, hint?: string, code = configSyntax): undefined {
    const start = Math.min(at, Math.max(0, text.trimEnd().length - 1));
    report({ code, message, hint, span: { start, end: start + 1 } });
    return undefined;
  }

  function readValue(depth: number): ConfigNode | undefined {
    count += 1;
    if (count > configMaxNodes) {
      return fail(
        `Cannot read the configuration: it has more than ${configMaxNodes} values`,
        undefined,
        configTooComplex,
      );
    }
    if (depth > configMaxDepth) {
      return fail(
        `Cannot read the configuration: it nests deeper than ${configMaxDepth} levels`,
        undefined,
        configTooComplex,
      );
    }
    const start = at;
    if (text[at] === "{") return readMap(start, depth);
    if (text[at] === "[") return readList(start, depth);
    if (text[at] === '"') return readString();
    const digits = match(number);
    if (digits !== undefined && digits !== "") return scalar(start, Number(digits), digits);
    return readWord(start);
  }

  function scalar(start: number, value: ConfigScalar["value"], asText: string): ConfigScalar {
    return { kind: "scalar", span: { start, end: at }, value, text: asText };
  }

  function readWord(start: number): ConfigNode | undefined {
    const found = match(word);
    if (found === "true" || found === "false") return scalar(start, found === "true", found);
    if (found === "null") return scalar(start, null, "");
    at = start;
    if (at >= text.length)
      return fail("The JSON text ends where a value belongs", "look for a bracket that is not closed");
    return fail(
      "Cannot read this JSON value",
      "texts stand in double quotes; the rest is true, false, null, a number, {…} or […]",
    );
  }

  function readString(): ConfigScalar | undefined {
    const start = at;
    const found = match(quoted);
    if (found !== undefined) {
      const value = JSON.parse(found) as string;
      return scalar(start, value, value);
    }
    return fail(
      "Cannot read this JSON text: its closing quote is missing, or it holds a line break or a bad escape",
      "write \\n for a line break and \\\\ for a backslash",
    );
  }

  function readList(start: number, depth: number): ConfigNode | undefined {
    const items: ConfigNode[] = [];
    const isComplete = readItems("]", () => {
      const item = readValue(depth + 1);
      if (item !== undefined) items.push(item);
      return item !== undefined;
    });
    return isComplete ? { kind: "list", span: { start, end: at }, items } : undefined;
  }

  function readMap(start: number, depth: number): ConfigNode | undefined {
    const entries = new Map<string, ConfigEntry>();
    const isComplete = readItems("}", () => {
      if (text[at] !== '"') {
        fail("Expected a field name in double quotes", `write "name": value`);
        return false;
      }
      const key = readString();
      if (key === undefined) return false;
      at = skipJsonSpace(text, at);
      if (text[at] !== ":") {
        fail('Expected ":" after the field name');
        return false;
      }
      at += 1;
      at = skipJsonSpace(text, at);
      const value = readValue(depth + 1);
      if (value === undefined) return false;
      if (entries.has(key.text)) report(duplicateKey(key.text, key.span));
      else entries.set(key.text, { key: key.text, keySpan: key.span, value });
      return true;
    });
    return isComplete ? { kind: "map", span: { start, end: at }, entries: [...entries.values()] } : undefined;
  }

  /** From the opening bracket to past the closing one. */
  function readItems(closing: string, readItem: () => boolean): boolean {
    at += 1;
    for (;;) {
      at = skipJsonSpace(text, at);
      if (text[at] === closing) break;
      if (!readItem()) return false;
      at = skipJsonSpace(text, at);
      if (text[at] === ",") at += 1;
      else if (text[at] !== closing) {
        fail(
          `Expected "," or "${closing}" after the value`,
          "look for a missing comma or bracket just before",
        );
        return false;
      }
    }
    at += 1;
    return true;
  }

  return () => {
    at = skipJsonSpace(text, at);
    if (at >= text.length) return undefined;
    const root = readValue(1);
    if (root === undefined) return undefined;
    at = skipJsonSpace(text, at);
    if (at < text.length) return fail("Cannot read what follows the JSON value", "one value makes a file");
    return root;
  };
}
