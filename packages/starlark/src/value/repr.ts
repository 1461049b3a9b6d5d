/**
 * Values as text: `repr` writes a literal, `str` writes text for people. Output is
 * charged as it grows, because a small value can have a huge text if it refers to
 * another one many times.
 */

import { BoundMethod, Builtin } from "../library/builtin.ts";
import { decodeOctets, decodeText, sequenceLength } from "../library/bytes-text.ts";
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

/** Maximum nesting that is written. */
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
  const writer = new Writer(t);
  writer.write(value, 0);
  return writer.finish();
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

/** Builds the text of one `repr`. */
class Writer {
  #text = "";
  /**
   * Pieces that follow the text. Appending a few characters at a time to a long
   * string takes ten times its size in memory.
   */
  #pieces: string[] = [];
  readonly #thread: Thread;
  /** The lists and dicts that are being written, to detect cycles. */
  readonly #path: StarlarkObject[] = [];

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  write(value: Value, depth: number): void {
    switch (typeof value) {
      case "string":
        // Charged before the text is made: an escape has at most ten characters for each one.
        this.#thread.charge(24 + value.length);
        this.#thread.step(value.length >> 4);
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
        else this.#writeObject(value, depth);
    }
  }

  #put(text: string): void {
    this.#thread.charge(text.length + 2);
    this.#pieces.push(text);
    if (this.#pieces.length === maxPieces) this.#putTogether();
  }

  #putTogether(): void {
    this.#text += this.#pieces.join("");
    this.#pieces = [];
  }

  /** The complete text. */
  finish(): string {
    this.#putTogether();
    return this.#text;
  }

  #writeObject(value: StarlarkObject, depth: number): void {
    if (depth > maxDepth)
      throw new StarlarkError(`value is nested too deeply to be written (${maxDepth} levels)`);
    this.#thread.step(1);
    if (value instanceof StarlarkFloat) this.#put(formatFloat(value.value));
    else if (value instanceof StarlarkList) this.#writeItems("[", value.items, "]", value, depth);
    else if (value instanceof StarlarkTuple) {
      this.#writeItems("(", value.items, value.items.length === 1 ? ",)" : ")", undefined, depth);
    } else if (value instanceof StarlarkDict) this.#writeDict(value, depth);
    else if (value instanceof StarlarkSet) {
      this.#writeItems("set([", [...value.members.values()], "])", undefined, depth);
    } else if (value instanceof StarlarkBytes) {
      this.#thread.charge(value.octets.length);
      this.#put(quoteBytes(value.octets));
    } else if (value instanceof StarlarkRange) this.#put(rangeText(value));
    else if (value instanceof StarlarkStruct) this.#writeStruct(value, depth);
    else if (value instanceof ElementsView) {
      this.write(value.of, depth + 1);
      this.#put(value.suffix);
    } else this.#put(opaqueText(value));
  }

  #writeItems(
    open: string,
    items: readonly Value[],
    close: string,
    cyclic: StarlarkObject | undefined,
    depth: number,
  ): void {
    if (cyclic !== undefined && this.#path.includes(cyclic)) {
      this.#put(`${open}...${close}`);
      return;
    }
    if (cyclic !== undefined) this.#path.push(cyclic);
    this.#put(open);
    for (let index = 0; index < items.length; index += 1) {
      if (index > 0) this.#put(", ");
      this.write(items[index]!, depth + 1);
    }
    this.#put(close);
    if (cyclic !== undefined) this.#path.pop();
  }

  #writeDict(dict: StarlarkDict, depth: number): void {
    if (this.#path.includes(dict)) {
      this.#put("{...}");
      return;
    }
    this.#path.push(dict);
    this.#put("{");
    let first = true;
    for (const entry of dict.entries.values()) {
      if (!first) this.#put(", ");
      first = false;
      this.write(entry.key, depth + 1);
      this.#put(": ");
      this.write(entry.value, depth + 1);
    }
    this.#put("}");
    this.#path.pop();
  }

  #writeStruct(value: StarlarkStruct, depth: number): void {
    const brand = value.constructorValue;
    if (typeof brand === "string") this.#put(brand);
    else this.write(brand, depth + 1);
    this.#put("(");
    let first = true;
    for (const [name, field] of value.fields) {
      if (!first) this.#put(", ");
      first = false;
      this.#put(`${name} = `);
      this.write(field, depth + 1);
    }
    this.#put(")");
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
