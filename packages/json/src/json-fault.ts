/**
 * Where a text stops being JSON. Engines name the place for some mistakes and
 * not for others, so it is looked for here, by the grammar of RFC 8259 and
 * without building anything. It never recurses: a million brackets are a scan.
 */

import type { Span } from "@toolcrib/diagnostics";

const space = /[ \t\r\n]*/y;
const unescaped = /[^"\\\x00-\x1f]+/y;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const word = /[A-Za-z_$][\w$]*/y;

/**
 * The first place at which no JSON document can go on as `source` does: one
 * character or a whole word, or the last character when the end comes too soon.
 *
 * @returns `undefined` when `source` is JSON.
 */
export function findJsonFault(source: string): Span | undefined {
  let at = 0;
  /** Closing brackets that are awaited, the innermost last. */
  const open: ("]" | "}")[] = [];

  function skip(pattern: RegExp): number {
    pattern.lastIndex = at;
    const { length } = pattern.exec(source)?.[0] ?? "";
    at += length;
    return length;
  }

  function skipText(): boolean {
    if (source[at] !== '"') return false;
    at += 1;
    // A loop and not one pattern: that would need a stack as long as the text.
    while (skip(unescaped) > 0 || skip(escaped) > 0);
    if (source[at] !== '"') return false;
    at += 1;
    return true;
  }

  /** From before a field name to before its value. */
  function skipKey(): boolean {
    skip(space);
    if (!skipText()) return false;
    skip(space);
    if (source[at] !== ":") return false;
    at += 1;
    return true;
  }

  /** A value without parts, or the opening of one with parts: then the first part is next. */
  function skipValue(): "value" | "opening" | "fault" {
    skip(space);
    const character = source[at];
    if (character === "{" || character === "[") {
      at += 1;
      open.push(character === "{" ? "}" : "]");
      return "opening";
    }
    if (character === '"') return skipText() ? "value" : "fault";
    const start = at;
    if (skip(word) > 0) {
      if (["true", "false", "null"].includes(source.slice(start, at))) return "value";
      at = start;
      return "fault";
    }
    return skip(number) > 0 ? "value" : "fault";
  }

  /** After a value: everything that it ends, up to where the next value begins or the document is over. */
  function skipEnds(isFirst: boolean): "next" | "end" | "fault" {
    for (let first = isFirst; ; first = false) {
      skip(space);
      const closing = open.at(-1);
      if (closing === undefined) return at === source.length ? "end" : "fault";
      if (source[at] === closing) {
        at += 1;
        open.pop();
        continue;
      }
      if (!first) {
        if (source[at] !== ",") return "fault";
        at += 1;
      }
      return closing === "]" || skipKey() ? "next" : "fault";
    }
  }

  for (;;) {
    const found = skipValue();
    const then = found === "fault" ? "fault" : skipEnds(found === "opening");
    if (then === "end") return undefined;
    if (then === "fault") return faultAt(source, at);
  }
}

function faultAt(source: string, at: number): Span {
  word.lastIndex = at;
  const start = Math.min(at, Math.max(0, source.trimEnd().length - 1));
  const length = word.exec(source)?.[0].length ?? 1;
  return { start, end: start + (start === at ? Math.max(1, length) : 1) };
}
