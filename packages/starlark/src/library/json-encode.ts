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
import { dictGet } from "../value/table.ts";
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
import { quoteJson } from "./json-quote.ts";
import { RecordKeys } from "./json-record-keys.ts";
import { maxJsonDepth } from "./json-scanner.ts";
import { isWide, StringBuilder } from "./string-build.ts";
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

class Encoder {
  readonly #thread: Thread;
  readonly #text: StringBuilder;
  /** The containers that enclose the current value. */
  readonly #path: StarlarkObject[] = [];
  /** The keys of the last record at each depth. */
  readonly #records: (RecordKeys | undefined)[] = [];

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
        this.#text.add(String(value), false);
    }
  }

  /** Writes a string, with the text before and after it. */
  #string(value: string, before = "", after = ""): void {
    if (value.length <= maxQuotedAtOnce) {
      this.#text.add(before + quoteJson(value) + after, isWide(value));
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
    this.#text.add(formatFloat(value), false);
  }

  #container(value: StarlarkObject): void {
    const path = this.#path;
    if (path.includes(value)) throw new StarlarkError("cycle in JSON structure");
    if (path.length >= maxJsonDepth) {
      throw new StarlarkError(`value nests too deep: the limit is ${maxJsonDepth} levels`);
    }
    this.#thread.step(1 + (path.length >> 5));
    path.push(value);
    if (value instanceof StarlarkDict) this.#dict(value);
    else if (value instanceof StarlarkList) this.#list(value);
    else if (isSequence(value)) this.#array(value as Value & StarlarkObject);
    else if (hasFields(value)) this.#object(value);
    else throw new StarlarkError(`cannot encode ${typeOf(value)} as JSON`);
    path.pop();
  }

  #dict(dict: StarlarkDict): void {
    const { size } = dict;
    this.#thread.charge(listWeight(0) + size * tupleWeight(2));
    const { smallKeys } = dict.entries;
    const keys = smallKeys === undefined ? undefined : this.#recordKeys(smallKeys);
    dict.locks += 1;
    try {
      if (keys === undefined) this.#entries(dict);
      else this.#fields(dict, keys);
    } finally {
      dict.locks -= 1;
    }
  }

  /** The text of the keys of a record, which is kept for the next record at this depth. */
  #recordKeys(keys: readonly Value[]): RecordKeys | undefined {
    const depth = this.#path.length;
    const last = this.#records[depth];
    if (last?.fits(keys)) return last;
    const made = RecordKeys.of(keys);
    this.#records[depth] = made;
    return made;
  }

  /** Writes a dict whose keys are known. */
  #fields({ entries }: StarlarkDict, { fields }: RecordKeys): void {
    let current = 0;
    this.#thread.step(stepsToSort(fields.length));
    try {
      for (const { place, text, wide } of fields) {
        current = place;
        this.#text.add(text, wide);
        this.write(entries.at(place));
      }
    } catch (error) {
      throw this.#inKey(error, entries.smallKeys![current]!);
    }
    this.#text.add(fields.length === 0 ? "{}" : "}", false);
  }

  /** Writes any other dict. */
  #entries(dict: StarlarkDict): void {
    const keys: string[] = [];
    for (const { key } of dict.entries.values()) {
      if (typeof key !== "string") {
        throw new StarlarkError(`dict has ${typeOf(key)} key, want string`, {
          hint: "write the keys as strings first: {str(k): v for k, v in d.items()}",
        });
      }
      keys.push(key);
    }
    this.#thread.step(stepsToSort(keys.length));
    keys.sort();
    let separator = "{";
    for (const key of keys) {
      this.#string(key, separator, ":");
      separator = ",";
      try {
        this.write(dictGet(dict, key, this.#thread)!);
      } catch (error) {
        throw this.#inKey(error, key);
      }
    }
    this.#text.add(keys.length === 0 ? "{}" : "}", false);
  }

  #inKey(error: unknown, key: Value): unknown {
    return within(error, () => `in dict key ${shortened(repr(key, this.#thread))}`);
  }

  #list(list: StarlarkList): void {
    let index = 0;
    list.locks += 1;
    try {
      const { items } = list;
      this.#text.add("[", false);
      for (; index < items.length; index += 1) {
        if (index > 0) this.#text.add(",", false);
        this.#thread.step(1);
        this.write(items[index]!);
      }
      this.#text.add("]", false);
    } catch (error) {
      throw within(error, () => `at list index ${index}`);
    } finally {
      list.locks -= 1;
    }
  }

  #array(value: Value & StarlarkObject): void {
    const iterator = iterate(value);
    try {
      let index = 0;
      this.#text.add("[", false);
      for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
        if (index > 0) this.#text.add(",", false);
        this.#thread.step(1);
        try {
          this.write(item);
        } catch (error) {
          throw within(error, () => `at ${typeOf(value)} index ${index}`);
        }
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
      try {
        this.write(field);
      } catch (error) {
        throw within(error, () => `in field .${name}`);
      }
    }
    this.#text.add(separator === "{" ? "{}" : "}", false);
  }
}

/** The steps to sort the keys of a dict. */
function stepsToSort(count: number): number {
  return count * Math.ceil(Math.log2(count + 1));
}

/** `error` with the path element of the value that caused it. Limits stay unchanged. */
function within(error: unknown, place: () => string): unknown {
  if (!(error instanceof StarlarkError) || error.kind !== "error") return error;
  // At great depth, only the first elements of the path are useful.
  const inner = error.message.length > 2000 ? `… ${error.message.slice(-1000)}` : error.message;
  return new StarlarkError(`${place()}: ${inner}`, { hint: error.hint });
}

function isSequence(value: StarlarkObject): boolean {
  return (
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
