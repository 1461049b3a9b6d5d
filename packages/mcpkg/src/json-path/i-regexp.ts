/**
 * I-Regexp (RFC 9485), the patterns of `match` and `search` in JSONPath. A pattern is checked
 * against the grammar and translated to RE2, which takes linear time for every pattern and text.
 *
 * `^` and `$` are anchors, as in the mapping to ECMAScript (RFC 9485, section 5.3) and in the
 * compliance suite of RFC 9535. The dot is any character but `\n` and `\r`.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import { RE2JS } from "re2js";

/** A pattern that is ready to be applied. */
export interface CompiledIRegexp {
  /** Whether the pattern matches `text` anywhere. */
  test(text: string): boolean;
  /** Work for one character of a text, as a factor. */
  readonly size: number;
}

/** Longest pattern in UTF-16 units. */
const patternMaxLength = 1000;
/** Greatest count of a quantifier; RE2 has the same limit. */
const countMax = 1000;
const groupsMaxDepth = 100;

/** The outcome of compiling a pattern: `invalid` is no I-Regexp, `unsupported` needs more than the limits allow. */
export type IRegexpOutcome =
  | { readonly kind: "compiled"; readonly regexp: CompiledIRegexp }
  | { readonly kind: "invalid" }
  | { readonly kind: "unsupported"; readonly reason: string };

/** Compiles `pattern`. With `isWhole`, it has to match a text from its start to its end. @throws {CodedError} `LIBRARY_UNAVAILABLE` */
export function compileIRegexp(pattern: string, isWhole: boolean): IRegexpOutcome {
  if (pattern.length > patternMaxLength) {
    return { kind: "unsupported", reason: `it has more than ${patternMaxLength} characters` };
  }
  const translation = new Translation(pattern);
  const text = translation.run();
  if (text === undefined) {
    const { reason } = translation;
    return reason === undefined ? { kind: "invalid" } : { kind: "unsupported", reason };
  }
  try {
    const compiled = RE2JS.compile(isWhole ? `^(?:${text})$` : text);
    return {
      kind: "compiled",
      regexp: { test: (value) => compiled.matcher(value).find(), size: compiled.programSize() },
    };
  } catch (thrown) {
    // RE2 could not be loaded.
    if (isCodedError(thrown)) throw thrown;
    return { kind: "unsupported", reason: (thrown as Error).message };
  }
}

const category = /\\[pP]\{(?:L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|Z[lps]?|S[ckmo]?|C[cfno]?)\}/uy;
const quantifier = /[*+?]|\{(\d+)(?:,(\d*))?\}/uy;
const singleEscape = /\\[()*+\-.?[\\\]^nrt{|}]/uy;
/** Characters that stand for themselves, without surrogates. */
const normal = /[^()*+.?[\\\]{|}\uD800-\uDFFF]/uy;
const classCharacter = /[^\-[\\\]\uD800-\uDFFF]/uy;

/** Reads a pattern from left to right; the grammar is in RFC 9485, section 3. */
class Translation {
  readonly #pattern: string;
  #at = 0;
  #depth = 0;
  /** Why the pattern is beyond the limits, although it may be valid. */
  reason: string | undefined;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  /** Returns the pattern for RE2; undefined if it is not valid or beyond the limits. */
  run(): string | undefined {
    const text = this.#alternatives();
    return text !== undefined && this.#at === this.#pattern.length ? text : undefined;
  }

  #alternatives(): string | undefined {
    const pieces: string[] = [];
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ")") {
      if (this.#take("|")) {
        pieces.push("|");
        continue;
      }
      const piece = this.#piece();
      if (piece === undefined) return undefined;
      pieces.push(piece);
    }
    return pieces.join("");
  }

  #piece(): string | undefined {
    const atom = this.#atom();
    if (atom === undefined) return undefined;
    const found = this.#match(quantifier);
    if (found === undefined) return atom;
    const counts = found
      .slice(1, -1)
      .split(",")
      .filter((part) => part !== "")
      .map(Number);
    if (counts.some((count) => count > countMax)) {
      this.reason = `it repeats a part more than ${countMax} times`;
      return undefined;
    }
    const [least = 0, most = least] = counts;
    return least > most ? undefined : `${atom}${found}`;
  }

  #atom(): string | undefined {
    if (this.#take("(")) {
      this.#depth += 1;
      if (this.#depth > groupsMaxDepth) this.reason = `it nests groups deeper than ${groupsMaxDepth} levels`;
      const inner = this.reason === undefined ? this.#alternatives() : undefined;
      this.#depth -= 1;
      return inner === undefined || !this.#take(")") ? undefined : `(?:${inner})`;
    }
    if (this.#take(".")) return "[^\\n\\r]";
    if (this.#take("[")) return this.#class();
    const character = this.#match(normal);
    // A quantifier after an anchor repeats the anchor, which RE2 refuses without a group.
    if (character === "^" || character === "$") return `(?:${character})`;
    return character === undefined ? this.#escape() : escaped(character);
  }

  #escape(): string | undefined {
    return this.#match(category) ?? this.#match(singleEscape);
  }

  #class(): string | undefined {
    const pieces = [this.#take("^") ? "[^" : "["];
    if (this.#take("-")) pieces.push("\\-");
    for (;;) {
      if (this.#take("]")) return pieces.length === 1 ? undefined : `${pieces.join("")}]`;
      if (this.#pattern.startsWith("-]", this.#at) && pieces.length > 1) {
        this.#at += 1;
        pieces.push("\\-");
        continue;
      }
      const item = this.#match(category) ?? this.#range();
      if (item === undefined) return undefined;
      pieces.push(item);
    }
  }

  #range(): string | undefined {
    const first = this.#classCharacter();
    if (first === undefined) return undefined;
    if (this.#pattern[this.#at] !== "-" || this.#pattern[this.#at + 1] === "]") return first;
    this.#at += 1;
    const last = this.#classCharacter();
    return last === undefined ? undefined : `${first}-${last}`;
  }

  #classCharacter(): string | undefined {
    const character = this.#match(classCharacter);
    return character === undefined ? this.#match(singleEscape) : escaped(character);
  }

  #take(text: string): boolean {
    if (!this.#pattern.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(expected: RegExp): string | undefined {
    expected.lastIndex = this.#at;
    const found = expected.exec(this.#pattern)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}

/** A character that has no meaning of its own in RE2. */
function escaped(character: string): string {
  return /[A-Za-z0-9]/.test(character) || character > "\u007f"
    ? character
    : `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
