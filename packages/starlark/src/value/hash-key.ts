/**
 * Keys of dicts and members of sets. A JavaScript `Map` does the hashing; what
 * this file makes is a key for it under which two values meet exactly when they
 * are equal: `1` and `1.0` do, `1` and `True` do not, and a tuple meets a tuple
 * of equal elements.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { stringWeight } from "./heap-weight.ts";
import { normalise } from "./number.ts";
import { typeOf } from "./type-of.ts";
import {
  Container,
  ElementsView,
  HostObject,
  StarlarkBytes,
  StarlarkFloat,
  StarlarkModule,
  StarlarkRange,
  StarlarkStruct,
  StarlarkTuple,
  type Value,
} from "./value.ts";

/** What stands for a value in the table of a dict or set. */
export type Key = null | boolean | number | bigint | string | object;

/** Most levels of tuples and structs within one key. */
const maxDepth = 500;

/**
 * The key under which `value` is found.
 *
 * @throws {StarlarkError} `unhashable type: list` and the like.
 */
export function hashKey(value: Value, t: Thread): Key {
  if (typeof value === "string") {
    // It is read to be hashed, and read again to be compared with the one that is there.
    if (value.length > 4096) t.step(value.length >> 8);
    // Strings with a NUL in front would meet the encodings below.
    return value.charCodeAt(0) === 0 ? `\0s${value}` : value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof StarlarkFloat) return floatKey(value.value);
  if (value instanceof StarlarkTuple || value instanceof StarlarkStruct) return encode(value, t, 0);
  if (value instanceof StarlarkBytes) return `\0b${octetsText(value.octets)}`;
  const key = identityKey(value);
  return typeof key === "string" ? `\0h${key}` : key;
}

function floatKey(x: number): number | bigint | string {
  // NaN equals itself as a key.
  if (Number.isNaN(x)) return "\0nan";
  if (Number.isSafeInteger(x)) return x + 0;
  // A double this big is an int, and equal to it.
  return Number.isInteger(x) ? normalise(BigInt(x)) : x;
}

/** The object that a value is equal to alone, or the text that a host gives for it. */
function identityKey(value: object & Value): object | string {
  if (value instanceof Container) throw new StarlarkError(`unhashable type: ${typeOf(value)}`);
  if (
    value instanceof StarlarkRange ||
    value instanceof StarlarkModule ||
    value instanceof ElementsView ||
    (value instanceof HostObject && !value.hashable)
  ) {
    throw new StarlarkError(`unhashable: ${typeOf(value)}`);
  }
  return value instanceof HostObject ? (value.hashKey?.() ?? value) : value;
}

/** An encoding of a composite value: equal exactly when the values are. */
function encode(value: Value, t: Thread, depth: number): string {
  if (typeof value === "string") return `s${value.length}:${value}`;
  if (value === null) return "N";
  if (typeof value !== "object") return typeof value === "boolean" ? (value ? "t" : "f") : `${value};`;
  if (value instanceof StarlarkFloat) return `${floatKey(value.value)};`;
  if (value instanceof StarlarkBytes) return `b${value.octets.length}:${octetsText(value.octets)}`;
  if (depth > maxDepth) throw new StarlarkError("unhashable: tuples nest too deep");
  if (value instanceof StarlarkTuple) {
    value.key ??= sequence(`\0T${value.items.length}:`, value.items, t, depth);
    return value.key;
  }
  if (value instanceof StarlarkStruct) {
    const parts: Value[] = [value.constructorValue];
    for (const [name, field] of value.fields) parts.push(name, field);
    return sequence(`\0S${parts.length}:`, parts, t, depth);
  }
  const key = identityKey(value);
  return typeof key === "string" ? `h${key.length}:${key}` : `o${identityOf(key)};`;
}

function sequence(prefix: string, items: readonly Value[], t: Thread, depth: number): string {
  let text = prefix;
  for (const item of items) {
    const part = encode(item, t, depth + 1);
    t.charge(stringWeight(part.length));
    t.step(1);
    text += part;
  }
  return text;
}

/** Octets as a string of as many Latin-1 characters. */
function octetsText(octets: Uint8Array): string {
  let text = "";
  for (let at = 0; at < octets.length; at += 4096) {
    text += String.fromCharCode(...octets.subarray(at, at + 4096));
  }
  return text;
}

const identities = new WeakMap<object, number>();
let lastIdentity = 0;

/** A number for an object that is equal to itself alone; it appears in no output. */
function identityOf(value: object): number {
  let identity = identities.get(value);
  if (identity === undefined) {
    lastIdentity += 1;
    identity = lastIdentity;
    identities.set(value, identity);
  }
  return identity;
}
