/**
 * The operators of the language for any values. The machine handles the common cases
 * (ints, strings) itself and calls these functions for the others. Results are
 * charged.
 */

import { nearestName } from "@toolcrib/diagnostics";
import { formatPercent } from "../library/format-percent.ts";
import { indexOf } from "../library/string-search.ts";
import { inPiecesIfLong, type Pieces, pieceLength } from "../run/long-work.ts";
import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import type { ArithmeticOperator } from "../syntax/ast.ts";
import { equals } from "./equality.ts";
import { hashKey, type Key } from "./hash-key.ts";
import { bytesWeight, listWeight, stringWeight, structWeight } from "./heap-weight.ts";
import { lengthOf, rangeAt } from "./iterate.ts";
import {
  addInts,
  bitwise,
  floorDivideFloats,
  floorDivideInts,
  type Int,
  isInt,
  isNumber,
  makeFloat,
  moduloFloats,
  moduloInts,
  multiplyInts,
  negateInt,
  shiftLeft,
  shiftRight,
  subtractInts,
  toDouble,
} from "./number.ts";
import { repr, str } from "./repr.ts";
import { dictGet, dictSet, newDict, newSet, setAdd } from "./table.ts";
import { truth } from "./truth.ts";
import { typeOf } from "./type-of.ts";
import {
  type ElementsView,
  HostObject,
  StarlarkBytes,
  StarlarkDict,
  StarlarkFloat,
  StarlarkList,
  StarlarkRange,
  StarlarkSet,
  StarlarkStruct,
  StarlarkTuple,
  type Value,
} from "./value.ts";

/** Maximum number of elements or characters of a repetition, regardless of the memory limit. @limit program */
const maxRepeat = 2 ** 30;

/**
 * `x <operator> y`, for arithmetic operators.
 *
 * @throws {StarlarkError} `unknown binary op: int + string`, and the errors of the
 *   operation.
 */
export function binary(operator: ArithmeticOperator, x: Value, y: Value, t: Thread): Value {
  const result = isNumber(x) && isNumber(y) ? arithmetic(operator, x, y, t) : combine(operator, x, y, t);
  if (result !== undefined) return result;
  const known = hostBinary(operator, x, y, t);
  if (known !== undefined) return known;
  throw new StarlarkError(`unknown binary op: ${typeOf(x)} ${operator} ${typeOf(y)}`, {
    hint: mixedText(operator, x, y),
  });
}

function hostBinary(operator: string, x: Value, y: Value, t: Thread): Value | undefined {
  if (x instanceof HostObject) {
    const result = x.binary?.(operator, y, "left", t);
    if (result !== undefined) return result;
  }
  return y instanceof HostObject ? y.binary?.(operator, x, "right", t) : undefined;
}

function mixedText(operator: string, x: Value, y: Value): string | undefined {
  if (operator !== "+" || (typeof x !== "string" && typeof y !== "string")) return undefined;
  return 'text is put together from strings only: write str(x) around the other one, or use a format such as "%s" % x';
}

type Numeric = Int | StarlarkFloat;

function arithmetic(operator: ArithmeticOperator, x: Numeric, y: Numeric, t: Thread): Value | undefined {
  if (!(x instanceof StarlarkFloat) && !(y instanceof StarlarkFloat)) return intArithmetic(operator, x, y, t);
  switch (operator) {
    case "+":
      return makeFloat(toDouble(x) + toDouble(y), t);
    case "-":
      return makeFloat(toDouble(x) - toDouble(y), t);
    case "*":
      return makeFloat(toDouble(x) * toDouble(y), t);
    case "/":
      return divide(x, y, t);
    case "//":
      return makeFloat(floorDivideFloats(toDouble(x), toDouble(y)), t);
    case "%":
      return makeFloat(moduloFloats(toDouble(x), toDouble(y)), t);
    default:
      return undefined;
  }
}

function intArithmetic(operator: ArithmeticOperator, x: Int, y: Int, t: Thread): Value {
  switch (operator) {
    case "+":
      return addInts(x, y, t);
    case "-":
      return subtractInts(x, y, t);
    case "*":
      return multiplyInts(x, y, t);
    case "/":
      return divide(x, y, t);
    case "//":
      return floorDivideInts(x, y, t);
    case "%":
      return moduloInts(x, y, t);
    case "<<":
      return shiftLeft(x, y, t);
    case ">>":
      return shiftRight(x, y, t);
    default:
      return bitwise(operator, x, y, t);
  }
}

function divide(x: Numeric, y: Numeric, t: Thread): Value {
  const [dividend, divisor] = [toDouble(x), toDouble(y)];
  if (divisor === 0) throw new StarlarkError("floating-point division by zero");
  return makeFloat(dividend / divisor, t);
}

/** Arithmetic operators except for two numbers; `undefined` if the types have no such operator. */
function combine(operator: ArithmeticOperator, x: Value, y: Value, t: Thread): Value | undefined {
  switch (operator) {
    case "+":
      return concatenate(x, y, t);
    case "*":
      if (isInt(x)) return repeat(y, x, t);
      return isInt(y) ? repeat(x, y, t) : undefined;
    case "%":
      return typeof x === "string" ? formatPercent(x, y, t) : undefined;
    case "|":
      if (x instanceof StarlarkDict && y instanceof StarlarkDict) return uniteDicts(x, y, t);
      return x instanceof StarlarkSet && y instanceof StarlarkSet
        ? selectMembers([x, y], t, () => true)
        : undefined;
    case "&":
      if (!(x instanceof StarlarkSet && y instanceof StarlarkSet)) return undefined;
      // In the order of the right operand, as in go.starlark.net.
      return selectMembers([y], t, (key) => x.members.has(key));
    case "-":
      if (!(x instanceof StarlarkSet && y instanceof StarlarkSet)) return undefined;
      return selectMembers([x], t, (key) => !y.members.has(key));
    case "^":
      if (!(x instanceof StarlarkSet && y instanceof StarlarkSet)) return undefined;
      return selectMembers([x, y], t, (key) => !(x.members.has(key) && y.members.has(key)));
    default:
      return undefined;
  }
}

/** `x + y` of sequences. */
export function concatenate(x: Value, y: Value, t: Thread): Value | undefined {
  if (typeof x === "string") {
    if (typeof y !== "string") return undefined;
    t.charge(stringWeight(x.length + y.length));
    return x + y;
  }
  if (x instanceof StarlarkList && y instanceof StarlarkList) {
    return new StarlarkList(joined(x.items, y.items, t));
  }
  if (x instanceof StarlarkTuple && y instanceof StarlarkTuple) {
    return new StarlarkTuple(joined(x.items, y.items, t));
  }
  if (x instanceof StarlarkStruct && y instanceof StarlarkStruct) return joinedStructs(x, y, t);
  if (x instanceof StarlarkBytes && y instanceof StarlarkBytes) {
    t.charge(bytesWeight(x.octets.length + y.octets.length));
    const octets = new Uint8Array(x.octets.length + y.octets.length);
    octets.set(x.octets);
    octets.set(y.octets, x.octets.length);
    return new StarlarkBytes(octets);
  }
  return undefined;
}

/** The fields of two structs of one kind; those of `y` take precedence. */
function joinedStructs(x: StarlarkStruct, y: StarlarkStruct, t: Thread): StarlarkStruct {
  if (!equals(x.constructorValue, y.constructorValue, t)) {
    const [left, right] = [str(x.constructorValue, t), str(y.constructorValue, t)];
    throw new StarlarkError(`cannot add structs of different constructors: ${left} + ${right}`);
  }
  const count = x.fields.size + y.fields.size;
  t.charge(structWeight(count));
  t.step(count);
  const fields = [...new Map([...x.fields, ...y.fields])].sort(([a], [b]) => (a < b ? -1 : 1));
  return new StarlarkStruct(x.constructorValue, new Map(fields));
}

function joined(x: readonly Value[], y: readonly Value[], t: Thread): Value[] {
  t.charge(listWeight(x.length + y.length));
  t.step((x.length + y.length) >> 3);
  return x.concat(y);
}

function repeat(sequence: Value, count: Int, t: Thread): Value | undefined {
  const length = lengthOf(sequence);
  if (length === undefined) return undefined;
  const text = typeof sequence === "string";
  const octets = sequence instanceof StarlarkBytes;
  const list = sequence instanceof StarlarkList;
  if (!text && !octets && !list && !(sequence instanceof StarlarkTuple)) return undefined;
  const times = length === 0 || count <= 0 ? 0 : count;
  if (typeof times !== "number" || times > 0x7fff_ffff) {
    throw new StarlarkError(`repeat count ${times} too large`);
  }
  const total = length * times;
  if (total >= maxRepeat) throw new StarlarkError(`excessive repeat (${length} * ${times} elements)`);
  t.charge(text ? stringWeight(total) : octets ? bytesWeight(total) : listWeight(total));
  t.step(total >> (text || octets ? 8 : 3));
  if (text) return sequence.repeat(times);
  if (octets) {
    const result = new Uint8Array(total);
    for (let at = 0; at < total; at += length) result.set(sequence.octets, at);
    return new StarlarkBytes(result);
  }
  const items: Value[] = [];
  for (let round = 0; round < times; round += 1) {
    for (let index = 0; index < length; index += 1) items.push(sequence.items[index]!);
  }
  return list ? new StarlarkList(items) : new StarlarkTuple(items);
}

function uniteDicts(x: StarlarkDict, y: StarlarkDict, t: Thread): StarlarkDict {
  return inPiecesIfLong(t, x.size + y.size, [x, y], () => unitedDict(x, y, t));
}

function* unitedDict(x: StarlarkDict, y: StarlarkDict, t: Thread): Pieces<StarlarkDict> {
  const united = newDict(t);
  for (const dict of [x, y]) yield* updateInPieces(united, dict, t);
  return united;
}

/** `dict |= other`: adds every entry of `other`. */
export function updateDict(dict: StarlarkDict, other: StarlarkDict, t: Thread): void {
  if (dict === other) return;
  inPiecesIfLong(t, other.size, [dict, other], () => updateInPieces(dict, other, t));
}

function* updateInPieces(dict: StarlarkDict, other: StarlarkDict, t: Thread): Pieces<null> {
  let count = 0;
  other.locks += 1;
  try {
    for (const entry of other.entries.values()) {
      t.step(2);
      dictSet(dict, entry.key, entry.value, t);
      count += 1;
      if ((count & (pieceLength - 1)) === 0) yield;
    }
  } finally {
    other.locks -= 1;
  }
  return null;
}

function selectMembers(
  sets: readonly StarlarkSet[],
  t: Thread,
  selects: (hashed: Key) => boolean,
): StarlarkSet {
  const length = sets.reduce((sum, set) => sum + set.size, 0);
  return inPiecesIfLong(t, length, sets, () => selectedMembers(sets, t, selects));
}

function* selectedMembers(
  sets: readonly StarlarkSet[],
  t: Thread,
  selects: (hashed: Key) => boolean,
): Pieces<StarlarkSet> {
  const selected = newSet(t);
  let count = 0;
  for (const set of sets) {
    for (const [hashed, member] of set.members) {
      t.step(2);
      if (selects(hashed)) setAdd(selected, member, t);
      count += 1;
      if ((count & (pieceLength - 1)) === 0) yield;
    }
  }
  return selected;
}

/** `+x`, `-x`, `~x`, `not x`. */
export function unary(operator: "+" | "-" | "~" | "not", x: Value, t: Thread): Value {
  if (operator === "not") return !truth(x);
  if (isInt(x)) {
    if (operator === "+") return x;
    return operator === "-" ? negateInt(x, t) : subtractInts(-1, x, t);
  }
  if (x instanceof StarlarkFloat && operator !== "~") return operator === "+" ? x : makeFloat(-x.value, t);
  throw new StarlarkError(`unknown unary op: ${operator} ${typeOf(x)}`);
}

/** `item in container`. */
export function contains(item: Value, container: Value, t: Thread): boolean {
  if (container instanceof StarlarkDict) {
    if (typeof item === "string" && item.charCodeAt(0) !== 0) return container.entries.has(item);
    // A dict never contains an unhashable key.
    return isHashable(item, t) && container.entries.has(hashKey(item, t));
  }
  if (container instanceof StarlarkSet) return container.members.has(hashKey(item, t));
  if (typeof container === "string") {
    if (typeof item === "string") return indexOf(container, item, 0, t) !== -1;
    throw new StarlarkError(`'in <string>' requires string as left operand, not ${typeOf(item)}`);
  }
  if (container instanceof StarlarkList || container instanceof StarlarkTuple) {
    t.step(container.items.length >> 2);
    for (const element of container.items) {
      if (equals(element, item, t)) return true;
    }
    return false;
  }
  if (container instanceof StarlarkRange) return rangeHas(container, item);
  if (container instanceof StarlarkBytes) return bytesHave(container, item, t);
  const known = hostBinary("in", item, container, t);
  if (known !== undefined) return truth(known);
  throw new StarlarkError(`unknown binary op: ${typeOf(item)} in ${typeOf(container)}`);
}

function isHashable(item: Value, t: Thread): boolean {
  try {
    hashKey(item, t);
    return true;
  } catch (error) {
    if (error instanceof StarlarkError && error.catchable) return false;
    throw error;
  }
}

function rangeHas(range: StarlarkRange, item: Value): boolean {
  const int = item instanceof StarlarkFloat ? item.value : item;
  if (!isInt(int))
    throw new StarlarkError(`'in <range>' requires integer as left operand, not ${typeOf(item)}`);
  if (typeof int !== "number") return false;
  const offset = (int - range.start) / range.step;
  return Number.isInteger(offset) && offset >= 0 && offset < range.length;
}

function bytesHave(container: StarlarkBytes, item: Value, t: Thread): boolean {
  const { octets } = container;
  if (isInt(item)) {
    if (item < 0 || item > 255) throw new StarlarkError(`int in bytes: ${item} out of range`);
    t.step(octets.length >> 6);
    return octets.includes(Number(item));
  }
  if (item instanceof StarlarkBytes) {
    const latin = (bytes: Uint8Array): string => {
      t.charge(stringWeight(bytes.length));
      let text = "";
      for (let at = 0; at < bytes.length; at += 4096)
        text += String.fromCharCode(...bytes.subarray(at, at + 4096));
      return text;
    };
    return indexOf(latin(octets), latin(item.octets), 0, t) !== -1;
  }
  throw new StarlarkError(`'in bytes' requires bytes or int as left operand, not ${typeOf(item)}`);
}

/** `x[key]`. */
export function index(x: Value, key: Value, t: Thread): Value {
  if (x instanceof StarlarkDict) {
    const value = dictGet(x, key, t);
    if (value !== undefined) return value;
    throw noKey(x, key, t);
  }
  if (x instanceof StarlarkList || x instanceof StarlarkTuple)
    return x.items[position(x, key, x.items.length, t)]!;
  if (typeof x === "string") {
    const at = position(x, key, x.length, t);
    readWhole(x, t);
    return x[at]!;
  }
  if (x instanceof StarlarkRange) return rangeAt(x, position(x, key, x.length, t));
  if (x instanceof StarlarkBytes) return octetAt(x, position(x, key, x.octets.length, t), t);
  const length = lengthOf(x);
  if (length !== undefined && !(x instanceof StarlarkSet)) {
    // Views of strings and bytes.
    return elementAt(x as ElementsView, position(x, key, length, t));
  }
  const known = hostBinary("[]", x, key, t);
  if (known !== undefined) return known;
  throw new StarlarkError(`unhandled index operation ${typeOf(x)}[${typeOf(key)}]`);
}

/**
 * The engine stores a concatenated string in pieces and copies it into one piece when
 * it is first read. JavaScript cannot tell whether this has happened, so the thread
 * remembers the string that was read last.
 */
export function readWhole(text: string, t: Thread): void {
  if (text.length < 65_536 || text === t.lastRead) return;
  t.step(text.length >> 7);
  t.lastRead = text;
}

function octetAt(x: StarlarkBytes, at: number, t: Thread): StarlarkBytes {
  t.charge(bytesWeight(1));
  return new StarlarkBytes(x.octets.slice(at, at + 1));
}

/** The element of a view with a length: a view of code units or octets. */
function elementAt({ of, kind }: ElementsView, at: number): Value {
  if (typeof of !== "string") return of.octets[at]!;
  return kind === "elems" ? of[at]! : of.charCodeAt(at);
}

/** The error for a missing key, with a suggestion. */
export function noKey(dict: StarlarkDict, key: Value, t: Thread): StarlarkError {
  return new StarlarkError(`key ${shortened(repr(key, t))} not in dict`, { hint: keyHint(dict, key, t) });
}

/** A hint that lists the existing keys, and the one nearest to `key`. */
export function keyHint(dict: StarlarkDict, key: Value, t: Thread): string | undefined {
  const names: string[] = [];
  for (const entry of dict.entries.values()) {
    if (typeof entry.key === "string" && entry.key.length <= 100) names.push(entry.key);
    if (names.length === 50) break;
  }
  if (names.length === 0) return undefined;
  t.step(names.length * (typeof key === "string" ? 1 + (Math.min(key.length, 100) >> 2) : 1));
  const nearest = typeof key === "string" ? nearestName(key, names) : undefined;
  const listed = shortened(names.map((name) => JSON.stringify(name)).join(", "));
  return `${nearest === undefined ? "" : `did you mean ${JSON.stringify(nearest)}? `}the keys are ${listed}`;
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text;
}

/** The index of `key` in a sequence of `length` elements. */
function position(x: Value, key: Value, length: number, t: Thread): number {
  if (typeof key !== "number") throw indexType(x, key, t);
  const at = key < 0 ? key + length : key;
  if (at >= 0 && at < length) return at;
  if (length === 0) throw new StarlarkError(`index ${key} out of range: empty ${typeOf(x)}`);
  throw new StarlarkError(`${typeOf(x)} index ${key} out of range [${-length}:${length - 1}]`);
}

function indexType(x: Value, key: Value, t: Thread): StarlarkError {
  const what = typeof key === "bigint" ? `${repr(key, t)} out of range` : `got ${typeOf(key)}, want int`;
  return new StarlarkError(`${typeOf(x)} index: ${what}`);
}

/** `x[key] = value`. */
export function setIndex(x: Value, key: Value, value: Value, t: Thread): void {
  if (x instanceof StarlarkDict) {
    dictSet(x, key, value, t);
  } else if (x instanceof StarlarkList) {
    const at = position(x, key, x.items.length, t);
    x.checkMutable("assign to element of");
    x.items[at] = value;
  } else {
    throw new StarlarkError(`${typeOf(x)} value does not support item assignment`);
  }
}
