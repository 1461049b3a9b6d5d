/**
 * YAML 1.2 text to a tree, in one pass and without a node for each token: texts
 * in every form, block and flow collections, anchors and aliases, `<<`. It
 * refuses tags, fields whose name is a collection, and a second document.
 *
 * There are two ways to use it. The lenient one reads what API descriptions are
 * written in: everything above, also where a strict reader would object. The
 * exact one reads what people write catalogues and configurations in, and makes
 * of it what the library makes, place by place; of all else, faults of every
 * kind among it, it says that the text is one for the library, which finds the
 * words for it. The library takes ten times as long.
 *
 * It is one piece, because every construct ends where the next one begins: they
 * share one position in the text.
 */

import type { ReadLimits, TreeBuilder } from "./tree-builder.ts";
import { checkLimits, Unreadable } from "./unreadable.ts";
import { blockText, foldLines, readScalar, unescapeDoubleQuoted } from "./yaml-text.ts";

const tab = 0x09;
const newline = 0x0a;
const space = 0x20;
const exclamation = 0x21;
const doubleQuote = 0x22;
const hash = 0x23;
const percent = 0x25;
const ampersand = 0x26;
const singleQuote = 0x27;
const asterisk = 0x2a;
const comma = 0x2c;
const dash = 0x2d;
const colon = 0x3a;
const greater = 0x3e;
const question = 0x3f;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const pipe = 0x7c;
const closeBrace = 0x7d;

/** Characters of ASCII that no text without quotes begins with; of `-`, `?` and `:` more is to be known. */
const isIndicator: readonly boolean[] = Array.from({ length: 0x80 }, (_, unit) =>
  ",[]{}#&*!|>'\"%@`".includes(String.fromCharCode(unit)),
);

// Runs of what ends no text. The reader is used once for each text, before the
// loops of this file are compiled; patterns are quick from the beginning.
const plainRun = /[^\n:#]*/y;
const flowRun = /[^\n:#,[\]{}]*/y;
const plainKey = /[A-Za-z0-9_$./-]+:(?=[ \n])/y;

/** What the exact reader leaves to the library: characters that break lines, indent or cannot be seen, marks and directives. */
const notExact = /[^\n\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffd]/;
const mark = /^(?:%|---|\.\.\.)/m;
/** Numbers that JSON has not. */
const notJson = /^[-+]?(?:\.(?:inf|nan)|[0-9.]+e[-+]?[0-9]+)$/i;
/** The library refuses longer names of fields. */
const keyMaxLength = 1000;

/** How a text is read. */
export interface FastYamlOptions extends ReadLimits {
  /** Whether only what the library reads in the same way is read. */
  readonly isExact: boolean;
}

/**
 * The tree of `text`, whose lines end in line feeds; `undefined` for an empty one.
 *
 * @throws {Unreadable}
 */
export function readFastYaml<Node, MapNode extends Node, ListNode extends Node>(
  text: string,
  builder: TreeBuilder<Node, MapNode, ListNode>,
  options: FastYamlOptions,
): Node | undefined {
  const { isExact } = options;
  const end = text.length;
  const anchors = new Map<string, Node>();
  let at = 0;
  let lineStart = 0;
  let count = 0;
  /** Where the value that was read last ends. */
  let valueEnd = 0;
  /** The scalar that was read last, as text; `undefined` behind a collection. */
  let lastText: string | undefined;
  /** A place that was looked behind, and the next one behind it that is no space or line break. */
  let peekedFrom = -1;
  let peekedAt = 0;
  let peekedLine = 0;

  function fail(message: string, hint?: string, where = at): never {
    throw new Unreadable("syntax", message, where, hint);
  }

  /** Leave to the library what it reads in another way, or not at all. */
  function refuseExact(): void {
    if (isExact) fail("This is read by the library");
  }

  function step(depth: number): void {
    count += 1;
    if (depth > options.maxDepth || count > options.maxNodes) checkLimits(options, depth, count, at);
  }

  function isGap(index: number): boolean {
    const unit = text.charCodeAt(index);
    return unit === space || unit === newline || unit === tab || index >= end;
  }

  function isFlowIndicator(unit: number): boolean {
    return (
      unit === comma ||
      unit === closeBracket ||
      unit === closeBrace ||
      unit === openBracket ||
      unit === openBrace
    );
  }

  function skipSpaces(): void {
    for (;;) {
      const unit = text.charCodeAt(at);
      if (unit !== space && unit !== tab) return;
      at += 1;
    }
  }

  function lineEnd(from: number): number {
    const found = text.indexOf("\n", from);
    return found === -1 ? end : found;
  }

  /** Whether nothing but a comment stands between here and the end of the line. */
  function isAtLineEnd(): boolean {
    const unit = text.charCodeAt(at);
    return at >= end || unit === newline || (unit === hash && (at === lineStart || isGap(at - 1)));
  }

  /** To the next thing that is no space, comment or line break. */
  function skipBlank(): void {
    if (at === peekedFrom) {
      at = peekedAt;
      lineStart = peekedLine;
      if (!isAtLineEnd()) return;
    }
    for (;;) {
      const from = at;
      while (text.charCodeAt(at) === space) at += 1;
      if (text.charCodeAt(at) === tab) {
        const isIndentation = from === lineStart;
        skipSpaces();
        if (isIndentation && !isAtLineEnd()) fail("A tab cannot indent YAML", "use spaces");
      }
      if (!isAtLineEnd()) return;
      if (text.charCodeAt(at) === hash) at = lineEnd(at);
      if (at >= end) return;
      at += 1;
      lineStart = at;
    }
  }

  function isMarker(): boolean {
    if (at !== lineStart) return false;
    return (text.startsWith("---", at) || text.startsWith("...", at)) && isGap(at + 3);
  }

  function isDash(): boolean {
    return text.charCodeAt(at) === dash && isGap(at + 1);
  }

  function isQuestion(): boolean {
    return text.charCodeAt(at) === question && isGap(at + 1);
  }

  /** Small letters and capitals: neither indicators nor spaces. */
  function isLetter(unit: number): boolean {
    return (unit > 0x60 && unit < openBrace) || (unit > 0x40 && unit < openBracket);
  }

  function isQuote(unit: number): boolean {
    return unit === doubleQuote || unit === singleQuote;
  }

  /** The colon behind the field name that begins here; -1 where none begins. */
  function keyEnd(): number {
    const first = text.charCodeAt(at);
    if (first === openBrace || first === openBracket || first === pipe || first === greater || first === hash)
      return -1;
    if (isQuote(first)) {
      const stop = quotedEnd(at);
      const broken = text.indexOf("\n", at);
      if (stop === -1 || (broken !== -1 && broken < stop)) return -1;
      let index = stop;
      while (text.charCodeAt(index) === space) index += 1;
      return text.charCodeAt(index) === colon && isGap(index + 1) ? index : -1;
    }
    plainKey.lastIndex = at;
    if (plainKey.test(text)) return plainKey.lastIndex - 1;
    const stop = plainEnd(false);
    return text.charCodeAt(stop) === colon ? stop : -1;
  }

  /** Index behind the quoted text that begins at `from`; -1 where it is not closed. */
  function quotedEnd(from: number): number {
    const isSingle = text.charCodeAt(from) === singleQuote;
    for (let index = from + 1; ; index += 1) {
      index = text.indexOf(isSingle ? "'" : '"', index);
      if (index === -1) return -1;
      if (isSingle) {
        if (text.charCodeAt(index + 1) !== singleQuote) return index + 1;
        index += 1;
        continue;
      }
      let slashes = 0;
      while (text[index - 1 - slashes] === "\\") slashes += 1;
      if (slashes % 2 === 0) return index + 1;
    }
  }

  function readQuoted(): string {
    const from = at;
    const stop = quotedEnd(from);
    if (stop === -1) fail("A quoted text begins here that is not closed");
    const inner = text.slice(from + 1, stop - 1);
    at = stop;
    valueEnd = stop;
    if (inner.includes("\n")) {
      refuseExact();
      lineStart = text.lastIndexOf("\n", stop - 1) + 1;
    }
    if (text.charCodeAt(from) === singleQuote) return foldLines(inner).replaceAll("''", "'");
    const hint = "write \\\\ for a backslash";
    return unescapeDoubleQuoted(inner) ?? fail("A text in double quotes holds a bad escape", hint, from);
  }

  /** Anchors and tags before a value. */
  function readProperties(): string | undefined {
    let anchor: string | undefined;
    for (;;) {
      const unit = text.charCodeAt(at);
      if (unit === exclamation)
        fail("Tags are not read", "remove the tag, or quote a text that begins with !");
      if (unit !== ampersand) return anchor;
      refuseExact();
      const from = at + 1;
      while (!isGap(at)) at += 1;
      anchor = text.slice(from, at);
      skipSpaces();
    }
  }

  function nothing(): Node {
    refuseExact();
    valueEnd = at;
    lastText = "";
    return builder.scalar(null, "", at, at, true);
  }

  /** The value behind `key:` or `-`, of a parent at column `indent`. */
  function readNode(indent: number, depth: number, takesSameColumn: boolean): Node {
    skipSpaces();
    if (isLetter(text.charCodeAt(at))) {
      step(depth);
      return readPlain(indent, false);
    }
    const anchor = readProperties();
    const node = isAtLineEnd() ? readBelow(indent, depth, takesSameColumn) : readInline(indent, depth);
    if (anchor !== undefined) anchors.set(anchor, node);
    return node;
  }

  /** A value on the lines below; nothing is `null`. */
  function readBelow(indent: number, depth: number, takesSameColumn: boolean): Node {
    skipBlank();
    const column = at - lineStart;
    const isOwn = column > indent || (takesSameColumn && column === indent && isDash());
    if (at >= end || isMarker() || !isOwn) return nothing();
    return readBlock(indent, column, depth);
  }

  function readBlock(indent: number, column: number, depth: number): Node {
    if (isDash()) return readList(column, depth);
    if (isQuestion()) return readMap(column, depth, -1);
    const first = text.charCodeAt(at);
    if (first === ampersand || first === exclamation) return readNode(indent, depth, false);
    const stop = keyEnd();
    if (stop !== -1) return readMap(column, depth, stop);
    // The library objects to some scalars below their names where comments are between.
    if (depth > 1) refuseExact();
    return readInline(indent, depth);
  }

  function readList(column: number, depth: number): Node {
    step(depth);
    const list = builder.openList(at);
    for (;;) {
      at += 1;
      skipSpaces();
      const start = at;
      builder.addItem(list, readCompact(column, depth + 1), start);
      if (!goesOn(column) || !isDash()) break;
    }
    return builder.closeList(list, valueEnd);
  }

  /** A value behind a dash, or behind the colon of `? name`: a map or list may begin right there. */
  function readCompact(column: number, depth: number): Node {
    skipSpaces();
    if (!isAtLineEnd()) {
      const own = at - lineStart;
      if (isDash()) return readList(own, depth);
      if (isQuestion()) return readMap(own, depth, -1);
      const first = text.charCodeAt(at);
      const stop = first === ampersand || first === exclamation ? -1 : keyEnd();
      if (stop !== -1) return readMap(own, depth, stop);
    }
    return readNode(column, depth, false);
  }

  /** A field name whose colon is at `stop`, and the colon. */
  function readKey(stop: number): string {
    if (stop === -1) {
      const hint = "indent the fields of one map by the same number of spaces";
      fail('A field name and ":" belong here', hint);
    }
    if (stop - at > keyMaxLength) refuseExact();
    if (isQuote(text.charCodeAt(at))) {
      const key = readQuoted();
      at = stop + 1;
      return key;
    }
    if (isExact && !canBeginPlain(false)) fail("This is no name of a field");
    const key = text.slice(at, endOfText(at, stop));
    if (isExact && typeof readScalar(key) !== "string") refuseExact();
    at = stop + 1;
    return key;
  }

  /** `? name`, which long names are written as; its colon begins the next line. */
  function readAskedKey(column: number): string {
    refuseExact();
    const first = text.charCodeAt(at);
    if (first === openBracket || first === openBrace || isAtLineEnd())
      fail("A field name must be a plain text");
    let key: string;
    if (isQuote(first)) key = readQuoted();
    else {
      readPlain(column, false);
      key = lastText ?? "";
    }
    skipBlank();
    if (at - lineStart !== column || text.charCodeAt(at) !== colon) fail('":" belongs here, below the "?"');
    at += 1;
    return key;
  }

  /** A block map at `column`; the colon of its first field is at `stop`, which is -1 where that begins with `?`. */
  function readMap(column: number, depth: number, stop: number): Node {
    step(depth);
    const map = builder.openMap(at);
    let merged: Node[] | undefined;
    let nextStop = stop;
    for (;;) {
      const isAsked = isQuestion();
      if (isAsked) {
        at += 1;
        skipSpaces();
      }
      const start = at;
      const isQuoted = isQuote(text.charCodeAt(at));
      const key = isAsked ? readAskedKey(column) : readKey(nextStop);
      const keyTo = isQuoted ? valueEnd : start + key.length;
      const value = isAsked ? readCompact(column, depth + 1) : readNode(column, depth + 1, true);
      if (key === "<<" && !isQuoted) {
        merged ??= [];
        merged.push(value);
      } else builder.addField(map, key, start, keyTo, value);
      if (!goesOn(column)) break;
      if (isDash()) fail("A list item stands among the fields of a map");
      nextStop = isQuestion() ? -1 : keyEnd();
    }
    for (const from of merged ?? []) {
      if (builder.merge === undefined) fail("Merge keys are not read", "repeat the fields");
      builder.merge(map, from);
    }
    return builder.closeMap(map, valueEnd);
  }

  /** Whether nothing but spaces stands before this on its line. */
  function isLineHead(): boolean {
    let index = at - 1;
    while (index >= lineStart && text.charCodeAt(index) === space) index -= 1;
    return index < lineStart;
  }

  /** Whether the block at `column` has another line; the position is then there. */
  function goesOn(column: number): boolean {
    // What was read ends on its line, or the position is at the next thing already.
    if (!isLineHead()) {
      skipSpaces();
      if (!isAtLineEnd())
        fail("Something follows the value on its line", "put a text that holds `: ` or ` #` in quotes");
    }
    skipBlank();
    if (at >= end || isMarker()) return false;
    const found = at - lineStart;
    if (found > column) fail("The indentation does not fit the lines before");
    return found === column;
  }

  /** A value that begins on this line, behind a name, a dash or by itself. */
  function readInline(indent: number, depth: number): Node {
    const first = text.charCodeAt(at);
    if (first === openBracket) return readFlowList(depth);
    if (first === openBrace) return readFlowMap(depth);
    step(depth);
    if (first === pipe || first === greater) return readBlockScalar(indent);
    if (isQuote(first)) return readQuotedNode();
    if (first === asterisk) return readAlias();
    return readPlain(indent, false);
  }

  function readQuotedNode(): Node {
    const from = at;
    const value = readQuoted();
    lastText = value;
    return builder.scalar(value, value, from, at, false);
  }

  function readAlias(): Node {
    const from = at;
    at += 1;
    while (!isGap(at) && !isFlowIndicator(text.charCodeAt(at))) at += 1;
    const name = text.slice(from + 1, at);
    const found = anchors.get(name);
    if (found === undefined)
      fail(`No anchor stands before the alias *${name}`, "quote a text that begins with *", from);
    valueEnd = at;
    lastText = undefined;
    return found;
  }

  function readBlockScalar(indent: number): Node {
    const start = at;
    const header = /[|>]([-+]?)([1-9]?)([-+]?)[ \t]*(?:#[^\n]*)?(?=\n|$)/y;
    header.lastIndex = at;
    const found = header.exec(text);
    if (found === null) fail("The head of a text of several lines cannot be read");
    const isFolded = text.charCodeAt(at) === greater;
    const chomping = found[1] || found[3] || "";
    at += found[0].length;
    if (!/^[|>]-?$/.test(found[0])) refuseExact();
    let column = found[2] === "" ? -1 : Math.max(indent, 0) + Number(found[2]);
    const lines: string[] = [];
    valueEnd = at;
    while (at < end) {
      const from = at + 1;
      const stop = lineEnd(from);
      let content = from;
      while (content < stop && text.charCodeAt(content) === space) content += 1;
      const isEmpty = content === stop;
      if (isEmpty && (column === -1 || stop - from > column)) refuseExact();
      if (!isEmpty && column === -1) column = content - from;
      if (!isEmpty && (content - from < column || column <= indent)) break;
      lines.push(isEmpty && (column === -1 || stop - from <= column) ? "" : text.slice(from + column, stop));
      if (!isEmpty) valueEnd = Math.min(stop + 1, end);
      at = stop;
      lineStart = from;
    }
    if (lines.length === 0) refuseExact();
    const value = blockText(lines, { isFolded, chomping });
    lastText = value;
    return builder.scalar(value, value, start, valueEnd, false);
  }

  /** Whether a text without quotes may begin here. */
  function canBeginPlain(isFlow: boolean): boolean {
    const unit = text.charCodeAt(at);
    if (unit === dash || unit === question || unit === colon) {
      return !isGap(at + 1) && !(isExact && isFlow && isFlowIndicator(text.charCodeAt(at + 1)));
    }
    return unit > 0x7f || !isIndicator[unit];
  }

  /** `to` without the white space before it. */
  function endOfText(from: number, to: number): number {
    let index = to;
    for (; index > from; index -= 1) {
      const unit = text.charCodeAt(index - 1);
      if (unit !== space && unit !== tab) break;
    }
    return index;
  }

  /** A text without quotes, over as many lines as belong to it. */
  function readPlain(indent: number, isFlow: boolean): Node {
    if (!canBeginPlain(isFlow))
      fail(`A text without quotes cannot begin with ${text[at] ?? "nothing"}`, "put the text in quotes");
    const from = at;
    const written = readPlainLine(isFlow);
    const blank = text.charCodeAt(at) === newline ? skipToContinuation(indent, isFlow) : undefined;
    if (blank !== undefined && isFlow) refuseExact();
    if (blank !== undefined) return readPlainLines(from, written, blank, indent, isFlow);
    const value = readScalar(written);
    if (isExact && typeof value === "string" && from < valueEnd && text.charCodeAt(from) < 0x3a)
      refuseNotJson(written);
    lastText = written;
    return builder.scalar(value, written, from, valueEnd, true);
  }

  function refuseNotJson(written: string): void {
    if (notJson.test(written)) refuseExact();
  }

  /** What of a text without quotes is on this line. */
  function readPlainLine(isFlow: boolean): string {
    const from = at;
    at = plainEnd(isFlow);
    valueEnd = endOfText(from, at);
    if (!isFlow && text.charCodeAt(at) === colon)
      fail("A second `: ` stands in one text", "put a text that holds `: ` in quotes");
    return text.slice(from, valueEnd);
  }

  /** The further lines of a text that began with `first`; `blank` empty ones stand before the first of them. */
  function readPlainLines(from: number, first: string, blank: number, indent: number, isFlow: boolean): Node {
    let joined = first;
    let breaks: number | undefined = blank;
    while (breaks !== undefined) {
      joined += breaks === 0 ? " " : "\n".repeat(breaks);
      joined += readPlainLine(isFlow);
      breaks = text.charCodeAt(at) === newline ? skipToContinuation(indent, isFlow) : undefined;
    }
    lastText = joined;
    return builder.scalar(joined, joined, from, valueEnd, true);
  }

  function plainEnd(isFlow: boolean): number {
    const run = isFlow ? flowRun : plainRun;
    run.lastIndex = at;
    for (;;) {
      run.test(text);
      const index = run.lastIndex;
      const unit = text.charCodeAt(index);
      if (unit === colon) {
        if (isGap(index + 1) || (isFlow && isFlowIndicator(text.charCodeAt(index + 1)))) return index;
      } else if (unit !== hash || isGap(index - 1)) return index;
      run.lastIndex = index + 1;
    }
  }

  /** Go to the line on which a text goes on and tell how many empty ones are between; stays where there is none. */
  function skipToContinuation(indent: number, isFlow: boolean): number | undefined {
    const savedAt = at;
    const savedStart = lineStart;
    let blank = -1;
    let hasTab = false;
    while (at < end) {
      at += 1;
      lineStart = at;
      blank += 1;
      while (text.charCodeAt(at) === space) at += 1;
      if (text.charCodeAt(at) === tab) {
        hasTab = true;
        skipSpaces();
      }
      if (text.charCodeAt(at) !== newline) break;
    }
    const unit = text.charCodeAt(at);
    const isOver = at >= end || unit === hash || isMarker();
    const isDeeper = isFlow || at - lineStart > indent;
    const isClosed = isFlow && (unit === comma || unit === closeBracket || unit === closeBrace);
    if (!isOver && isDeeper && !isClosed) return blank;
    peekedFrom = hasTab ? -1 : savedAt;
    peekedAt = at;
    peekedLine = lineStart;
    at = savedAt;
    lineStart = savedStart;
    return undefined;
  }

  /** Spaces, line breaks and comments between brackets. */
  function skipFlow(): void {
    for (;;) {
      skipSpaces();
      const unit = text.charCodeAt(at);
      if (unit === hash && isGap(at - 1)) at = lineEnd(at);
      else if (unit !== newline) break;
      if (at >= end) break;
      refuseExact();
      at += 1;
      lineStart = at;
    }
    if (at >= end) fail("A bracket is not closed");
  }

  function readFlowValue(depth: number): Node {
    if (isLetter(text.charCodeAt(at))) {
      step(depth);
      return readPlain(-1, true);
    }
    const anchor = readProperties();
    skipFlow();
    const first = text.charCodeAt(at);
    let node: Node;
    if (first === openBracket) node = readFlowList(depth);
    else if (first === openBrace) node = readFlowMap(depth);
    else {
      step(depth);
      if (isQuote(first)) node = readQuotedNode();
      else if (first === asterisk) node = readAlias();
      else if (first === comma || first === closeBracket || first === closeBrace) node = nothing();
      else node = readPlain(-1, true);
    }
    if (anchor !== undefined) anchors.set(anchor, node);
    return node;
  }

  function readFlowList(depth: number): Node {
    step(depth);
    const list = builder.openList(at);
    at += 1;
    skipFlow();
    while (text.charCodeAt(at) !== closeBracket) {
      const start = at;
      const item = readFlowValue(depth + 1);
      skipFlow();
      if (text.charCodeAt(at) === colon) builder.addItem(list, readLonePair(start, depth + 1), start);
      else builder.addItem(list, item, start);
      endFlowItem(closeBracket);
    }
    at += 1;
    valueEnd = at;
    lastText = undefined;
    return builder.closeList(list, at);
  }

  /** One field without braces, as in `[a: b]`, whose name was read. */
  function readLonePair(start: number, depth: number): Node {
    refuseExact();
    const key = lastText ?? fail("A field name must be a plain text", undefined, start);
    const map = builder.openMap(start);
    const keyTo = valueEnd;
    at += 1;
    skipFlow();
    builder.addField(map, key, start, keyTo, readFlowValue(depth + 1));
    lastText = undefined;
    return builder.closeMap(map, valueEnd);
  }

  function readFlowMap(depth: number): Node {
    step(depth);
    const map = builder.openMap(at);
    at += 1;
    skipFlow();
    while (text.charCodeAt(at) !== closeBrace) {
      const start = at;
      const key = readFlowKey();
      const keyTo = at;
      skipFlow();
      let value: Node;
      if (text.charCodeAt(at) === colon) {
        at += 1;
        skipFlow();
        value = readFlowValue(depth + 1);
      } else value = nothing();
      builder.addField(map, key, start, keyTo, value);
      endFlowItem(closeBrace);
    }
    at += 1;
    valueEnd = at;
    lastText = undefined;
    return builder.closeMap(map, at);
  }

  function readFlowKey(): string {
    if (isQuote(text.charCodeAt(at))) return readQuoted();
    if (isExact && !canBeginPlain(true)) refuseExact();
    const from = at;
    at = endOfText(from, plainEnd(true));
    const key = text.slice(from, at);
    if (isExact && (key === "<<" || key.length > keyMaxLength || typeof readScalar(key) !== "string"))
      refuseExact();
    return key;
  }

  /** To the next item, or to the closing bracket. */
  function endFlowItem(closing: number): void {
    skipFlow();
    const unit = text.charCodeAt(at);
    if (unit === comma) {
      at += 1;
      skipFlow();
    } else if (unit !== closing) fail(`"," or "${String.fromCharCode(closing)}" belongs here`);
  }

  if (isExact && (notExact.test(text) || mark.test(text))) refuseExact();
  skipBlank();
  while (text.charCodeAt(at) === percent && at === lineStart) {
    at = lineEnd(at);
    skipBlank();
  }
  if (isMarker() && text.charCodeAt(at) === dash) at += 3;
  skipSpaces();
  const isOnMarker = at !== lineStart && !isAtLineEnd();
  skipBlank();
  if (at >= end) return undefined;
  if (isExact && at !== lineStart) refuseExact();
  const root = isOnMarker ? readNode(-1, 1, false) : readBlock(-1, at - lineStart, 1);
  skipSpaces();
  skipBlank();
  if (isMarker() && text[at] === ".") {
    at += 3;
    skipBlank();
  }
  if (at < end)
    fail(isMarker() ? "A second YAML document begins here" : "Something follows the document here");
  return root;
}
