/** Slices: `x[low:high:step]` of strings, bytes, lists, tuples and ranges. */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { bytesWeight, listWeight, stringWeight, tupleWeight } from "./heap-weight.ts";
import { lengthOf } from "./iterate.ts";
import { readWhole } from "./operators.ts";
import { typeOf } from "./type-of.ts";
import { StarlarkBytes, StarlarkList, StarlarkRange, StarlarkTuple, type Value } from "./value.ts";

/** `x[low:high:step]`; `null` for an absent bound or step. */
export function slice(x: Value, low: Value, high: Value, step: Value, t: Thread): Value {
  const length = isSliceable(x) ? lengthOf(x) : undefined;
  if (length === undefined) throw new StarlarkError(`invalid slice operand ${typeOf(x)}`);
  const stride = step === null ? 1 : bound(step, "slice step");
  if (stride === 0) throw new StarlarkError("zero is not a valid slice step");
  const [start, end] = stride > 0 ? risingBounds(low, high, length) : fallingBounds(low, high, length);
  const count = Math.max(0, Math.ceil((end - start) / stride));
  if (x instanceof StarlarkRange) {
    const first = x.start + start * x.step;
    return new StarlarkRange(first, first + count * stride * x.step, x.step * stride);
  }
  if (typeof x === "string") return sliceString(x, start, stride, count, t);
  if (x instanceof StarlarkBytes) {
    t.charge(bytesWeight(count));
    t.step(count >> 6);
    const octets = new Uint8Array(count);
    for (let at = 0; at < count; at += 1) octets[at] = x.octets[start + at * stride]!;
    return new StarlarkBytes(octets);
  }
  const source = x instanceof StarlarkTuple ? x.items : (x as StarlarkList).items;
  t.charge(x instanceof StarlarkTuple ? tupleWeight(count) : listWeight(count));
  t.step(count >> 3);
  const items = stride === 1 ? source.slice(start, start + count) : strided(source, start, stride, count);
  return x instanceof StarlarkTuple ? new StarlarkTuple(items) : new StarlarkList(items);
}

function isSliceable(x: Value): boolean {
  return (
    typeof x === "string" ||
    x instanceof StarlarkList ||
    x instanceof StarlarkTuple ||
    x instanceof StarlarkBytes ||
    x instanceof StarlarkRange
  );
}

function sliceString(text: string, start: number, stride: number, count: number, t: Thread): string {
  t.charge(stringWeight(count));
  readWhole(text, t);
  if (stride === 1) return text.slice(start, start + count);
  t.step(count >> 3);
  let result = "";
  for (let at = 0; at < count; at += 1) result += text[start + at * stride];
  return result;
}

function strided(source: readonly Value[], start: number, stride: number, count: number): Value[] {
  const items: Value[] = [];
  for (let at = 0; at < count; at += 1) items.push(source[start + at * stride]!);
  return items;
}

function risingBounds(low: Value, high: Value, length: number): [start: number, end: number] {
  const start = low === null ? 0 : clamp(fromEnd(bound(low, "start index"), length), 0, length);
  const end = high === null ? length : clamp(fromEnd(bound(high, "end index"), length), 0, length);
  return [start, end];
}

function fallingBounds(low: Value, high: Value, length: number): [start: number, end: number] {
  const start = low === null ? length - 1 : clamp(fromEnd(bound(low, "start index"), length), -1, length - 1);
  const end = high === null ? -1 : clamp(fromEnd(bound(high, "end index"), length), -1, length - 1);
  return [start, end];
}

function bound(value: Value, what: string): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return value > 0n ? Number.MAX_SAFE_INTEGER : -Number.MAX_SAFE_INTEGER;
  throw new StarlarkError(`invalid ${what}: got ${typeOf(value)}, want int`);
}

function fromEnd(at: number, length: number): number {
  return at < 0 ? at + length : at;
}

function clamp(at: number, least: number, most: number): number {
  return Math.min(Math.max(at, least), most);
}
