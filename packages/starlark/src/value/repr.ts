/**
 * Values as text: `repr` writes a literal, `str` writes text for people. Output is
 * charged as it grows, because a small value can have a huge text if it refers to
 * another one many times.
 */

import { BoundMethod, Builtin } from "../library/builtin.ts";
import { decodeOctets, decodeText, sequenceLength } from "../library/bytes-text.ts";
import { windowsOf } from "../library/string-characters.ts";
import { inPieces, longLength, PieceMeter, type Pieces } from "../run/long-work.ts";
import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { formatFloat } from "./float-text.ts";
import { FunctionValue } from "./function-value.ts";
import { bitLengthBound } from "./number.ts";
import { typeOf } from "./type-of.ts";
import {
  ElementsView,
  HostObject,
  StarlarkBytes,
  StarlarkDict,
  StarlarkFloat,
  StarlarkList,
  StarlarkModule,
  type StarlarkObject,
  StarlarkRange,
  StarlarkSet,
  StarlarkStruct,
  StarlarkTuple,
  type Value,
} from "./value.ts";

/** Maximum nesting that is written. @limit program */
const maxDepth = 500;

/** The result of `str(value)`: a string itself, and the `repr` of any other value. */
export function str(value: Value, t: Thread): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return charged(String(value), t);
  if (value instanceof StarlarkBytes) return decodeText(value.octets, t);
  return repr(value, t);
}

/** The result of `repr(value)`. */
export function repr(value: Value, t: Thread): string {
  const chargedBefore = t.chargedBytes;
  const writer = new Writer(t);
  writer.start(value);
  if (writer.advance()) return writer.finish();
  return inPieces(t, [value], () => writer.complete(), t.chargedBytes - chargedBefore);
}

/** A string literal that denotes `text`. */
export function quote(text: string): string {
  return plainText.test(text) ? `"${text}"` : `"${text.replace(toEscape, escapeOf)}"`;
}

/** A bytes literal that denotes `octets`. */
export function quoteBytes(octets: Uint8Array): string {
  let text = "";
  let at = 0;
  while (at < octets.length) {
    const length = sequenceLength(octets, at);
    if (length === 0) {
      text += `\\x${octets[at]!.toString(16).padStart(2, "0")}`;
      at += 1;
    } else {
      text += decodeOctets(octets.subarray(at, at + length)).replace(toEscape, escapeOf);
      at += length;
    }
  }
  return `b"${text}"`;
}

// Characters that are not printable: controls, separators other than the space, lone surrogates,
// and unassigned code points.
const toEscape = /["\\]|(?! )[\p{C}\p{Z}]/gu;

/** ASCII that needs no escape, like most strings. */
const plainText = /^[ !#-[\]-~]*$/;

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
]);

function escapeOf(character: string): string {
  const short = shortEscapes.get(character);
  if (short !== undefined) return short;
  const point = character.codePointAt(0)!;
  if (point < 0x20 || point === 0x7f) return `\\x${point.toString(16).padStart(2, "0")}`;
  if (point < 0x10000) return `\\u${point.toString(16).padStart(4, "0")}`;
  return `\\U${point.toString(16).padStart(8, "0")}`;
}

function charged(text: string, t: Thread): string {
  t.charge(24 + text.length);
  return text;
}

/** Maximum number of pieces that are kept before they are joined. */
const maxPieces = 1024;

const written = Symbol("written");

/** A container whose elements are being written. */
interface Level {
  /**
   * Writes what precedes the next element, and returns the element; `written` if it
   * wrote the element itself, and `undefined` at the end.
   */
  readonly next: () => Value | typeof written | undefined;
  readonly close: string;
  /** The list or dict itself, to detect cycles. */
  readonly container: StarlarkObject | undefined;
}

/** Builds the text of one `repr`. It needs no JavaScript stack, so it can pause between any two values. */
class Writer {
  #text = "";
  /**
   * Pieces that follow the text. Appending a few characters at a time to a long
   * string takes ten times its size in memory.
   */
  #pieces: string[] = [];
  readonly #thread: Thread;
  /** The containers that are being written, from the outermost in. */
  readonly #levels: Level[] = [];

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  /** Starts to write `value`; `advance` completes it. */
  start(value: Value): void {
    this.#write(value);
  }

  /** Writes values until a piece is complete. Returns whether the text is complete. */
  advance(): boolean {
    if (this.#levels.length === 0) return true;
    const meter = new PieceMeter(this.#thread);
    do {
      const level = this.#levels.at(-1);
      if (level === undefined) return true;
      const value = level.next();
      if (value === written) continue;
      if (value !== undefined) {
        this.#write(value);
      } else {
        this.#put(level.close);
        this.#levels.pop();
      }
    } while (!meter.isFull());
    return this.#levels.length === 0;
  }

  /** Completes the text, as long work. */
  *complete(): Pieces<string> {
    while (!this.advance()) yield;
    return this.finish();
  }

  /** The complete text. */
  finish(): string {
    this.#putTogether();
    return this.#text;
  }

  #write(value: Value): void {
    switch (typeof value) {
      case "string":
        this.#thread.step(1 + (value.length >> 4));
        if (value.length >= longLength) {
          this.#openText(value);
          return;
        }
        // Charged before the text is made: an escape has at most ten characters for each one.
        this.#thread.charge(24 + value.length);
        this.#put(quote(value));
        return;
      case "number":
        this.#put(String(value));
        return;
      case "bigint":
        // Converting an int to decimal digits takes quadratic time.
        this.#thread.step(((bitLengthBound(value) >> 6) ** 2) >> 6);
        this.#put(value.toString());
        return;
      case "boolean":
        this.#put(value ? "True" : "False");
        return;
      default:
        if (value === null) this.#put("None");
        else this.#writeObject(value);
    }
  }

  #put(text: string): void {
    this.#thread.charge(text.length + 2);
    // One step for each value or separator, and for characters that had to be escaped.
    this.#thread.step(1 + (text.length >> 4));
    this.#pieces.push(text);
    if (this.#pieces.length === maxPieces) this.#putTogether();
  }

  #putTogether(): void {
    this.#text += this.#pieces.join("");
    this.#pieces = [];
  }

  #writeObject(value: StarlarkObject): void {
    if (this.#levels.length > maxDepth)
      throw new StarlarkError(`value is nested too deeply to be written (${maxDepth} levels)`);
    this.#thread.step(1);
    if (value instanceof StarlarkFloat) this.#put(formatFloat(value.value));
    else if (value instanceof StarlarkList) this.#openItems("[", value.items, "]", value);
    else if (value instanceof StarlarkTuple) {
      this.#openItems("(", value.items, value.items.length === 1 ? ",)" : ")", undefined);
    } else if (value instanceof StarlarkDict) this.#openDict(value);
    else if (value instanceof StarlarkSet) {
      this.#openItems("set([", [...value.members.values()], "])", undefined);
    } else if (value instanceof StarlarkBytes) {
      this.#thread.charge(value.octets.length);
      this.#thread.step(value.octets.length >> 2);
      this.#put(quoteBytes(value.octets));
    } else if (value instanceof StarlarkRange) this.#put(rangeText(value));
    else if (value instanceof StarlarkStruct) this.#openStruct(value);
    else if (value instanceof ElementsView) this.#openItems("", [value.of], value.suffix, undefined);
    else this.#put(opaqueText(value));
  }

  #isOpen(container: StarlarkObject): boolean {
    return this.#levels.some((level) => level.container === container);
  }

  /** A long string is escaped window by window. */
  #openText(text: string): void {
    const windows = windowsOf(text, this.#thread)[Symbol.iterator]();
    this.#put('"');
    this.#levels.push({
      next: () => {
        const window = windows.next();
        if (window.done === true) return undefined;
        this.#put(quote(window.value).slice(1, -1));
        return written;
      },
      close: '"',
      container: undefined,
    });
  }

  #openItems(
    open: string,
    items: readonly Value[],
    close: string,
    container: StarlarkObject | undefined,
  ): void {
    if (container !== undefined && this.#isOpen(container)) {
      this.#put(`${open}...${close}`);
      return;
    }
    this.#put(open);
    let index = 0;
    const next = (): Value | undefined => {
      if (index >= items.length) return undefined;
      if (index > 0) this.#put(", ");
      index += 1;
      return items[index - 1];
    };
    this.#levels.push({ next, close, container });
  }

  #openDict(dict: StarlarkDict): void {
    if (this.#isOpen(dict)) {
      this.#put("{...}");
      return;
    }
    this.#put("{");
    const entries = dict.entries.values();
    let first = true;
    let value: Value | undefined;
    const next = (): Value | undefined => {
      if (value !== undefined) {
        const current = value;
        value = undefined;
        this.#put(": ");
        return current;
      }
      const entry = entries.next();
      if (entry.done === true) return undefined;
      if (!first) this.#put(", ");
      first = false;
      value = entry.value.value;
      return entry.value.key;
    };
    this.#levels.push({ next, close: "}", container: dict });
  }

  #openStruct(struct: StarlarkStruct): void {
    const brand = struct.constructorValue;
    const fields = struct.fields.entries();
    let state: "brand" | "first" | "rest" = typeof brand === "string" ? "first" : "brand";
    if (typeof brand === "string") this.#put(`${brand}(`);
    const next = (): Value | undefined => {
      if (state === "brand") {
        state = "first";
        return brand;
      }
      if (state === "first" && typeof brand !== "string") this.#put("(");
      const field = fields.next();
      if (field.done === true) return undefined;
      this.#put(state === "first" ? `${field.value[0]} = ` : `, ${field.value[0]} = `);
      state = "rest";
      return field.value[1];
    };
    this.#levels.push({ next, close: ")", container: undefined });
  }
}

function rangeText({ start, stop, step }: StarlarkRange): string {
  if (step !== 1) return `range(${start}, ${stop}, ${step})`;
  return start === 0 ? `range(${stop})` : `range(${start}, ${stop})`;
}

function opaqueText(value: StarlarkObject): string {
  if (value instanceof FunctionValue) return `<function ${value.code.name}>`;
  if (value instanceof Builtin) return `<built-in function ${value.name}>`;
  if (value instanceof BoundMethod) {
    return `<built-in method ${value.method.name} of ${typeOf(value.receiver)} value>`;
  }
  if (value instanceof StarlarkModule) return `<module "${value.name}">`;
  if (value instanceof HostObject) return value.repr();
  return `<${value.type}>`;
}
