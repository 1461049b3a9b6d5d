/**
 * The scanner produces tokens on demand. Each call of `next` stores the next token in
 * the fields of the scanner, without allocating an object. Blank lines are skipped,
 * and so are line breaks within brackets. Indentation becomes INDENT and OUTDENT
 * tokens. A line break is `\n`, `\r\n` or `\r`. Operators and comments of other
 * languages (`&&`, `===`, `<>`, block comments) are reported and then read as their
 * equivalent in Starlark, so that the parser can continue.
 *
 * The scanner never throws: invalid text is reported once and becomes
 * `Token.Illegal`. It takes time linear in the length of the text. It is one piece
 * because all of it works on the same few fields.
 */

import type { Comment } from "./ast.ts";
import type { ProblemList } from "./problem-list.ts";
import { adviseOnCharacter } from "./python-habits.ts";
import { appendUtf8, readEscape } from "./string-escape.ts";
import { keywords, Token, type TokenKind } from "./token.ts";

/** The notation of a string literal. */
export interface StringForm {
  /** Offset of the prefix or of the first quote. */
  readonly start: number;
  /** The quote character, as a character code. */
  readonly quote: number;
  readonly triple: boolean;
  readonly raw: boolean;
  /** Offset of the first character between the quotes. */
  readonly contentStart: number;
}

const tab = 9;
const lineFeed = 10;
const carriageReturn = 13;
const space = 32;
const bang = 33;
const doubleQuote = 34;
const hash = 35;
const singleQuote = 39;
const plus = 43;
const minus = 45;
const dot = 46;
const slash = 47;
const digitZero = 48;
const digitSeven = 55;
const digitNine = 57;
const less = 60;
const equal = 61;
const greater = 62;
const backslash = 92;
const underscore = 95;
const leftBrace = 123;
const rightBrace = 125;

/** Maximum number of digits of an int literal; a longer one would exceed the largest int. @limit program */
const maxIntDigits = 20_000;

export class Scanner {
  /** The current token: its kind, its range and its value. */
  kind: TokenKind = Token.Newline;
  start = 0;
  end = 0;
  /** The name of an identifier or keyword, or the value of a string. */
  text = "";
  /** The value of a float or an int (a bigint if a number would not be exact). */
  number: number | bigint = 0;
  bytes: Uint8Array = new Uint8Array(0);
  /** The notation of the last string or f-string. */
  form: StringForm = { start: 0, quote: doubleQuote, triple: false, raw: false, contentStart: 0 };

  /** The previous token. */
  previousKind: TokenKind = Token.Newline;
  previousStart = 0;
  previousEnd = 0;

  /** The indentation of the last line, and whether the current token is the first one on it. */
  column = 0;
  isFirstOnLine = false;

  /** Offsets of the open brackets. */
  readonly brackets: number[] = [];
  readonly comments: Comment[] = [];
  /** Start of the single-line f-string whose field is being scanned; -1 outside. Its line must not end. */
  openFString = -1;
  /** Whether the innermost braces may belong to a field of an f-string. */
  isField = false;

  readonly #text: string;
  readonly #problems: ProblemList;
  readonly #fStrings: boolean;
  readonly #indents: number[] = [0];
  /** Pending INDENT (positive) or OUTDENT (negative) tokens. */
  #dents = 0;
  #lineStart = true;
  #lineOffset = 0;
  #at = 0;

  constructor(text: string, problems: ProblemList, fStrings: boolean) {
    this.#text = text;
    this.#problems = problems;
    this.#fStrings = fStrings;
    if (text.charCodeAt(0) === 0xfeff) this.#at = 1;
  }

  /** Whether only dedents follow the token. */
  get isAtEnd(): boolean {
    return this.kind === Token.EndOfFile || (this.kind === Token.Outdent && this.#at >= this.#text.length);
  }

  /** Whether the token is a `kind`. */
  is(kind: TokenKind): boolean {
    return this.kind === kind;
  }

  /** Scans the next token. */
  next(): void {
    this.previousKind = this.kind;
    this.previousStart = this.start;
    this.previousEnd = this.end;
    this.kind = this.#scan();
    this.end = this.#at;
  }

  /** Scans the line of the token again, as a line outside brackets, to recover from an error. */
  restartLine(): void {
    this.brackets.length = 0;
    this.leaveField(-1, false);
    this.#at = this.#lineOffset;
    this.#lineStart = true;
    this.next();
  }

  /** The next line that has a token: its indentation, and whether it starts with a closing bracket. */
  nextLine(): { readonly column: number; readonly closes: boolean } {
    const text = this.#text;
    let column = 0;
    for (let at = this.#at; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit === space) column += 1;
      else if (unit === tab) column = (column | 7) + 1;
      else if (isLineBreak(unit)) column = 0;
      else if (unit === hash) {
        while (at + 1 < text.length && !isLineBreak(text.charCodeAt(at + 1))) at += 1;
      } else return { column, closes: unit === 41 || unit === 93 || unit === rightBrace };
    }
    return { column: 0, closes: false };
  }

  /** The indentation of the block around the innermost one. */
  get outerColumn(): number {
    return this.#indents.at(-2) ?? 0;
  }

  /** Continues after an f-string that has an error, as if it ended at its first closing quotes. */
  skipFString(form: StringForm, bracketCount: number): void {
    this.brackets.length = bracketCount;
    const text = this.#text;
    const quotes = String.fromCharCode(form.quote).repeat(form.triple ? 3 : 1);
    let at = form.contentStart;
    while (at < text.length && !text.startsWith(quotes, at)) {
      const unit = text.charCodeAt(at);
      if (!form.triple && isLineBreak(unit)) break;
      at += unit === backslash ? 2 : 1;
    }
    this.#at = Math.min(text.length, text.startsWith(quotes, at) ? at + quotes.length : at);
    this.end = this.#at;
  }

  #illegal(start: number, end: number, message: string, hint?: string, code = "STARLARK_SYNTAX"): TokenKind {
    this.#problems.add({ code, start, end, message, hint });
    this.#at = Math.max(end, this.#at);
    return Token.Illegal;
  }

  #scan(): TokenKind {
    const text = this.#text;
    const length = text.length;
    for (;;) {
      let at = this.#at;
      let unit: number;
      const isFresh = this.#lineStart;
      let isBlank = false;
      this.isFirstOnLine = isFresh;
      if (isFresh) {
        this.#lineStart = false;
        this.#lineOffset = at;
        let column = 0;
        for (; ; at += 1) {
          unit = text.charCodeAt(at);
          if (unit === space) column += 1;
          else if (unit === tab) column = (column | 7) + 1;
          else break;
        }
        this.#at = at;
        this.column = column;
        isBlank = at >= length || unit === hash || unit === lineFeed || unit === carriageReturn;
        if (!isBlank && this.brackets.length === 0) this.#indent(column);
      }
      if (this.#dents !== 0) {
        this.start = at;
        if (this.#dents < 0) {
          this.#dents += 1;
          return Token.Outdent;
        }
        this.#dents -= 1;
        return Token.Indent;
      }

      unit = text.charCodeAt(at);
      while (unit === space || unit === tab) {
        at += 1;
        unit = text.charCodeAt(at);
      }
      if (unit === hash) {
        const start = at;
        do {
          at += 1;
          unit = text.charCodeAt(at);
        } while (at < length && unit !== lineFeed && unit !== carriageReturn);
        this.comments.push({ text: text.slice(start, at), start, end: at });
      }
      this.start = at;
      if (unit === lineFeed || unit === carriageReturn) {
        if (this.openFString !== -1) return this.#unclosedField(at);
        this.#at = unit === carriageReturn && text.charCodeAt(at + 1) === lineFeed ? at + 2 : at + 1;
        this.#lineStart = true;
        if (this.brackets.length > 0 || isBlank) continue;
        return Token.Newline;
      }
      this.#at = at;
      if (at >= length) return this.#endOfFile(isFresh);
      if (unit === backslash) {
        const after = text.charCodeAt(at + 1);
        if (after !== lineFeed && after !== carriageReturn) {
          const hint = "a backslash continues a line and is the last character of it";
          return this.#illegal(at, at + 1, "stray backslash in program", hint);
        }
        this.#at = after === carriageReturn && text.charCodeAt(at + 2) === lineFeed ? at + 3 : at + 2;
        continue;
      }
      if (unit === slash && text.charCodeAt(at + 1) === 42) {
        this.#skipBlockComment(at);
        continue;
      }
      return this.#token(unit, at);
    }
  }

  /** Compares the indentation of a line with the open blocks. */
  #indent(column: number): void {
    const indents = this.#indents;
    if (column > indents.at(-1)!) {
      indents.push(column);
      this.#dents += 1;
      return;
    }
    let popped = 0;
    while (column < indents.at(-1)!) {
      indents.pop();
      popped += 1;
    }
    if (column !== indents.at(-1)!) {
      const message = "unindent does not match any outer indentation level";
      const columns = [...new Set(indents)].join(" or ");
      const hint = `the blocks around it are indented by ${columns} columns; indent this line as one of them`;
      const start = this.#at;
      this.#problems.add({ code: "STARLARK_SYNTAX", start, end: start + 1, message, hint });
      // Continue as if the block had this indentation from its start.
      indents.push(column);
      popped -= 1;
    }
    this.#dents -= popped;
  }

  /** Closes all open blocks, after a line break if there was none. */
  #endOfFile(isFresh: boolean): TokenKind {
    if (this.#indents.length === 1 || this.brackets.length > 0) return Token.EndOfFile;
    if (!isFresh) {
      this.#lineStart = true;
      return Token.Newline;
    }
    this.#dents = 2 - this.#indents.length;
    this.#indents.length = 1;
    this.#lineStart = true;
    return Token.Outdent;
  }

  #skipBlockComment(at: number): void {
    const close = this.#text.indexOf("*/", at + 2);
    const end = close === -1 ? this.#text.length : close + 2;
    const hint = "comments begin with # and end with the line";
    const message = "Starlark has no /* */ comments";
    this.#problems.add({ code: "STARLARK_PYTHON_HABIT", start: at, end: at + 2, message, hint });
    this.#at = end;
  }

  #token(unit: number, at: number): TokenKind {
    const text = this.#text;
    if (unit === doubleQuote || unit === singleQuote) return this.#string(at, unit, false, Token.String);
    if (isIdentifierStart(unit, text, at)) return this.#word(unit, at);
    if (unit >= digitZero && unit <= digitNine) return this.#numberLiteral(at);
    const after = text.charCodeAt(at + 1);
    this.#at = at + 1;
    switch (unit) {
      case 44:
        return Token.Comma;
      case 40:
        this.brackets.push(at);
        return Token.LeftParen;
      case 91:
        this.brackets.push(at);
        return Token.LeftBracket;
      case leftBrace:
        this.brackets.push(at);
        return Token.LeftBrace;
      case 41:
        return this.#close(Token.RightParen, ")", 40);
      case 93:
        return this.#close(Token.RightBracket, "]", 91);
      case rightBrace:
        return this.#close(Token.RightBrace, "}", leftBrace);
      case dot:
        if (after >= digitZero && after <= digitNine) return this.#numberLiteral(at);
        return Token.Dot;
      case 58:
        return Token.Colon;
      case 59:
        return Token.Semicolon;
      case 126:
        return Token.Tilde;
      case equal:
        if (after !== equal) return Token.Equal;
        this.#at += 1;
        return this.#foreignEquals(at, "===", "==", Token.EqualEqual);
      case plus:
        return this.#orAssign(after, Token.Plus, Token.PlusEqual);
      case minus:
        return this.#orAssign(after, Token.Minus, Token.MinusEqual);
      case 37:
        return this.#orAssign(after, Token.Percent, Token.PercentEqual);
      case 94:
        return this.#orAssign(after, Token.Caret, Token.CaretEqual);
      case 38:
        if (after === 38) return this.#foreign(at, "&&", "and", Token.And);
        return this.#orAssign(after, Token.Ampersand, Token.AmpersandEqual);
      case 124:
        if (after === 124) return this.#foreign(at, "||", "or", Token.Or);
        return this.#orAssign(after, Token.Pipe, Token.PipeEqual);
      case 42:
        if (after !== 42) return this.#orAssign(after, Token.Star, Token.StarEqual);
        this.#at += 1;
        return Token.StarStar;
      case slash:
        if (after !== slash) return this.#orAssign(after, Token.Slash, Token.SlashEqual);
        this.#at += 1;
        return this.#orAssign(text.charCodeAt(at + 2), Token.SlashSlash, Token.SlashSlashEqual);
      case less:
        if (after === greater) return this.#foreign(at, "<>", "!=", Token.NotEqual);
        if (after !== less) return this.#orAssign(after, Token.Less, Token.LessEqual);
        this.#at += 1;
        return this.#orAssign(text.charCodeAt(at + 2), Token.LessLess, Token.LessLessEqual);
      case greater:
        if (after !== greater) return this.#orAssign(after, Token.Greater, Token.GreaterEqual);
        this.#at += 1;
        return this.#orAssign(text.charCodeAt(at + 2), Token.GreaterGreater, Token.GreaterGreaterEqual);
      case bang:
        return this.#bang(at, after);
      default: {
        const character = String.fromCodePoint(text.codePointAt(at)!);
        const advice = adviseOnCharacter(text, at, character);
        const message = `unexpected input character ${quoteCharacter(character)}`;
        return this.#illegal(at, at + character.length, message, advice?.hint, advice?.code);
      }
    }
  }

  /** Scans an operator, or an augmented assignment if `=` follows it. */
  #orAssign(after: number, operator: TokenKind, assignment: TokenKind): TokenKind {
    if (after !== equal) return operator;
    this.#at += 1;
    return assignment;
  }

  /** Scans an operator of another language as its equivalent. */
  #foreign(at: number, foreign: string, ours: string, kind: TokenKind): TokenKind {
    this.#at = at + foreign.length;
    const message = `Starlark has no operator "${foreign}"`;
    const hint = `write ${ours}`;
    this.#problems.add({ code: "STARLARK_PYTHON_HABIT", start: at, end: this.#at, message, hint });
    return kind;
  }

  #foreignEquals(at: number, foreign: string, ours: string, kind: TokenKind): TokenKind {
    return this.#text.charCodeAt(at + 2) === equal ? this.#foreign(at, foreign, ours, kind) : kind;
  }

  #bang(at: number, after: number): TokenKind {
    if (after === equal) {
      this.#at = at + 2;
      return this.#foreignEquals(at, "!==", "!=", Token.NotEqual);
    }
    const field = this.brackets.at(-1);
    if (this.isField && field !== undefined && this.#text.charCodeAt(field) === leftBrace) return Token.Bang;
    // Treat it as `not` if an operand follows.
    const message = "unexpected input character '!'";
    // `kind` still holds the previous token.
    const canFollow =
      !endsOperand(this.kind) &&
      (isIdentifierStart(after, this.#text, at + 1) || after === 40 || after === bang);
    const hint = canFollow ? "write not" : "write != for inequality and not for negation";
    this.#problems.add({ code: "STARLARK_PYTHON_HABIT", start: at, end: at + 1, message, hint });
    return canFollow ? Token.Not : Token.Illegal;
  }

  #close(kind: TokenKind, bracket: string, opening: number): TokenKind {
    const { brackets } = this;
    if (brackets.length === 0) {
      const start = this.#at - 1;
      const hint = `no bracket is open that "${bracket}" could close; remove it`;
      return this.#illegal(start, start + 1, `unexpected '${bracket}'`, hint);
    }
    // The parser reports a bracket that closes nothing; other open brackets stay open.
    const open = brackets.findLastIndex((at) => this.#text.charCodeAt(at) === opening);
    if (open !== -1) brackets.length = open;
    return kind;
  }

  #word(first: number, start: number): TokenKind {
    const text = this.#text;
    let at = first < 128 ? start + 1 : start + (first > 0xd7ff && first < 0xdc00 ? 2 : 1);
    for (;;) {
      const unit = text.charCodeAt(at);
      if (unit < 128 ? identifierUnits[unit] === 1 : isIdentifierStart(unit, text, at)) {
        at += unit > 0xd7ff && unit < 0xdc00 ? 2 : 1;
      } else break;
    }
    const unit = text.charCodeAt(at);
    if ((unit === doubleQuote || unit === singleQuote) && at - start <= 2) {
      const prefix = this.#stringPrefix(text.slice(start, at), start, at);
      if (prefix !== undefined) return this.#string(start, unit, prefix.raw, prefix.kind);
    }
    this.#at = at;
    const word = text.slice(start, at);
    this.text = word;
    if (word.length > 1 && word.length < 9 && first > 96) {
      const keyword = keywords.get(word);
      if (keyword !== undefined) return keyword;
    }
    return Token.Identifier;
  }

  #stringPrefix(word: string, start: number, end: number): { kind: TokenKind; raw: boolean } | undefined {
    const prefix = stringPrefixes.get(word);
    if (prefix !== undefined) {
      return prefix.kind === Token.FString && !this.#fStrings ? undefined : prefix;
    }
    const meant = stringPrefixes.get(word.toLowerCase());
    if (meant === undefined || (meant.kind === Token.FString && !this.#fStrings)) {
      if (word !== "u" && word !== "U") return undefined;
      const hint = "leave the prefix out; strings are Unicode";
      const message = `Starlark has no string prefix "${word}"`;
      this.#problems.add({ code: "STARLARK_PYTHON_HABIT", start, end, message, hint });
      return { kind: Token.String, raw: false };
    }
    const message = "string prefixes are written in lower case";
    const hint = `write ${word.toLowerCase()}`;
    this.#problems.add({ code: "STARLARK_PYTHON_HABIT", start, end, message, hint });
    return meant;
  }

  // Strings.

  #string(start: number, quote: number, raw: boolean, kind: TokenKind): TokenKind {
    const text = this.#text;
    let at = start;
    while (text.charCodeAt(at) !== quote) at += 1;
    const triple = text.charCodeAt(at + 1) === quote && text.charCodeAt(at + 2) === quote;
    at += triple ? 3 : 1;
    this.form = { start, quote, triple, raw, contentStart: at };
    this.#at = at;
    if (kind === Token.FString) return kind;
    if (kind === Token.Bytes) return this.#bytes();
    return this.#content(this.form, false) === "end" ? Token.String : Token.Illegal;
  }

  /**
   * Scans the text of a string from here on: up to its closing quotes or, in an
   * f-string, up to a field, whose brace is then open. The value is stored in `text`.
   */
  fStringText(form: StringForm): "end" | "field" | "illegal" {
    const stop = this.#content(form, true);
    this.end = this.#at;
    return stop;
  }

  /** Scans a format specification from here up to the closing brace of the field, which is consumed. */
  formatSpec(form: StringForm): string | undefined {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    let depth = 0;
    for (; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit === rightBrace && depth === 0) break;
      if (unit === leftBrace) depth += 1;
      else if (unit === rightBrace) depth -= 1;
      else if (unit === form.quote || isLineBreak(unit)) break;
    }
    if (text.charCodeAt(at) !== rightBrace) {
      const hint = "close the field with }";
      this.kind = this.#illegal(start, at, "f-string: a field is not closed", hint);
      return undefined;
    }
    this.brackets.pop();
    this.#at = at + 1;
    this.end = at + 1;
    return text.slice(start, at);
  }

  /** Enters a field of an f-string: `!` is a token there, and a single-line string must not contain a line break. */
  enterField(form: StringForm): void {
    this.isField = true;
    this.openFString = form.triple ? -1 : form.start;
  }

  /** Returns to the text of an f-string, or to the field around it. */
  leaveField(openFString: number, isField: boolean): void {
    this.openFString = openFString;
    this.isField = isField;
  }

  #content(form: StringForm, isFString: boolean): "end" | "field" | "illegal" {
    const text = this.#text;
    const { quote, triple, raw } = form;
    let value = "";
    let at = this.#at;
    let runStart = at;
    for (;;) {
      const unit = text.charCodeAt(at);
      if (
        unit === quote &&
        (!triple || (text.charCodeAt(at + 1) === quote && text.charCodeAt(at + 2) === quote))
      ) {
        this.text = value + text.slice(runStart, at);
        this.#at = at + (triple ? 3 : 1);
        return "end";
      }
      if (unit === backslash && at + 1 < text.length) {
        if (raw) {
          at += 1;
          const escaped = text.charCodeAt(at);
          if (escaped === carriageReturn) {
            // A line break in a string is a line feed, whatever the file uses.
            value += `${text.slice(runStart, at)}\n`;
            at += text.charCodeAt(at + 1) === lineFeed ? 2 : 1;
            runStart = at;
          } else if (!isFString || (escaped !== leftBrace && escaped !== rightBrace)) at += 1;
        } else {
          value += text.slice(runStart, at);
          const sequence = readEscape(text, at, quote, false);
          if (sequence.problem !== undefined) this.#badEscape(at, sequence.end, sequence.problem, form);
          else if (sequence.value >= 0) value += String.fromCodePoint(sequence.value);
          at = sequence.end;
          runStart = at;
        }
      } else if (unit === lineFeed || unit === carriageReturn) {
        if (!triple) return this.#unterminated(at, form);
        if (unit === carriageReturn) {
          value += `${text.slice(runStart, at)}\n`;
          if (text.charCodeAt(at + 1) === lineFeed) at += 1;
          runStart = at + 1;
        }
        at += 1;
      } else if (isFString && (unit === leftBrace || unit === rightBrace)) {
        if (text.charCodeAt(at + 1) === unit) {
          value += text.slice(runStart, at + 1);
          at += 2;
          runStart = at;
        } else if (unit === leftBrace) {
          this.text = value + text.slice(runStart, at);
          this.brackets.push(at);
          this.#at = at + 1;
          return "field";
        } else {
          const hint = "write }} for a brace, or open a field with {";
          const message = "f-string: single '}' is not allowed";
          this.#problems.add({ code: "STARLARK_SYNTAX", start: at, end: at + 1, message, hint });
          at += 1;
        }
      } else if (at >= text.length) return this.#unterminated(at, form);
      else at += 1;
    }
  }

  #badEscape(start: number, end: number, message: string, form: StringForm): void {
    const written = this.#text.slice(start, end);
    const quote = String.fromCharCode(form.quote);
    const hint = message.startsWith("non-ASCII")
      ? undefined
      : `write "\\${written}" for a backslash, or put r before the opening ${quote}`;
    this.#problems.add({ code: "STARLARK_SYNTAX", start, end, message, hint });
  }

  #unterminated(at: number, form: StringForm): "illegal" {
    if (this.openFString !== -1) {
      this.#unclosedField(at);
      return "illegal";
    }
    const quotes = String.fromCharCode(form.quote).repeat(form.triple ? 3 : 1);
    const isEnd = at >= this.#text.length;
    const message = isEnd ? "unexpected EOF in string" : "unexpected newline in string";
    const hint = form.triple
      ? `close the string with ${quotes}`
      : `close the string with ${quotes}; a string of several lines needs ${quotes.repeat(3)}`;
    const code = isEnd && form.triple ? "STARLARK_UNFINISHED" : "STARLARK_SYNTAX";
    this.#illegal(form.start, at, message, hint, code);
    return "illegal";
  }

  #unclosedField(at: number): TokenKind {
    const brace = this.brackets.at(-1) ?? at;
    this.openFString = -1;
    const hint = "close the field with } and the string with its quote; write {{ for a brace";
    return this.#illegal(brace, at, "f-string: a field is not closed on its line", hint);
  }

  #bytes(): TokenKind {
    const text = this.#text;
    const form = this.form;
    const { quote, triple, raw } = form;
    const bytes: number[] = [];
    let at = this.#at;
    for (;;) {
      const unit = text.charCodeAt(at);
      if (
        unit === quote &&
        (!triple || (text.charCodeAt(at + 1) === quote && text.charCodeAt(at + 2) === quote))
      ) {
        this.#at = at + (triple ? 3 : 1);
        this.bytes = Uint8Array.from(bytes);
        return Token.Bytes;
      }
      if (unit === backslash && at + 1 < text.length) {
        if (raw) {
          bytes.push(backslash);
          at += 1;
          const escaped = text.charCodeAt(at);
          if (escaped === lineFeed || escaped === carriageReturn) {
            bytes.push(lineFeed);
            at += escaped === carriageReturn && text.charCodeAt(at + 1) === lineFeed ? 2 : 1;
          } else at = appendUtf8(bytes, text, at);
        } else {
          const sequence = readEscape(text, at, quote, true);
          if (sequence.problem !== undefined) this.#badEscape(at, sequence.end, sequence.problem, form);
          else if (sequence.value >= 0) {
            if (sequence.isByte) bytes.push(sequence.value);
            else appendUtf8(bytes, String.fromCodePoint(sequence.value), 0);
          }
          at = sequence.end;
        }
      } else if (unit === lineFeed || unit === carriageReturn) {
        if (!triple) {
          this.#unterminated(at, form);
          return Token.Illegal;
        }
        bytes.push(lineFeed);
        at += unit === carriageReturn && text.charCodeAt(at + 1) === lineFeed ? 2 : 1;
      } else if (at >= text.length) {
        this.#unterminated(at, form);
        return Token.Illegal;
      } else at = appendUtf8(bytes, text, at);
    }
  }

  // Numbers.

  #numberLiteral(start: number): TokenKind {
    const text = this.#text;
    let at = start;
    if (text.charCodeAt(at) === digitZero) {
      const radix = text.charCodeAt(at + 1) | 32;
      if (radix === 120) return this.#radixLiteral(start, "hex", isHexDigit);
      if (radix === 111) return this.#radixLiteral(start, "octal", isOctalDigit);
      if (radix === 98) return this.#radixLiteral(start, "binary", isBinaryDigit);
    }
    at = skipDigits(text, at);
    const digitsEnd = at;
    let isFloat = false;
    if (text.charCodeAt(at) === dot) {
      isFloat = true;
      at = skipDigits(text, at + 1);
    }
    if ((text.charCodeAt(at) | 32) === 101) {
      isFloat = true;
      at += 1;
      const sign = text.charCodeAt(at);
      if (sign === plus || sign === minus) at += 1;
      const exponentStart = at;
      at = skipDigits(text, at);
      if (at === exponentStart) return this.#illegal(start, at, "invalid float literal");
    }
    this.#at = at;
    if (isFloat) {
      const value = Number(text.slice(start, at));
      if (value === Number.POSITIVE_INFINITY) {
        const hint = 'write float("inf") for infinity';
        return this.#illegal(start, at, "invalid float literal", hint);
      }
      this.number = value;
      return Token.Float;
    }
    if (text.charCodeAt(start) === digitZero && digitsEnd > start + 1) return this.#leadingZero(start, at);
    if (text.charCodeAt(at) === underscore && isDigit(text.charCodeAt(at + 1))) {
      return this.#digitGroups(start, at);
    }
    return this.#intValue(start, at, text.slice(start, at));
  }

  #radixLiteral(start: number, name: string, isDigitOfIt: (unit: number) => boolean): TokenKind {
    const text = this.#text;
    let at = start + 2;
    while (isDigitOfIt(text.charCodeAt(at))) at += 1;
    this.#at = at;
    if (at === start + 2) return this.#illegal(start, at, `invalid ${name} literal`);
    return this.#intValue(start, at, text.slice(start, at));
  }

  #intValue(start: number, end: number, digits: string): TokenKind {
    if (digits.length > maxIntDigits) {
      return this.#illegal(start, end, `int literal has more than ${maxIntDigits} digits`);
    }
    // Number() parses 0x, 0o and 0b as well as decimals.
    const value = Number(digits);
    this.number = value <= Number.MAX_SAFE_INTEGER ? value : BigInt(digits);
    return Token.Int;
  }

  #leadingZero(start: number, end: number): TokenKind {
    const digits = this.#text.slice(start, end);
    const significant = digits.replace(/^0+/, "");
    if (significant === "") return this.#intValue(start, end, "0");
    for (let at = 0; at < digits.length; at += 1) {
      if (digits.charCodeAt(at) > digitSeven) {
        return this.#illegal(start, end, "invalid int literal", `write ${significant} without leading zeros`);
      }
    }
    const message = `obsolete form of octal literal; use 0o${digits.slice(1)}`;
    return this.#illegal(start, end, message, `write ${significant} for a decimal number`);
  }

  #digitGroups(start: number, end: number): TokenKind {
    const text = this.#text;
    let at = end;
    while (isDigit(text.charCodeAt(at)) || text.charCodeAt(at) === underscore) at += 1;
    const digits = text.slice(start, at).replaceAll("_", "");
    this.#at = at;
    const message = "Starlark has no _ between digits";
    this.#problems.add({ code: "STARLARK_PYTHON_HABIT", start, end: at, message, hint: `write ${digits}` });
    return this.#intValue(start, at, digits);
  }
}

const stringPrefixes: ReadonlyMap<string, { readonly kind: TokenKind; readonly raw: boolean }> = new Map([
  ["r", { kind: Token.String, raw: true }],
  ["b", { kind: Token.Bytes, raw: false }],
  ["rb", { kind: Token.Bytes, raw: true }],
  ["br", { kind: Token.Bytes, raw: true }],
  ["f", { kind: Token.FString, raw: false }],
  ["fr", { kind: Token.FString, raw: true }],
  ["rf", { kind: Token.FString, raw: true }],
]);

/** ASCII characters that are valid in a name. */
const identifierUnits: Uint8Array = (() => {
  const table = new Uint8Array(128);
  for (const character of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") {
    table[character.charCodeAt(0)] = 1;
  }
  return table;
})();

/** Whether an operator can follow a token of `kind`. */
function endsOperand(kind: TokenKind): boolean {
  return (
    (kind >= Token.Identifier && kind <= Token.FString) ||
    kind === Token.RightParen ||
    kind === Token.RightBracket ||
    kind === Token.RightBrace
  );
}

const letter = /^\p{L}/u;

function isIdentifierStart(unit: number, text: string, at: number): boolean {
  if (unit < 128) return identifierUnits[unit] === 1 && !isDigit(unit);
  return unit >= 128 && letter.test(String.fromCodePoint(text.codePointAt(at)!));
}

function skipDigits(text: string, from: number): number {
  let at = from;
  while (isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

function isDigit(unit: number): boolean {
  return unit >= digitZero && unit <= digitNine;
}

function isHexDigit(unit: number): boolean {
  return isDigit(unit) || ((unit | 32) >= 97 && (unit | 32) <= 102);
}

function isOctalDigit(unit: number): boolean {
  return unit >= digitZero && unit <= digitSeven;
}

function isBinaryDigit(unit: number): boolean {
  return unit === digitZero || unit === digitZero + 1;
}

function isLineBreak(unit: number): boolean {
  return unit === lineFeed || unit === carriageReturn;
}

/** Quotes a character like Go: in backquotes if it would need an escape. */
function quoteCharacter(character: string): string {
  return character === "'" ? '"\'"' : `'${character}'`;
}
