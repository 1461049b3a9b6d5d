/**
 * YAML 1.2 text to a tree, in one pass and without a node for each token: texts
 * in every form, block and flow collections, anchors and aliases, `<<`. It
 * refuses tags, fields whose name is a collection, and a second document.
 *
 * It has two modes. The lenient mode is for API descriptions: it reads everything
 * above, and also some texts that are not YAML (the test of the YAML test suite
 * lists them). The exact mode is for configurations, manifests and toolspecs: it
 * returns the same tree as the library, with the same places, and leaves every
 * other text, faulty ones included, to the library, which explains the fault. The
 * library takes several times as long (docs/adr/0012-readers-of-yaml.md).
 *
 * The reader is one piece, because every construct ends where the next one
 * begins: all share one position in the text.
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

/** ASCII characters that cannot begin a plain text; `-`, `?` and `:` depend on the next character. */
const isIndicator: readonly boolean[] = Array.from({ length: 0x80 }, (_, unit) =>
  ",[]{}#&*!|>'\"%@`".includes(String.fromCharCode(unit)),
);

// Runs of characters that cannot end a plain text. Patterns are fast from the first
// use; most texts are read before the engine has compiled the loops of this file.
const plainRun = /[^\n:#]*/y;
const flowRun = /[^\n:#,[\]{}]*/y;
const plainKey = /[A-Za-z0-9_$./-]+:(?=[ \n])/y;

/** Texts that the exact reader leaves to the library: tabs, invisible characters, markers, directives. */
const notExact = /[^\n\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffd]/;
const mark = /^(?:%|---|\.\.\.)/m;
/** Numbers in forms that JSON does not have. */
const notJson = /^[-+]?(?:\.(?:inf|nan)|[0-9.]+e[-+]?[0-9]+)$/i;
/** The library refuses longer field names. */
const keyMaxLength = 1000;

/** Options of the fast reader. */
export interface FastYamlOptions extends ReadLimits {
  /** Whether to read only texts for which the library returns the same tree. */
  readonly isExact: boolean;
}

/**
 * Returns the tree of `text`, whose lines end in line feeds; `undefined` for an empty text.
 *
 * @throws {Unreadable}
 */
export function readFastYaml<Node, MapNode extends Node, ListNode extends Node>(
  text: string,
  builder: TreeBuilder<Node, MapNode, ListNode>,
  options: FastYamlOptions,
): Node | undefined {
  return new FastYamlReader(text, builder, options).read();
}

/** Reads one text, and keeps the position in it. */
class FastYamlReader<Node, MapNode extends Node, ListNode extends Node> {
  readonly #text: string;
  readonly #builder: TreeBuilder<Node, MapNode, ListNode>;
  readonly #options: ReadLimits;
  readonly #isExact: boolean;
  readonly #end: number;
  readonly #anchors = new Map<string, Node>();
  #at = 0;
  #lineStart = 0;
  #count = 0;
  /** End of the latest value. */
  #valueEnd = 0;
  /** The latest scalar as text; `undefined` after a collection. */
  #lastText: string | undefined;
  /** A position, and the first position after it that is not white space. */
  #peekedFrom = -1;
  #peekedAt = 0;
  #peekedLine = 0;

  constructor(text: string, builder: TreeBuilder<Node, MapNode, ListNode>, options: FastYamlOptions) {
    this.#text = text;
    this.#builder = builder;
    this.#options = options;
    this.#isExact = options.isExact;
    this.#end = text.length;
  }

  read(): Node | undefined {
    if (this.#isExact && (notExact.test(this.#text) || mark.test(this.#text))) this.#refuseExact();
    this.#skipBlank();
    while (this.#text.charCodeAt(this.#at) === percent && this.#at === this.#lineStart) {
      this.#at = this.#lineEnd(this.#at);
      this.#skipBlank();
    }
    const hasMarker = this.#isMarker() && this.#text.charCodeAt(this.#at) === dash;
    if (hasMarker) this.#at += 3;
    this.#skipSpaces();
    const isOnMarker = hasMarker && !this.#isAtLineEnd();
    this.#skipBlank();
    if (this.#isMarker()) {
      this.#endDocument();
      return undefined;
    }
    if (this.#at >= this.#end) return undefined;
    if (this.#isExact && this.#at !== this.#lineStart) this.#refuseExact();
    const root = isOnMarker
      ? this.#readNode(-1, 1, false)
      : this.#readBlock(-1, this.#at - this.#lineStart, 1);
    this.#skipSpaces();
    this.#skipBlank();
    this.#endDocument();
    return root;
  }

  /** Reads the end marker, and refuses anything after it. */
  #endDocument(): void {
    if (this.#isMarker() && this.#text[this.#at] === ".") {
      this.#at += 3;
      this.#skipBlank();
    }
    if (this.#at < this.#end)
      this.#fail(
        this.#isMarker() ? "A second YAML document begins here" : "Unexpected text after the document",
      );
  }

  #fail(message: string, hint?: string, where = this.#at): never {
    throw new Unreadable("syntax", message, where, hint);
  }

  /** In exact mode, leaves the text to the library, which reads it differently or not at all. */
  #refuseExact(): void {
    if (this.#isExact) this.#fail("This is read by the library");
  }

  #step(depth: number): void {
    this.#count += 1;
    if (depth > this.#options.maxDepth || this.#count > this.#options.maxNodes)
      checkLimits(this.#options, depth, this.#count, this.#at);
  }

  #isGap(index: number): boolean {
    const unit = this.#text.charCodeAt(index);
    return unit === space || unit === newline || unit === tab || index >= this.#end;
  }

  #isFlowIndicator(unit: number): boolean {
    return (
      unit === comma ||
      unit === closeBracket ||
      unit === closeBrace ||
      unit === openBracket ||
      unit === openBrace
    );
  }

  #skipSpaces(): void {
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit !== space && unit !== tab) return;
      this.#at += 1;
    }
  }

  #lineEnd(from: number): number {
    const found = this.#text.indexOf("\n", from);
    return found === -1 ? this.#end : found;
  }

  /** Whether the rest of the line is empty or a comment. */
  #isAtLineEnd(): boolean {
    const unit = this.#text.charCodeAt(this.#at);
    return (
      this.#at >= this.#end ||
      unit === newline ||
      (unit === hash && (this.#at === this.#lineStart || this.#isGap(this.#at - 1)))
    );
  }

  /** Moves to the next token, past spaces, comments and line breaks. */
  #skipBlank(): void {
    if (this.#at === this.#peekedFrom) {
      this.#at = this.#peekedAt;
      this.#lineStart = this.#peekedLine;
      if (!this.#isAtLineEnd()) return;
    }
    for (;;) {
      const from = this.#at;
      while (this.#text.charCodeAt(this.#at) === space) this.#at += 1;
      if (this.#text.charCodeAt(this.#at) === tab) {
        const isIndentation = from === this.#lineStart;
        this.#skipSpaces();
        if (isIndentation && !this.#isAtLineEnd()) this.#fail("A tab cannot indent YAML", "use spaces");
      }
      if (!this.#isAtLineEnd()) return;
      if (this.#text.charCodeAt(this.#at) === hash) this.#at = this.#lineEnd(this.#at);
      if (this.#at >= this.#end) return;
      this.#at += 1;
      this.#lineStart = this.#at;
    }
  }

  #isMarker(): boolean {
    if (this.#at !== this.#lineStart) return false;
    return (
      (this.#text.startsWith("---", this.#at) || this.#text.startsWith("...", this.#at)) &&
      this.#isGap(this.#at + 3)
    );
  }

  #isDash(): boolean {
    return this.#text.charCodeAt(this.#at) === dash && this.#isGap(this.#at + 1);
  }

  #isQuestion(): boolean {
    return this.#text.charCodeAt(this.#at) === question && this.#isGap(this.#at + 1);
  }

  /** Small letters and capitals: neither indicators nor spaces. */
  #isLetter(unit: number): boolean {
    return (unit > 0x60 && unit < openBrace) || (unit > 0x40 && unit < openBracket);
  }

  #isQuote(unit: number): boolean {
    return unit === doubleQuote || unit === singleQuote;
  }

  /** Returns the index of the colon after the field name that begins here; -1 without a field name. */
  #keyEnd(): number {
    const first = this.#text.charCodeAt(this.#at);
    if (first === openBrace || first === openBracket || first === pipe || first === greater || first === hash)
      return -1;
    if (this.#isQuote(first)) {
      const stop = this.#quotedEnd(this.#at);
      const broken = this.#text.indexOf("\n", this.#at);
      if (stop === -1 || (broken !== -1 && broken < stop)) return -1;
      let index = stop;
      while (this.#text.charCodeAt(index) === space) index += 1;
      return this.#text.charCodeAt(index) === colon && this.#isGap(index + 1) ? index : -1;
    }
    plainKey.lastIndex = this.#at;
    if (plainKey.test(this.#text)) return plainKey.lastIndex - 1;
    const stop = this.#plainEnd(false);
    return this.#text.charCodeAt(stop) === colon ? stop : -1;
  }

  /** Returns the index after the quoted text that begins at `from`; -1 when it is not closed. */
  #quotedEnd(from: number): number {
    const isSingle = this.#text.charCodeAt(from) === singleQuote;
    for (let index = from + 1; ; index += 1) {
      index = this.#text.indexOf(isSingle ? "'" : '"', index);
      if (index === -1) return -1;
      if (isSingle) {
        if (this.#text.charCodeAt(index + 1) !== singleQuote) return index + 1;
        index += 1;
        continue;
      }
      let slashes = 0;
      while (this.#text[index - 1 - slashes] === "\\") slashes += 1;
      if (slashes % 2 === 0) return index + 1;
    }
  }

  #readQuoted(): string {
    const from = this.#at;
    const stop = this.#quotedEnd(from);
    if (stop === -1) this.#fail("A quoted text is not closed");
    const inner = this.#text.slice(from + 1, stop - 1);
    this.#at = stop;
    this.#valueEnd = stop;
    if (inner.includes("\n")) {
      this.#refuseExact();
      this.#lineStart = this.#text.lastIndexOf("\n", stop - 1) + 1;
    }
    if (this.#text.charCodeAt(from) === singleQuote) return foldLines(inner).replaceAll("''", "'");
    const hint = "write \\\\ for a backslash";
    return (
      unescapeDoubleQuoted(inner) ??
      this.#fail("A text in double quotes contains an invalid escape sequence", hint, from)
    );
  }

  /** Reads the anchor before a value; refuses tags. */
  #readProperties(): string | undefined {
    let anchor: string | undefined;
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit === exclamation)
        this.#fail("Tags are not supported", "remove the tag, or quote a text that begins with !");
      if (unit !== ampersand) return anchor;
      this.#refuseExact();
      const from = this.#at + 1;
      while (!this.#isGap(this.#at)) this.#at += 1;
      anchor = this.#text.slice(from, this.#at);
      this.#skipSpaces();
    }
  }

  #nothing(): Node {
    this.#refuseExact();
    this.#valueEnd = this.#at;
    this.#lastText = "";
    return this.#builder.scalar(null, "", this.#at, this.#at, true);
  }

  /** Reads the value after `key:` or `-`, of a parent at column `indent`. */
  #readNode(indent: number, depth: number, takesSameColumn: boolean): Node {
    this.#skipSpaces();
    if (this.#isLetter(this.#text.charCodeAt(this.#at))) {
      this.#step(depth);
      return this.#readPlain(indent, false);
    }
    const anchor = this.#readProperties();
    const node = this.#isAtLineEnd()
      ? this.#readBelow(indent, depth, takesSameColumn)
      : this.#readInline(indent, depth);
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    return node;
  }

  /** Reads a value on the following lines; a missing value is `null`. */
  #readBelow(indent: number, depth: number, takesSameColumn: boolean): Node {
    this.#skipBlank();
    const column = this.#at - this.#lineStart;
    const isOwn = column > indent || (takesSameColumn && column === indent && this.#isDash());
    if (this.#at >= this.#end || this.#isMarker() || !isOwn) return this.#nothing();
    return this.#readBlock(indent, column, depth);
  }

  #readBlock(indent: number, column: number, depth: number): Node {
    if (this.#isDash()) return this.#readList(column, depth);
    if (this.#isQuestion()) return this.#readMap(column, depth, -1);
    const first = this.#text.charCodeAt(this.#at);
    if (first === ampersand || first === exclamation) return this.#readNode(indent, depth, false);
    const stop = this.#keyEnd();
    if (stop !== -1) return this.#readMap(column, depth, stop);
    // The library refuses some scalars on the line after their names if comments are between.
    if (depth > 1) this.#refuseExact();
    return this.#readInline(indent, depth);
  }

  #readList(column: number, depth: number): Node {
    this.#step(depth);
    const list = this.#builder.openList(this.#at);
    for (;;) {
      this.#at += 1;
      this.#skipSpaces();
      const start = this.#at;
      this.#builder.addItem(list, this.#readCompact(column, depth + 1), start);
      if (!this.#continues(column) || !this.#isDash()) break;
    }
    return this.#builder.closeList(list, this.#valueEnd);
  }

  /** Reads a value after a dash, or after the colon of `? name`: a map or list may begin on the same line. */
  #readCompact(column: number, depth: number): Node {
    this.#skipSpaces();
    if (!this.#isAtLineEnd()) {
      const own = this.#at - this.#lineStart;
      if (this.#isDash()) return this.#readList(own, depth);
      if (this.#isQuestion()) return this.#readMap(own, depth, -1);
      const first = this.#text.charCodeAt(this.#at);
      const stop = first === ampersand || first === exclamation ? -1 : this.#keyEnd();
      if (stop !== -1) return this.#readMap(own, depth, stop);
    }
    return this.#readNode(column, depth, false);
  }

  /** Reads a field name whose colon is at `stop`, and the colon. */
  #readKey(stop: number): string {
    if (stop === -1) {
      const hint = "indent the fields of one map by the same number of spaces";
      this.#fail('Expected a field name and ":"', hint);
    }
    if (stop - this.#at > keyMaxLength) this.#refuseExact();
    if (this.#isQuote(this.#text.charCodeAt(this.#at))) {
      const key = this.#readQuoted();
      this.#at = stop + 1;
      return key;
    }
    if (this.#isExact && !this.#canBeginPlain(false)) this.#fail("This is not a field name");
    const key = this.#text.slice(this.#at, this.#endOfText(this.#at, stop));
    if (this.#isExact && typeof readScalar(key) !== "string") this.#refuseExact();
    this.#at = stop + 1;
    return key;
  }

  /** Reads `? name`, the form of long names; its colon begins the next line. */
  #readAskedKey(column: number): string {
    this.#refuseExact();
    const first = this.#text.charCodeAt(this.#at);
    if (first === openBracket || first === openBrace || this.#isAtLineEnd())
      this.#fail("A field name must be a plain text");
    let key: string;
    if (this.#isQuote(first)) key = this.#readQuoted();
    else {
      this.#readPlain(column, false);
      key = this.#lastText ?? "";
    }
    this.#skipBlank();
    if (this.#at - this.#lineStart !== column || this.#text.charCodeAt(this.#at) !== colon)
      this.#fail('Expected ":" below the "?"');
    this.#at += 1;
    return key;
  }

  /** Reads a block map at `column`; the colon of its first field is at `stop`, or -1 if the field begins with `?`. */
  #readMap(column: number, depth: number, stop: number): Node {
    this.#step(depth);
    const map = this.#builder.openMap(this.#at);
    let merged: Node[] | undefined;
    let nextStop = stop;
    for (;;) {
      const isAsked = this.#isQuestion();
      if (isAsked) {
        this.#at += 1;
        this.#skipSpaces();
      }
      const start = this.#at;
      const isQuoted = this.#isQuote(this.#text.charCodeAt(this.#at));
      const key = isAsked ? this.#readAskedKey(column) : this.#readKey(nextStop);
      const keyTo = isQuoted ? this.#valueEnd : start + key.length;
      const value = isAsked ? this.#readCompact(column, depth + 1) : this.#readNode(column, depth + 1, true);
      if (key === "<<" && !isQuoted) {
        merged ??= [];
        merged.push(value);
      } else this.#builder.addField(map, key, start, keyTo, value);
      if (!this.#continues(column)) break;
      if (this.#isDash()) this.#fail("A list item is not allowed between the fields of a map");
      nextStop = this.#isQuestion() ? -1 : this.#keyEnd();
    }
    for (const from of merged ?? []) {
      if (this.#builder.merge === undefined) this.#fail("Merge keys are not supported", "repeat the fields");
      this.#builder.merge(map, from);
    }
    return this.#builder.closeMap(map, this.#valueEnd);
  }

  /** Whether only spaces precede the position on its line. */
  #isLineHead(): boolean {
    let index = this.#at - 1;
    while (index >= this.#lineStart && this.#text.charCodeAt(index) === space) index -= 1;
    return index < this.#lineStart;
  }

  /** Whether the block at `column` has another line; moves there. */
  #continues(column: number): boolean {
    // The value ends on its line, or the position is already at the next token.
    if (!this.#isLineHead()) {
      this.#skipSpaces();
      if (!this.#isAtLineEnd())
        this.#fail("Unexpected text after the value", "put a text that contains `: ` or ` #` in quotes");
    }
    this.#skipBlank();
    if (this.#at >= this.#end || this.#isMarker()) return false;
    const found = this.#at - this.#lineStart;
    if (found > column) this.#fail("The indentation does not match the preceding lines");
    return found === column;
  }

  /** Reads a value that begins on this line, after a name, after a dash, or alone. */
  #readInline(indent: number, depth: number): Node {
    const first = this.#text.charCodeAt(this.#at);
    if (first === openBracket) return this.#readFlowList(depth);
    if (first === openBrace) return this.#readFlowMap(depth);
    this.#step(depth);
    if (first === pipe || first === greater) return this.#readBlockScalar(indent);
    if (this.#isQuote(first)) return this.#readQuotedNode();
    if (first === asterisk) return this.#readAlias();
    return this.#readPlain(indent, false);
  }

  #readQuotedNode(): Node {
    const from = this.#at;
    const value = this.#readQuoted();
    this.#lastText = value;
    return this.#builder.scalar(value, value, from, this.#at, false);
  }

  #readAlias(): Node {
    const from = this.#at;
    this.#at += 1;
    while (!this.#isGap(this.#at) && !this.#isFlowIndicator(this.#text.charCodeAt(this.#at))) this.#at += 1;
    const name = this.#text.slice(from + 1, this.#at);
    const found = this.#anchors.get(name);
    if (found === undefined)
      this.#fail(`No anchor precedes the alias *${name}`, "quote a text that begins with *", from);
    this.#valueEnd = this.#at;
    this.#lastText = undefined;
    return found;
  }

  #readBlockScalar(indent: number): Node {
    const start = this.#at;
    const header = /[|>]([-+]?)([1-9]?)([-+]?)[ \t]*(?:#[^\n]*)?(?=\n|$)/y;
    header.lastIndex = this.#at;
    const found = header.exec(this.#text);
    if (found === null) this.#fail("Cannot read the header of a block text");
    const isFolded = this.#text.charCodeAt(this.#at) === greater;
    const chomping = found[1] || found[3] || "";
    this.#at += found[0].length;
    if (!/^[|>]-?$/.test(found[0])) this.#refuseExact();
    let column = found[2] === "" ? -1 : Math.max(indent, 0) + Number(found[2]);
    const lines: string[] = [];
    this.#valueEnd = this.#at;
    while (this.#at < this.#end) {
      const from = this.#at + 1;
      const stop = this.#lineEnd(from);
      let content = from;
      while (content < stop && this.#text.charCodeAt(content) === space) content += 1;
      const isEmpty = content === stop;
      if (isEmpty && (column === -1 || stop - from > column)) this.#refuseExact();
      if (!isEmpty && column === -1) column = content - from;
      if (!isEmpty && (content - from < column || column <= indent)) break;
      // The line break at the end of the text ends the last line and does not begin another.
      if (from < this.#end) {
        lines.push(
          isEmpty && (column === -1 || stop - from <= column) ? "" : this.#text.slice(from + column, stop),
        );
      }
      if (!isEmpty) this.#valueEnd = Math.min(stop + 1, this.#end);
      this.#at = stop;
      this.#lineStart = from;
    }
    if (lines.length === 0) this.#refuseExact();
    const value = blockText(lines, { isFolded, chomping });
    this.#lastText = value;
    return this.#builder.scalar(value, value, start, this.#valueEnd, false);
  }

  /** Whether a plain text can begin here. */
  #canBeginPlain(isFlow: boolean): boolean {
    const unit = this.#text.charCodeAt(this.#at);
    if (unit === dash || unit === question || unit === colon) {
      return (
        !this.#isGap(this.#at + 1) &&
        !(this.#isExact && isFlow && this.#isFlowIndicator(this.#text.charCodeAt(this.#at + 1)))
      );
    }
    return unit > 0x7f || !isIndicator[unit];
  }

  /** Returns `to` without the white space before it. */
  #endOfText(from: number, to: number): number {
    let index = to;
    for (; index > from; index -= 1) {
      const unit = this.#text.charCodeAt(index - 1);
      if (unit !== space && unit !== tab) break;
    }
    return index;
  }

  /** Reads a plain text with all its lines. */
  #readPlain(indent: number, isFlow: boolean): Node {
    if (!this.#canBeginPlain(isFlow))
      this.#fail(
        `A text without quotes cannot begin with ${this.#text[this.#at] ?? "nothing"}`,
        "put the text in quotes",
      );
    const from = this.#at;
    const written = this.#readPlainLine(isFlow);
    const blank =
      this.#text.charCodeAt(this.#at) === newline ? this.#skipToContinuation(indent, isFlow) : undefined;
    if (blank !== undefined && isFlow) this.#refuseExact();
    if (blank !== undefined) return this.#readPlainLines(from, written, blank, indent, isFlow);
    const value = readScalar(written);
    if (
      this.#isExact &&
      typeof value === "string" &&
      from < this.#valueEnd &&
      this.#text.charCodeAt(from) < 0x3a
    )
      this.#refuseNotJson(written);
    this.#lastText = written;
    return this.#builder.scalar(value, written, from, this.#valueEnd, true);
  }

  #refuseNotJson(written: string): void {
    if (notJson.test(written)) this.#refuseExact();
  }

  /** Reads the part of a plain text that is on this line. */
  #readPlainLine(isFlow: boolean): string {
    const from = this.#at;
    this.#at = this.#plainEnd(isFlow);
    this.#valueEnd = this.#endOfText(from, this.#at);
    if (!isFlow && this.#text.charCodeAt(this.#at) === colon)
      this.#fail("A text without quotes contains a second `: `", "put a text that contains `: ` in quotes");
    return this.#text.slice(from, this.#valueEnd);
  }

  /** Reads the continuation lines of a text that began with `first`, after `blank` empty lines. */
  #readPlainLines(from: number, first: string, blank: number, indent: number, isFlow: boolean): Node {
    let joined = first;
    let breaks: number | undefined = blank;
    while (breaks !== undefined) {
      joined += breaks === 0 ? " " : "\n".repeat(breaks);
      joined += this.#readPlainLine(isFlow);
      breaks =
        this.#text.charCodeAt(this.#at) === newline ? this.#skipToContinuation(indent, isFlow) : undefined;
    }
    this.#lastText = joined;
    return this.#builder.scalar(joined, joined, from, this.#valueEnd, true);
  }

  #plainEnd(isFlow: boolean): number {
    const run = isFlow ? flowRun : plainRun;
    run.lastIndex = this.#at;
    for (;;) {
      run.test(this.#text);
      const index = run.lastIndex;
      const unit = this.#text.charCodeAt(index);
      if (unit === colon) {
        if (this.#isGap(index + 1) || (isFlow && this.#isFlowIndicator(this.#text.charCodeAt(index + 1))))
          return index;
      } else if (unit !== hash || this.#isGap(index - 1)) return index;
      run.lastIndex = index + 1;
    }
  }

  /** Moves to the line that continues a text and returns the number of empty lines before it; stays if there is none. */
  #skipToContinuation(indent: number, isFlow: boolean): number | undefined {
    const savedAt = this.#at;
    const savedStart = this.#lineStart;
    let blank = -1;
    let hasTab = false;
    while (this.#at < this.#end) {
      this.#at += 1;
      this.#lineStart = this.#at;
      blank += 1;
      while (this.#text.charCodeAt(this.#at) === space) this.#at += 1;
      if (this.#text.charCodeAt(this.#at) === tab) {
        hasTab = true;
        this.#skipSpaces();
      }
      if (this.#text.charCodeAt(this.#at) !== newline) break;
    }
    const unit = this.#text.charCodeAt(this.#at);
    const isOver = this.#at >= this.#end || unit === hash || this.#isMarker();
    const isDeeper = isFlow || this.#at - this.#lineStart > indent;
    const isClosed = isFlow && (unit === comma || unit === closeBracket || unit === closeBrace);
    if (!isOver && isDeeper && !isClosed) return blank;
    this.#peekedFrom = hasTab ? -1 : savedAt;
    this.#peekedAt = this.#at;
    this.#peekedLine = this.#lineStart;
    this.#at = savedAt;
    this.#lineStart = savedStart;
    return undefined;
  }

  /** Skips spaces, line breaks and comments between brackets. */
  #skipFlow(): void {
    for (;;) {
      this.#skipSpaces();
      const unit = this.#text.charCodeAt(this.#at);
      if (unit === hash && this.#isGap(this.#at - 1)) this.#at = this.#lineEnd(this.#at);
      else if (unit !== newline) break;
      if (this.#at >= this.#end) break;
      this.#refuseExact();
      this.#at += 1;
      this.#lineStart = this.#at;
    }
    if (this.#at >= this.#end) this.#fail("A bracket is not closed");
  }

  #readFlowValue(depth: number): Node {
    if (this.#isLetter(this.#text.charCodeAt(this.#at))) {
      this.#step(depth);
      return this.#readPlain(-1, true);
    }
    const anchor = this.#readProperties();
    this.#skipFlow();
    const first = this.#text.charCodeAt(this.#at);
    let node: Node;
    if (first === openBracket) node = this.#readFlowList(depth);
    else if (first === openBrace) node = this.#readFlowMap(depth);
    else {
      this.#step(depth);
      if (this.#isQuote(first)) node = this.#readQuotedNode();
      else if (first === asterisk) node = this.#readAlias();
      else if (first === comma || first === closeBracket || first === closeBrace) node = this.#nothing();
      else node = this.#readPlain(-1, true);
    }
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    return node;
  }

  #readFlowList(depth: number): Node {
    this.#step(depth);
    const list = this.#builder.openList(this.#at);
    this.#at += 1;
    this.#skipFlow();
    while (this.#text.charCodeAt(this.#at) !== closeBracket) {
      const start = this.#at;
      const item = this.#readFlowValue(depth + 1);
      this.#skipFlow();
      if (this.#text.charCodeAt(this.#at) === colon)
        this.#builder.addItem(list, this.#readLonePair(start, depth + 1), start);
      else this.#builder.addItem(list, item, start);
      this.#endFlowItem(closeBracket);
    }
    this.#at += 1;
    this.#valueEnd = this.#at;
    this.#lastText = undefined;
    return this.#builder.closeList(list, this.#at);
  }

  /** Reads the rest of a field without braces, as in `[a: b]`, after its name. */
  #readLonePair(start: number, depth: number): Node {
    this.#refuseExact();
    const key = this.#lastText ?? this.#fail("A field name must be a plain text", undefined, start);
    const map = this.#builder.openMap(start);
    const keyTo = this.#valueEnd;
    this.#at += 1;
    this.#skipFlow();
    this.#builder.addField(map, key, start, keyTo, this.#readFlowValue(depth + 1));
    this.#lastText = undefined;
    return this.#builder.closeMap(map, this.#valueEnd);
  }

  #readFlowMap(depth: number): Node {
    this.#step(depth);
    const map = this.#builder.openMap(this.#at);
    this.#at += 1;
    this.#skipFlow();
    while (this.#text.charCodeAt(this.#at) !== closeBrace) {
      const start = this.#at;
      const key = this.#readFlowKey();
      const keyTo = this.#at;
      this.#skipFlow();
      let value: Node;
      if (this.#text.charCodeAt(this.#at) === colon) {
        this.#at += 1;
        this.#skipFlow();
        value = this.#readFlowValue(depth + 1);
      } else value = this.#nothing();
      this.#builder.addField(map, key, start, keyTo, value);
      this.#endFlowItem(closeBrace);
    }
    this.#at += 1;
    this.#valueEnd = this.#at;
    this.#lastText = undefined;
    return this.#builder.closeMap(map, this.#at);
  }

  #readFlowKey(): string {
    if (this.#isQuote(this.#text.charCodeAt(this.#at))) return this.#readQuoted();
    if (this.#isExact && !this.#canBeginPlain(true)) this.#refuseExact();
    const first = this.#text.charCodeAt(this.#at);
    if (first === ampersand || first === asterisk || first === exclamation)
      this.#fail("A field name must be a plain text");
    const from = this.#at;
    this.#at = this.#endOfText(from, this.#plainEnd(true));
    const key = this.#text.slice(from, this.#at);
    if (this.#isExact && (key === "<<" || key.length > keyMaxLength || typeof readScalar(key) !== "string"))
      this.#refuseExact();
    return key;
  }

  /** Moves to the next item, or to the closing bracket. */
  #endFlowItem(closing: number): void {
    this.#skipFlow();
    const unit = this.#text.charCodeAt(this.#at);
    if (unit === comma) {
      this.#at += 1;
      this.#skipFlow();
    } else if (unit !== closing) this.#fail(`"," or "${String.fromCharCode(closing)}" belongs here`);
  }
}
