/**
 * The YAML that catalogues are written in, read quickly: block maps and lists,
 * flow maps and lists on one line, texts on one line, comments. Whatever else a
 * text has (anchors, tags, block scalars, several lines, a fault of any kind)
 * makes the whole text one for the library: this reader gives `undefined`, and
 * never a tree that the library would not give. A catalogue of two hundred
 * services is read when a gateway starts; the library takes ten times as long.
 */

import {
  type DocumentNode,
  documentMaxDepth,
  documentMaxNodes,
  type ListNode,
  type MapEntry,
  type MapNode,
  type ScalarNode,
} from "./document-tree.ts";

/** The text is not in this subset; it never leaves this file. */
class Outside extends Error {}

/** A line that has more than a comment. `indent` is the column of `start`. */
interface Line {
  readonly start: number;
  readonly end: number;
  readonly indent: number;
}

const key = /([A-Za-z_$][\w$.[\]-]*):(?: +|(?=\n)|$)/y;
const flowKey = /(?:([A-Za-z_$][\w$.-]*)|"([^"\\]*)"): */y;
const doubleQuoted = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const singleQuoted = /'(?:[^']|'')*'/y;
/** Where a text without quotes may begin; the rest are indicators. */
const plainStart = /[^\s\-?:,[\]{}#&*!|>'"%@`]|[-?:](?=[^\s,[\]{}])/y;
/** What the core schema reads as something else than a text. */
const otherThanText =
  /^(?:~|null|true|false|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-f]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:e[-+]?[0-9]+)?|[-+]?\.inf|\.nan)$/i;
const plainInteger = /^(?:0|-?[1-9][0-9]{0,14})$/;

/** The tree of `text`, or `undefined` where the text is outside the subset. */
export function readPlainYaml(text: string): DocumentNode | undefined {
  if (/[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\u{10000}-\u{10ffff}]/u.test(text)) return undefined;
  try {
    return createReader(text)();
  } catch (error) {
    if (error instanceof Outside) return undefined;
    throw error;
  }
}

function outside(): never {
  throw new Outside();
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  for (let from = 0; from < text.length; ) {
    const found = text.indexOf("\n", from);
    const end = found === -1 ? text.length : found;
    let start = from;
    while (start < end && text[start] === " ") start += 1;
    if (start < end && text[start] !== "#") lines.push({ start, end, indent: start - from });
    from = end + 1;
  }
  return lines;
}

function createReader(text: string): () => DocumentNode {
  const lines = linesOf(text);
  let index = 0;
  let count = 0;

  function match(pattern: RegExp, at: number): RegExpExecArray | undefined {
    pattern.lastIndex = at;
    return pattern.exec(text) ?? undefined;
  }

  function step(depth: number): void {
    count += 1;
    if (depth > documentMaxDepth || count > documentMaxNodes) outside();
  }

  function line(): Line {
    return lines[index] ?? outside();
  }

  function isItem({ start, end }: Line): boolean {
    return text[start] === "-" && (start + 1 === end || text[start + 1] === " ");
  }

  /** A block at the current line. */
  function readBlock(depth: number): DocumentNode {
    return isItem(line()) ? readList(depth) : readMap(depth);
  }

  function readMap(depth: number): MapNode {
    step(depth);
    const { indent, start } = line();
    const entries = new Map<string, MapEntry>();
    let end = start;
    while (index < lines.length && line().indent === indent && !isItem(line())) {
      const entry = readEntry(depth);
      if (entries.has(entry.key)) outside();
      entries.set(entry.key, entry);
      end = entry.value.span.end;
    }
    if (index < lines.length && line().indent > indent) outside();
    return { kind: "map", span: { start, end }, entries: [...entries.values()] };
  }

  function readEntry(depth: number): MapEntry {
    const own = line();
    const found = match(key, own.start);
    const name = found?.[1] ?? "";
    const from = own.start + (found?.[0].length ?? 0);
    if (found === undefined || from > own.end || otherThanText.test(name)) outside();
    const keySpan = { start: own.start, end: own.start + name.length };
    if (from < own.end && text[from] !== "#")
      return { key: name, keySpan, value: readInline(from, own, depth + 1) };
    index += 1;
    const next = line();
    if (next.indent > own.indent || (next.indent === own.indent && isItem(next)))
      return { key: name, keySpan, value: readBlock(depth + 1) };
    return outside();
  }

  function readList(depth: number): ListNode {
    step(depth);
    const { indent, start } = line();
    const items: DocumentNode[] = [];
    let end = start;
    while (index < lines.length && line().indent === indent && isItem(line())) {
      const item = readItem(depth);
      items.push(item);
      end = item.span.end;
    }
    if (index < lines.length && line().indent > indent) outside();
    return { kind: "list", span: { start, end }, items };
  }

  function readItem(depth: number): DocumentNode {
    const own = line();
    let from = own.start + 1;
    while (from < own.end && text[from] === " ") from += 1;
    if (from >= own.end || text[from] === "#" || text[from] === "-") outside();
    const isMap = match(key, from) !== undefined;
    if (!isMap) return readInline(from, own, depth + 1);
    // A map that begins behind the dash stands as if the dash were a space.
    lines[index] = { start: from, end: own.end, indent: own.indent + from - own.start };
    return readMap(depth + 1);
  }

  /** A value that ends on its line; nothing of it may follow on the next. */
  function readInline(from: number, { end, indent }: Line, depth: number): DocumentNode {
    const value = readValue(from, end, depth, false);
    let rest = value.span.end;
    while (rest < end && text[rest] === " ") rest += 1;
    const isComment = text[rest] === "#" && rest > value.span.end;
    if (rest < end && !isComment) outside();
    index += 1;
    if (index < lines.length && line().indent > indent) outside();
    return value;
  }

  function readValue(from: number, end: number, depth: number, isFlow: boolean): DocumentNode {
    const first = text[from];
    if (first === "{") return readFlowMap(from, end, depth);
    if (first === "[") return readFlowList(from, end, depth);
    step(depth);
    if (first === '"' || first === "'") return readQuoted(from, end, first);
    return readPlain(from, end, isFlow);
  }

  function readQuoted(from: number, end: number, mark: string): ScalarNode {
    const found = match(mark === '"' ? doubleQuoted : singleQuoted, from)?.[0] ?? outside();
    if (from + found.length > end) outside();
    const value = mark === '"' ? (JSON.parse(found) as string) : found.slice(1, -1).replaceAll("''", "'");
    const span = { start: from, end: from + found.length };
    return { kind: "scalar", span, value, text: value, isPlain: false };
  }

  function readPlain(from: number, lineEnd: number, isFlow: boolean): ScalarNode {
    if (match(plainStart, from) === undefined) outside();
    let end = from;
    for (; end < lineEnd; end += 1) {
      const unit = text[end] ?? "";
      if (isFlow && (unit === "," || unit === "]" || unit === "}")) break;
      if (isFlow && (unit === "[" || unit === "{")) outside();
      if (unit === "#" && text[end - 1] === " ") break;
      if (unit === ":") {
        const next = end + 1 < lineEnd ? text[end + 1] : " ";
        if (next === " " || (isFlow && /[,[\]{}]/.test(next ?? ""))) outside();
      }
    }
    while (text[end - 1] === " ") end -= 1;
    const written = text.slice(from, end);
    const scalar = { kind: "scalar", span: { start: from, end }, text: written, isPlain: true } as const;
    if (!otherThanText.test(written)) return { ...scalar, value: written };
    if (plainInteger.test(written)) return { ...scalar, value: Number(written) };
    return written === "true" || written === "false" ? { ...scalar, value: written === "true" } : outside();
  }

  function skip(from: number): number {
    let at = from;
    while (text[at] === " ") at += 1;
    return at;
  }

  function readFlowMap(from: number, end: number, depth: number): MapNode {
    step(depth);
    const entries = new Map<string, MapEntry>();
    const to = readFlowItems(from, end, "}", (at) => {
      const found = match(flowKey, at) ?? outside();
      const name = found[1] ?? found[2] ?? "";
      const isBare = found[1] !== undefined;
      const valueAt = at + found[0].length;
      // Without a space, a colon is part of a text.
      if (text[valueAt - 1] !== " " || (isBare && otherThanText.test(name)) || entries.has(name)) outside();
      const value = readValue(valueAt, end, depth + 1, true);
      const keySpan = { start: at, end: at + name.length + (isBare ? 0 : 2) };
      entries.set(name, { key: name, keySpan, value });
      return value.span.end;
    });
    return { kind: "map", span: { start: from, end: to }, entries: [...entries.values()] };
  }

  function readFlowList(from: number, end: number, depth: number): ListNode {
    step(depth);
    const items: DocumentNode[] = [];
    const to = readFlowItems(from, end, "]", (at) => {
      const value = readValue(at, end, depth + 1, true);
      items.push(value);
      return value.span.end;
    });
    return { kind: "list", span: { start: from, end: to }, items };
  }

  /** From the opening bracket to past the closing one, which is on the same line. */
  function readFlowItems(
    from: number,
    end: number,
    closing: string,
    readOne: (at: number) => number,
  ): number {
    let at = skip(from + 1);
    if (text[at] === closing) return at + 1;
    for (;;) {
      at = skip(readOne(at));
      if (at >= end) outside();
      if (text[at] === closing) return at + 1;
      if (text[at] !== ",") outside();
      at = skip(at + 1);
    }
  }

  return () => {
    const [first] = lines;
    // Directives and the marks of documents begin in the first column.
    if (first === undefined || first.indent > 0) outside();
    if (/^(?:%|---|\.\.\.)/m.test(text)) outside();
    const root = readBlock(1);
    return index < lines.length ? outside() : root;
  };
}
