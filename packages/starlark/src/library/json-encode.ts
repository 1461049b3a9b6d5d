/**
 * Encodes values as compact JSON with sorted keys, so that equal values have equal
 * texts. Text is charged as it grows.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { formatFloat } from "../value/float-text.ts";
import { listWeight, tupleWeight } from "../value/heap-weight.ts";
import { iterate } from "../value/iterate.ts";
import { repr } from "../value/repr.ts";
import { typeOf } from "../value/type-of.ts";
import {
  ElementsView,
  type HasAttributes,
  HostObject,
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
} from "../value/value.ts";
import { maxJsonDepth } from "./json-scanner.ts";
import { StringBuilder } from "./string-build.ts";
import { windowsOf } from "./string-characters.ts";

/**
 * Encodes `value` as JSON.
 *
 * @throws {StarlarkError} for a value without a representation in JSON: cycles, keys
 *   that are not strings, NaN and infinities, functions. The message contains the
 *   path.
 */
export function encodeJson(value: Value, thread: Thread): string {
  const encoder = new Encoder(thread);
  encoder.write(value);
  return encoder.finish();
}

/** Longer strings are quoted in pieces. */
const maxQuotedAtOnce = 1000;

/** Quotes a string for JSON; a lone surrogate becomes U+FFFD. */
export function quoteJson(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

class Encoder {
  readonly #thread: Thread;
  readonly #text: StringBuilder;
  /** The containers that enclose the current value. */
  readonly #path = new Set<StarlarkObject>();

  constructor(thread: Thread) {
    this.#thread = thread;
    this.#text = new StringBuilder(thread);
  }

  finish(): string {
    return this.#text.finish();
  }

  write(value: Value): void {
    switch (typeof value) {
      case "string":
        this.#string(value);
        return;
      case "object":
        if (value === null) this.#text.add("null", false);
        else if (value instanceof StarlarkFloat) this.#float(value.value);
        else this.#container(value);
        return;
      case "bigint":
        // Digits and quotes are those of repr, and cost the same.
        this.#text.add(repr(value, this.#thread));
        return;
      default:
        this.#text.add(String(value));
    }
  }

  /** Writes a string, with the text before and after it. */
  #string(value: string, before = "", after = ""): void {
    if (value.length <= maxQuotedAtOnce) {
      this.#text.add(before + quoteJson(value) + after);
      return;
    }
    // In pieces, because the whole text would be made before it is charged.
    this.#text.add(`${before}"`, false);
    for (const window of windowsOf(value, this.#thread)) this.#text.add(quoteJson(window).slice(1, -1));
    this.#text.add(`"${after}`, false);
  }

  #float(value: number): void {
    if (!Number.isFinite(value)) {
      throw new StarlarkError(`cannot encode non-finite float ${formatFloat(value)}`);
    }
    this.#text.add(formatFloat(value));
  }

  #container(value: StarlarkObject): void {
    if (this.#path.has(value)) throw new StarlarkError("cycle in JSON structure");
    if (this.#path.size >= maxJsonDepth) {
      throw new StarlarkError(`value nests too deep: the limit is ${maxJsonDepth} levels`);
    }
    this.#thread.step(1);
    this.#path.add(value);
    if (value instanceof StarlarkDict) this.#dict(value);
    else if (isSequence(value)) this.#array(value as Value & StarlarkObject);
    else if (hasFields(value)) this.#object(value);
    else throw new StarlarkError(`cannot encode ${typeOf(value)} as JSON`);
    this.#path.delete(value);
  }

  #dict(dict: StarlarkDict): void {
    this.#thread.charge(listWeight(0) + dict.size * tupleWeight(2));
    const keys: [string, Value][] = [];
    for (const { key, value } of dict.entries.values()) {
      if (typeof key !== "string") {
        throw new StarlarkError(`dict has ${typeOf(key)} key, want string`, {
          hint: "write the keys as strings first: {str(k): v for k, v in d.items()}",
        });
      }
      keys.push([key, value]);
    }
    this.#thread.step(keys.length * Math.ceil(Math.log2(keys.length + 1)));
    keys.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    let separator = "{";
    for (const [key, value] of keys) {
      this.#string(key, separator, ":");
      separator = ",";
      this.#within(() => `in dict key ${shortened(repr(key, this.#thread))}`, value);
    }
    this.#text.add(keys.length === 0 ? "{}" : "}", false);
  }

  #array(value: Value & StarlarkObject): void {
    const iterator = iterate(value);
    try {
      let index = 0;
      this.#text.add("[", false);
      for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
        if (index > 0) this.#text.add(",", false);
        this.#thread.step(1);
        this.#within(() => `at ${typeOf(value)} index ${index}`, item);
        index += 1;
      }
      this.#text.add("]", false);
    } finally {
      iterator.close();
    }
  }

  #object(value: StarlarkObject & HasAttributes): void {
    let separator = "{";
    const names = [...value.attributeNames()].sort();
    for (const name of names) {
      const field = value.attribute(name, this.#thread);
      if (field === undefined) continue;
      this.#string(name, separator, ":");
      separator = ",";
      this.#within(() => `in field .${name}`, field);
    }
    this.#text.add(separator === "{" ? "{}" : "}", false);
  }

  /** Writes the value at a path element, which errors name. */
  #within(place: () => string, value: Value): void {
    if (typeof value !== "object" || value === null) {
      this.write(value);
      return;
    }
    try {
      this.write(value);
    } catch (error) {
      if (!(error instanceof StarlarkError) || error.kind !== "error") throw error;
      // At great depth, only the first elements of the path are useful.
      const inner = error.message.length > 2000 ? `… ${error.message.slice(-1000)}` : error.message;
      throw new StarlarkError(`${place()}: ${inner}`, { hint: error.hint });
    }
  }
}

function isSequence(value: StarlarkObject): boolean {
  return (
    value instanceof StarlarkList ||
    value instanceof StarlarkTuple ||
    value instanceof StarlarkSet ||
    value instanceof StarlarkRange ||
    value instanceof ElementsView ||
    (value instanceof HostObject && value.iterate !== undefined)
  );
}

function hasFields(value: StarlarkObject): value is StarlarkObject & HasAttributes {
  if (value instanceof StarlarkStruct || value instanceof StarlarkModule) return true;
  return value instanceof HostObject && value.attributeNames().length > 0;
}

function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100).toWellFormed()}…` : text;
}
