/**
 * YAML 1.2 text to a tree, as API descriptions are written in it: block and
 * flow collections, texts in every form, anchors and aliases, `<<`. It refuses
 * tags, fields whose name is a collection, and a second document. A library
 * that keeps a node for each value takes gigabytes for the documents that this
 * reads; of a field that is given twice the last one counts, as in JSON.
 *
 * It is one piece, because every construct ends where the next one begins: they
 * share one position in the text.
 */

import { documentMaxDepth, documentMaxNodes, type MapNode, type Node, type Scalar } from "./node.ts";
import { Unreadable } from "./unreadable.ts";
import { blockText, foldLines, readScalar, unescapeDoubleQuoted } from "./yaml-text.ts";

const newline = 0x0a;
const space = 0x20;
const tab = 0x09;
const hash = 0x23;

/** The tree of `text`, whose lines end in line feeds; `undefined` for an empty one. @throws {Unreadable} */
export function readYaml(text: string): Node | undefined {
  const end = text.length;
  const anchors = new Map<string, Node>();
  let at = 0;
  let lineStart = 0;
  let count = 0;

  function fail(message: string, hint?: string, where = at): never {
    throw new Unreadable(message, where, hint);
  }

  function step(depth: number): void {
    count += 1;
    if (depth > documentMaxDepth) fail(`it nests deeper than ${documentMaxDepth} levels`);
    if (count > documentMaxNodes) fail(`it has more than ${documentMaxNodes.toLocaleString("en")} values`);
  }

  function isGap(index: number): boolean {
    const unit = text.charCodeAt(index);
    return unit === space || unit === newline || unit === tab || Number.isNaN(unit);
  }

  function skipSpaces(): void {
    while (text.charCodeAt(at) === space || text.charCodeAt(at) === tab) at += 1;
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
    for (;;) {
      const from = at;
      while (text.charCodeAt(at) === space) at += 1;
      if (text.charCodeAt(at) === tab) {
        const isIndentation = from === lineStart;
        skipSpaces();
        if (isIndentation && !isAtLineEnd()) fail("a tab cannot indent YAML", "use spaces");
      }
      if (!isAtLineEnd()) return;
      if (text.charCodeAt(at) === hash) at = lineEnd(at);
      if (at >= end) return;
      at += 1;
      lineStart = at;
    }
  }

  function isMarker(): boolean {
    const isMark = text.startsWith("---", at) || text.startsWith("...", at);
    return at === lineStart && isMark && isGap(at + 3);
  }

  function isDash(): boolean {
    return text[at] === "-" && isGap(at + 1);
  }

  /** The end of the field name that begins here, up to its colon; -1 where none begins. */
  function keyEnd(): number {
    const first = text[at];
    if (first === "{" || first === "[" || first === "|" || first === ">" || first === "#") return -1;
    let index = at;
    if (first === '"' || first === "'") {
      index = quotedEnd(at);
      const broken = text.indexOf("\n", at);
      if (index === -1 || (broken !== -1 && broken < index)) return -1;
      while (text.charCodeAt(index) === space) index += 1;
      return text[index] === ":" && isGap(index + 1) ? index : -1;
    }
    for (; index < end; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit === newline || (unit === hash && isGap(index - 1) && index > at)) return -1;
      if (unit === 0x3a && isGap(index + 1)) return index;
    }
    return -1;
  }

  /** Index behind the quoted text that begins at `from`; -1 where it is not closed. */
  function quotedEnd(from: number): number {
    const mark = text[from] as string;
    for (let index = from + 1; ; index += 1) {
      index = text.indexOf(mark, index);
      if (index === -1) return -1;
      if (mark === "'") {
        if (text[index + 1] !== "'") return index + 1;
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
    if (stop === -1) fail("a quoted text begins here that is not closed");
    const inner = text.slice(from + 1, stop - 1);
    const lastBreak = text.lastIndexOf("\n", stop - 1);
    if (lastBreak >= from) lineStart = lastBreak + 1;
    at = stop;
    if (text[from] === "'") return foldLines(inner).replaceAll("''", "'");
    return (
      unescapeDoubleQuoted(inner) ??
      fail("a text in double quotes holds a bad escape", "write \\\\ for a backslash", from)
    );
  }

  /** Anchors and tags before a value. */
  function readProperties(): string | undefined {
    let anchor: string | undefined;
    for (;;) {
      if (text[at] === "!") fail("tags are not read", "remove the tag, or quote a text that begins with !");
      if (text[at] !== "&") return anchor;
      const from = at + 1;
      while (!isGap(at)) at += 1;
      anchor = text.slice(from, at);
      skipSpaces();
    }
  }

  /** The value behind `key:` or `-`, of a parent at column `indent`. */
  function readNode(indent: number, depth: number, takesSameColumn: boolean): Node {
    skipSpaces();
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
    if (at >= end || isMarker() || !isOwn) return null;
    return readBlock(indent, column, depth);
  }

  function readBlock(indent: number, column: number, depth: number): Node {
    if (isDash()) return readList(column, depth);
    if (isQuestion()) return readMap(column, depth);
    if (text[at] === "&" || text[at] === "!") return readNode(indent, depth, false);
    return keyEnd() === -1 ? readInline(indent, depth) : readMap(column, depth);
  }

  function readList(column: number, depth: number): Node {
    step(depth);
    const items: Node[] = [];
    const starts: number[] = [];
    for (;;) {
      at += 1;
      skipSpaces();
      starts.push(at);
      items.push(readCompact(column, depth + 1));
      if (!goesOn(column) || !isDash()) break;
    }
    return { kind: "list", items, starts };
  }

  /** A value behind a dash, or behind the colon of `? name`: a map or list may begin right there. */
  function readCompact(column: number, depth: number): Node {
    skipSpaces();
    const isBlock = !isAtLineEnd() && (isDash() || isQuestion() || (text[at] !== "&" && keyEnd() !== -1));
    return isBlock ? readBlock(column, at - lineStart, depth) : readNode(column, depth, false);
  }

  function isQuestion(): boolean {
    return text[at] === "?" && isGap(at + 1);
  }

  /** A field name and its colon. */
  function readKey(): string {
    const stop = keyEnd();
    if (stop === -1) {
      const hint = "indent the fields of one map by the same number of spaces";
      fail('a field name and ":" belong here', hint);
    }
    const isQuoted = text[at] === '"' || text[at] === "'";
    const key = isQuoted ? readQuoted() : text.slice(at, stop).trimEnd();
    at = stop + 1;
    return key;
  }

  /** `? name`, which long names are written as; its colon begins the next line. */
  function readAskedKey(column: number): string {
    const first = text[at];
    if (first === "[" || first === "{" || isAtLineEnd()) fail("a field name must be a plain text");
    const isQuoted = first === '"' || first === "'";
    const key = isQuoted ? readQuoted() : String(readPlain(column, false));
    skipBlank();
    if (at - lineStart !== column || text[at] !== ":") fail('":" belongs here, below the "?"');
    at += 1;
    return key;
  }

  function readMap(column: number, depth: number): Node {
    step(depth);
    const fields = new Map<string, Node>();
    const starts: number[] = [];
    const merged: Node[] = [];
    for (;;) {
      const isAsked = isQuestion();
      if (isAsked) {
        at += 1;
        skipSpaces();
      }
      const start = at;
      const isQuoted = text[at] === '"' || text[at] === "'";
      const key = isAsked ? readAskedKey(column) : readKey();
      const value = isAsked ? readCompact(column, depth + 1) : readNode(column, depth + 1, true);
      if (key === "<<" && !isQuoted) merged.push(value);
      else {
        if (!fields.has(key)) starts.push(isQuoted ? start + 1 : start);
        fields.set(key, value);
      }
      if (!goesOn(column)) break;
      if (isDash()) fail("a list item stands among the fields of a map");
    }
    for (const one of merged) mergeInto(fields, starts, one);
    return { kind: "map", fields, starts };
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
        fail("something follows the value on its line", "put a text that holds `: ` or ` #` in quotes");
    }
    skipBlank();
    if (at >= end || isMarker()) return false;
    const found = at - lineStart;
    if (found > column) fail("the indentation does not fit the lines before");
    return found === column;
  }

  function mergeInto(fields: Map<string, Node>, starts: number[], from: Node): void {
    const sources = typeof from === "object" && from?.kind === "list" ? from.items : [from];
    for (const one of sources) {
      if (typeof one !== "object" || one?.kind !== "map") continue;
      const map: MapNode = one;
      for (const [index, [key, value]] of [...map.fields].entries()) {
        if (fields.has(key)) continue;
        fields.set(key, value);
        starts.push(map.starts[index] ?? 0);
      }
    }
  }

  /** A value that begins on this line, behind a name, a dash or by itself. */
  function readInline(indent: number, depth: number): Node {
    const first = text[at];
    if (first === "[" || first === "{") return readFlow(depth);
    step(depth);
    if (first === "|" || first === ">") return readBlockScalar(indent);
    if (first === '"' || first === "'") return readQuoted();
    if (first === "*") return readAlias();
    return readPlain(indent, false);
  }

  function readAlias(): Node {
    const from = at;
    at += 1;
    while (!isGap(at) && !",]}".includes(text[at] ?? "")) at += 1;
    const found = anchors.get(text.slice(from + 1, at));
    if (found === undefined)
      fail(
        `no anchor stands before the alias ${text.slice(from, at)}`,
        "quote a text that begins with *",
        from,
      );
    return found;
  }

  function readBlockScalar(indent: number): string {
    const header = /[|>]([-+]?)([1-9]?)([-+]?)[ \t]*(?:#[^\n]*)?(?=\n|$)/y;
    header.lastIndex = at;
    const found = header.exec(text);
    if (found === null) fail("the head of a text of several lines cannot be read");
    const isFolded = text[at] === ">";
    const chomping = found[1] || found[3] || "";
    at += found[0].length;
    let column = found[2] === "" ? -1 : Math.max(indent, 0) + Number(found[2]);
    const lines: string[] = [];
    while (at < end) {
      const from = at + 1;
      const stop = lineEnd(from);
      let content = from;
      while (content < stop && text.charCodeAt(content) === space) content += 1;
      const isEmpty = content === stop;
      if (!isEmpty && column === -1) column = content - from;
      if (!isEmpty && (content - from < column || column <= indent)) break;
      lines.push(isEmpty && (column === -1 || stop - from <= column) ? "" : text.slice(from + column, stop));
      at = stop;
      lineStart = from;
    }
    return blockText(lines, { isFolded, chomping });
  }

  /** A text without quotes, over as many lines as belong to it. */
  function readPlain(indent: number, isFlow: boolean): Scalar {
    const first = text[at] ?? "";
    const next = text[at + 1] ?? " ";
    const isIndicator = /[,[\]{}#&*!|>'"%@`]/.test(first) || (/[-?:]/.test(first) && /\s/.test(next));
    if (isIndicator) fail(`a text without quotes cannot begin with ${first}`, "put the text in quotes");
    const pieces: string[] = [];
    for (;;) {
      const from = at;
      at = plainEnd(isFlow);
      pieces.push(text.slice(from, at).trimEnd());
      if (text[at] === ":" && !isFlow)
        fail("a second `: ` stands in one text", "put a text that holds `: ` in quotes");
      if (text.charCodeAt(at) !== newline) break;
      const blank = skipToContinuation(indent, isFlow);
      if (blank === undefined) break;
      for (let one = 0; one < blank; one += 1) pieces.push("");
    }
    if (pieces.length === 1) return readScalar(pieces[0] ?? "");
    let joined = pieces[0] ?? "";
    for (let index = 1, isBreak = false; index < pieces.length; index += 1) {
      const piece = pieces[index] ?? "";
      joined += piece === "" ? "\n" : isBreak ? piece : ` ${piece}`;
      isBreak = piece === "";
    }
    return joined;
  }

  function plainEnd(isFlow: boolean): number {
    let index = at;
    for (; index < end; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit === newline) break;
      if (unit === hash && isGap(index - 1)) break;
      if (unit === 0x3a && (isGap(index + 1) || (isFlow && ",]}[{".includes(text[index + 1] ?? "")))) break;
      if (isFlow && ",[]{}".includes(text[index] as string)) break;
    }
    return index;
  }

  /** Go to the line on which a text goes on and tell how many empty ones are between; stays where there is none. */
  function skipToContinuation(indent: number, isFlow: boolean): number | undefined {
    const [savedAt, savedStart] = [at, lineStart];
    let blank = -1;
    for (;;) {
      if (at >= end) break;
      at += 1;
      lineStart = at;
      blank += 1;
      skipSpaces();
      if (text.charCodeAt(at) !== newline) break;
    }
    const isOver = at >= end || text.charCodeAt(at) === hash || isMarkerLine();
    const isDeeper = isFlow || at - lineStart > indent;
    const isClosed = isFlow && ",]}".includes(text[at] ?? "");
    if (!isOver && isDeeper && !isClosed) return blank;
    at = savedAt;
    lineStart = savedStart;
    return undefined;
  }

  function isMarkerLine(): boolean {
    return at === lineStart && isMarker();
  }

  function readFlow(depth: number): Node {
    step(depth);
    return text[at] === "[" ? readFlowList(depth) : readFlowMap(depth);
  }

  /** Spaces, line breaks and comments between brackets. */
  function skipFlow(): void {
    for (;;) {
      skipSpaces();
      if (text.charCodeAt(at) === hash && isGap(at - 1)) at = lineEnd(at);
      if (text.charCodeAt(at) !== newline) break;
      at += 1;
      lineStart = at;
    }
    if (at >= end) fail("a bracket is not closed");
  }

  function readFlowValue(depth: number): Node {
    const anchor = readProperties();
    skipFlow();
    const first = text[at];
    let node: Node;
    if (first === "[" || first === "{") node = readFlow(depth);
    else {
      step(depth);
      if (first === '"' || first === "'") node = readQuoted();
      else if (first === "*") node = readAlias();
      else node = first === "," || first === "]" || first === "}" ? null : readPlain(-1, true);
    }
    if (anchor !== undefined) anchors.set(anchor, node);
    return node;
  }

  function readFlowList(depth: number): Node {
    const items: Node[] = [];
    const starts: number[] = [];
    readFlowItems("]", () => {
      const start = at;
      starts.push(start);
      const item = readFlowValue(depth + 1);
      skipFlow();
      if (text[at] !== ":") return void items.push(item);
      // One field without braces: [a: b].
      if (typeof item === "object" && item !== null)
        fail("a field name must be a plain text", undefined, start);
      at += 1;
      skipFlow();
      const fields = new Map([[String(item), readFlowValue(depth + 2)]]);
      items.push({ kind: "map", fields, starts: [start] });
    });
    return { kind: "list", items, starts };
  }

  function readFlowMap(depth: number): Node {
    const fields = new Map<string, Node>();
    const starts: number[] = [];
    readFlowItems("}", () => {
      const start = at;
      const isQuoted = text[at] === '"' || text[at] === "'";
      let key: string;
      if (isQuoted) key = readQuoted();
      else {
        const from = at;
        at = plainEnd(true);
        key = text.slice(from, at).trimEnd();
      }
      skipFlow();
      let value: Node = null;
      if (text[at] === ":") {
        at += 1;
        skipFlow();
        value = readFlowValue(depth + 1);
      }
      if (!fields.has(key)) starts.push(isQuoted ? start + 1 : start);
      fields.set(key, value);
    });
    return { kind: "map", fields, starts };
  }

  function readFlowItems(closing: string, readItem: () => void): void {
    at += 1;
    skipFlow();
    while (text[at] !== closing) {
      readItem();
      skipFlow();
      if (text[at] === ",") {
        at += 1;
        skipFlow();
      } else if (text[at] !== closing) fail(`"," or "${closing}" belongs here`);
    }
    at += 1;
  }

  skipBlank();
  while (text[at] === "%" && at === lineStart) {
    at = lineEnd(at);
    skipBlank();
  }
  if (isMarker() && text[at] === "-") at += 3;
  skipSpaces();
  const isOnMarker = at !== lineStart && !isAtLineEnd();
  skipBlank();
  if (at >= end) return undefined;
  const root = isOnMarker ? readNode(-1, 1, false) : readBlock(-1, at - lineStart, 1);
  skipSpaces();
  skipBlank();
  if (isMarker() && text[at] === ".") {
    at += 3;
    skipBlank();
  }
  if (at < end)
    fail(isMarker() ? "a second YAML document begins here" : "something follows the document here");
  return root ?? undefined;
}
