/**
 * Keys of dicts and members of sets. The hashing is done by a JavaScript `Map`. This
 * file derives the key for the `Map` such that the keys of two values are the same
 * exactly if the values are equal: `1` and `1.0` are, `1` and `True` are not, and
 * tuples are if their elements are.
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

/** The key of a value in a dict or set. */
export type Key = null | boolean | number | bigint | string | object;

/** Maximum nesting of tuples and structs in one key. @limit program */
const maxDepth = 500;

/**
 * The key that represents `value`.
 *
 * @throws {StarlarkError} `unhashable type: list` and the like.
 */
export function hashKey(value: Value, t: Thread): Key {
  if (typeof value === "string") {
    // The string is read once to hash it, and once to compare it with an existing key.
    if (value.length > 4096) t.step(value.length >> 8);
    // Strings that start with NUL could collide with the encodings below.
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
  // As a key, NaN equals itself.
  if (Number.isNaN(x)) return "\0nan";
  if (Number.isSafeInteger(x)) return x + 0;
  // A double this large is an integer, and equals that int.
  return Number.isInteger(x) ? normalise(BigInt(x)) : x;
}

/** The object itself, if it equals only itself, or the text that the host provides for it. */
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

/** Encodes a composite value: two encodings are equal exactly if the values are. */
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

/** Octets as a string of Latin-1 characters. */
function octetsText(octets: Uint8Array): string {
  let text = "";
  for (let at = 0; at < octets.length; at += 4096) {
    text += String.fromCharCode(...octets.subarray(at, at + 4096));
  }
  return text;
}

const identities = new WeakMap<object, number>();
let lastIdentity = 0;

/** The number of an object that equals only itself; it appears in no output. */
function identityOf(value: object): number {
  let identity = identities.get(value);
  if (identity === undefined) {
    lastIdentity += 1;
    identity = lastIdentity;
    identities.set(value, identity);
  }
  return identity;
}
