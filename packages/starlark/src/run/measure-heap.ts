/**
 * The walk of the heap: what lives is what the frames of a thread can reach.
 * Objects are weighed once, strings each time they are met (JavaScript does not
 * tell whether two equal strings are one), so the result is an upper estimate.
 */

import type { Register } from "../compile/code.ts";
import { Cell, FunctionValue } from "../value/function-value.ts";
import { bigIntWeight, weighString } from "../value/heap-weight.ts";
import { bitLengthBound } from "../value/number.ts";
import { SharedObject, StarlarkObject, type Value, ValueIterator } from "../value/value.ts";
import type { Frame } from "./frame.ts";
import type { Thread } from "./thread.ts";

/** What a frame itself weighs, without its registers. */
const frameWeight = 112;

let lastEpoch = 0;

/** The live bytes of `thread`, and how many values were visited to count them. */
export function measureHeap(thread: Thread): { liveBytes: number; visited: number } {
  lastEpoch += 1;
  const epoch = lastEpoch;
  const rest: Value[] = [];
  let liveBytes = 0;
  let visited = 0;

  function meet(register: Register): void {
    if (register === undefined) return;
    if (register instanceof Cell) {
      if (register.value !== undefined) rest.push(register.value);
    } else if (register instanceof ValueIterator) {
      rest.push(register.subject);
    } else {
      rest.push(register);
    }
  }

  function meetFrames(innermost: Frame | undefined): void {
    for (let frame = innermost; frame !== undefined; frame = frame.caller) {
      liveBytes += frameWeight + 8 * frame.registers.length;
      for (const register of frame.registers) meet(register);
      for (const root of frame.continuation?.roots ?? []) rest.push(root);
    }
  }

  meetFrames(thread.frame);
  for (const frame of thread.otherFrames()) meetFrames(frame);
  for (const value of thread.extraRoots) rest.push(value);

  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    visited += 1;
    if (typeof value === "string") liveBytes += weighString(value);
    else if (typeof value === "bigint") liveBytes += bigIntWeight(bitLengthBound(value));
    else if (value instanceof SharedObject) {
      if (value.epoch === epoch) continue;
      value.epoch = epoch;
      liveBytes += value.weight();
      value.references(rest);
      if (value instanceof FunctionValue && value.module.epoch !== epoch) {
        value.module.epoch = epoch;
        for (const global of value.module.globals) meet(global);
      }
    } else if (value instanceof StarlarkObject) liveBytes += value.weight();
  }
  return { liveBytes, visited };
}
