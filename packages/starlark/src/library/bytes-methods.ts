/**
 * The methods of bytes, and the conversion `bytes(x)`.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { bytesWeight } from "../value/heap-weight.ts";
import { isIterable, iterate, lengthOf } from "../value/iterate.ts";
import { isInt } from "../value/number.ts";
import { typeOf } from "../value/type-of.ts";
import { ElementsView, StarlarkBytes, type Value } from "../value/value.ts";
import { type Builtin, builtin } from "./builtin.ts";
import { encodeText } from "./bytes-text.ts";

/** The methods of bytes. */
export const bytesMethods: readonly Builtin[] = [
  builtin(
    "elems()",
    'An iterable of the octets, as ints. `list(b"AZ".elems())` gives `[65, 90]`.',
    (t: Thread, self: StarlarkBytes) => {
      t.charge(64);
      return new ElementsView("bytes.elems", self, ".elems()", "elemOrds");
    },
  ),
];

/**
 * The result of `bytes(value)`: the UTF-8 of a string, or the octets of an iterable
 * of ints.
 *
 * @throws {StarlarkError} for another value, and for an element that is no octet.
 */
export function toBytes(value: Value, t: Thread): StarlarkBytes {
  if (value instanceof StarlarkBytes) return value;
  if (typeof value === "string") return new StarlarkBytes(encodeText(value, t));
  if (!isIterable(value)) {
    throw new StarlarkError(`bytes: got ${typeOf(value)}, want string, bytes, or iterable of ints`);
  }
  return new StarlarkBytes(octetsOf(value, t));
}

function octetsOf(iterable: Value, t: Thread): Uint8Array {
  t.charge(bytesWeight(0));
  const length = lengthOf(iterable);
  let octets = new Uint8Array(allocated(length ?? 64, t));
  let count = 0;
  const iterator = iterate(iterable);
  try {
    for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
      t.step(1);
      if (count === octets.length) {
        const larger = new Uint8Array(allocated(Math.max(64, 2 * count), t));
        larger.set(octets);
        octets = larger;
      }
      octets[count] = octet(item, count);
      count += 1;
    }
  } finally {
    iterator.close();
  }
  return octets.subarray(0, count);
}

function allocated(length: number, t: Thread): number {
  t.charge(length);
  return length;
}

function octet(item: Value, index: number): number {
  if (!isInt(item)) throw new StarlarkError(`bytes: at index ${index}, got ${typeOf(item)}, want int`);
  if (item >= 0 && item <= 255) return Number(item);
  throw new StarlarkError(
    `bytes: at index ${index}, ${item} out of range (want value in unsigned 8-bit range)`,
  );
}
