/**
 * The builtins that create or read text and bytes: `bytes`, `chr`, `fail`, `hash`,
 * `ord`, `print`, `repr`, `str`, `type`.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { stringWeight } from "../value/heap-weight.ts";
import { isInt } from "../value/number.ts";
import { repr, str } from "../value/repr.ts";
import { typeOf } from "../value/type-of.ts";
import { type NamedArgument, StarlarkBytes, type Value } from "../value/value.ts";
import { takeNamed, wantString } from "./arguments.ts";
import { type Builtin, builtin } from "./builtin.ts";
import { toBytes } from "./bytes-methods.ts";
import { countCodePoints } from "./string-characters.ts";

function bytes(thread: Thread, _self: Value, x: Value): StarlarkBytes {
  return toBytes(x, thread);
}

function chr(thread: Thread, _self: Value, i: Value): string {
  if (!isInt(i)) throw new StarlarkError(`chr: got ${typeOf(i)}, want int`);
  if (i < 0) throw new StarlarkError(`chr: Unicode code point ${repr(i, thread)} out of range (<0)`);
  if (i > 0x10ffff) {
    const point = i.toString(16).toUpperCase().slice(0, 100);
    throw new StarlarkError(`chr: Unicode code point U+${point} out of range (>0x10FFFF)`);
  }
  thread.charge(stringWeight(4));
  const point = Number(i);
  // A surrogate is not a character.
  return point >= 0xd800 && point < 0xe000 ? "\ufffd" : String.fromCodePoint(point);
}

function ord(thread: Thread, _self: Value, x: Value): number {
  if (typeof x === "string") {
    const point = x.codePointAt(0);
    if (point !== undefined && x.length === (point > 0xffff ? 2 : 1)) return point;
    throw new StarlarkError(`ord: string encodes ${countCodePoints(x, thread)} Unicode code points, want 1`);
  }
  if (!(x instanceof StarlarkBytes)) throw new StarlarkError(`ord: got ${typeOf(x)}, want string or bytes`);
  if (x.octets.length === 1) return x.octets[0]!;
  throw new StarlarkError(`ord: bytes has length ${x.octets.length}, want 1`);
}

function hash(thread: Thread, _self: Value, x: Value): number {
  if (typeof x === "string") {
    thread.step(1 + (x.length >> 4));
    return javaHash(x);
  }
  if (!(x instanceof StarlarkBytes)) throw new StarlarkError(`hash: got ${typeOf(x)}, want string or bytes`);
  thread.step(1 + (x.octets.length >> 4));
  return fnv1a(x.octets);
}

/** The value of `String.hashCode` in Java, which is the same on every machine. */
function javaHash(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0;
  return sum;
}

/** FNV-1a in 32 bits (draft-eastlake-fnv). */
function fnv1a(octets: Uint8Array): number {
  let sum = 0x811c9dc5;
  for (const octet of octets) sum = Math.imul(sum ^ octet, 0x01000193);
  return sum >>> 0;
}

/** The arguments as text, separated by `sep`. */
function joined(
  builtinName: string,
  args: readonly Value[],
  named: readonly NamedArgument[],
  thread: Thread,
): string {
  const [given] = takeNamed(builtinName, named, ["sep"]);
  const separator = given === undefined ? " " : wantString(builtinName, "sep", given);
  let text = "";
  for (const [index, value] of args.entries()) {
    const part = str(value, thread);
    thread.charge(part.length + separator.length);
    thread.step(1);
    text += index === 0 ? part : separator + part;
  }
  return text;
}

export const textBuiltins: readonly Builtin[] = [
  builtin(
    "bytes(x, /)",
    'The UTF-8 encoding of a string, or the octets of an iterable of ints from 0 to 255. `bytes("é")` gives `b"é"`',
    bytes,
  ),
  builtin("chr(i, /)", 'The character with code point `i`, as a string. `chr(65)` gives `"A"`', chr),
  builtin(
    "fail(*args, sep?)",
    'Ends the execution with an error, unless something catches it. Its message is the arguments as text, separated by `sep`, a space by default. `attempt(fail, "no id", 7).error.message` gives `"fail: no id 7"`',
    (thread, _self, args, named) => {
      throw new StarlarkError(`fail: ${joined("fail", args, named, thread)}`);
    },
  ),
  builtin(
    "hash(x, /)",
    'A hash of a string or of bytes, the same in every execution. Different values can have the same hash. `hash("a")` gives `97`',
    hash,
  ),
  builtin(
    "ord(s, /)",
    'The code point of a string of one character, or the octet of bytes of length 1. `ord("A")` gives `65`',
    ord,
  ),
  builtin(
    "print(*args, sep?)",
    'Writes a line to the log of the execution: the arguments as text, separated by `sep`, a space by default. `print("found", 3)` gives `None`',
    (thread, _self, args, named) => {
      thread.print(joined("print", args, named, thread));
      return null;
    },
    { hasEffect: true },
  ),
  builtin(
    "repr(x, /)",
    'The literal of `x`, as in a program: strings are in quotation marks. `repr(["a", 1])` gives `"[\\"a\\", 1]"`',
    (thread, _self, x) => repr(x!, thread),
  ),
  builtin(
    "str(x, /)",
    'The text of `x`: a string is unchanged, bytes are decoded as UTF-8, and other values are as in `repr`. `str(1.0)` gives `"1.0"`',
    (thread, _self, x) => str(x!, thread),
  ),
  builtin("type(x, /)", 'The name of the type of `x`. `type([])` gives `"list"`', (_thread, _self, x) =>
    typeOf(x!),
  ),
];
