/**
 * The heap walk: a value is live if the frames of a thread can reach it. An object is
 * counted once; a string is counted each time it is reached, because JavaScript
 * cannot tell whether two equal strings are the same. The result is therefore an
 * upper bound.
 */

import type { Register } from "../compile/code.ts";
import { Cell, FunctionValue, type ModuleState } from "../value/function-value.ts";
import { bigIntWeight, weighString } from "../value/heap-weight.ts";
import { bitLengthBound } from "../value/number.ts";
import {
  SharedObject,
  StarlarkDict,
  StarlarkList,
  StarlarkObject,
  StarlarkTuple,
  type Value,
  ValueIterator,
} from "../value/value.ts";
import type { Frame } from "./frame.ts";
import type { Thread } from "./thread.ts";

/** Bytes of a frame without its registers. */
const frameWeight = 112;

let lastEpoch = 0;

/** Measures the live bytes of `thread`, and how many values were visited to count them. */
export function measureHeap(thread: Thread): { liveBytes: number; visited: number } {
  const walk = new Walk();
  walk.meetFrames(thread.frame, thread);
  for (const frame of thread.otherFrames()) walk.meetFrames(frame, thread);
  for (const register of thread.heldRegisters ?? []) walk.meetRegister(register);
  for (const value of thread.extraRoots) walk.meet(value);
  for (const value of thread.otherValues()) walk.meet(value);
  walk.liveBytes += thread.otherBytes();
  walk.finish();
  return walk;
}

/**
 * One walk. It queues each object once, until its references are visited, and queues
 * nothing else: a list of a million ints adds nothing to the heap while it is
 * measured.
 */
class Walk {
  liveBytes = 0;
  visited = 0;
  readonly #epoch: number;
  readonly #rest: SharedObject[] = [];
  /** The references of one object, before they are passed to `meet`. */
  readonly #references: Value[] = [];

  constructor() {
    lastEpoch += 1;
    this.#epoch = lastEpoch;
  }

  meetFrames(innermost: Frame | undefined, thread: Thread): void {
    for (let frame = innermost; frame !== undefined; frame = frame.caller) {
      this.liveBytes += frameWeight + 8 * frame.registers.length;
      for (const register of frame.registers) this.meetRegister(register);
      for (const root of frame.continuation?.roots ?? []) this.meet(root);
      if (frame.interrupted !== undefined) {
        this.liveBytes += frame.interrupted.bytes(thread);
        for (const value of frame.interrupted.values()) this.meet(value);
      }
    }
  }

  meetRegister(register: Register): void {
    if (register === undefined) return;
    if (register instanceof Cell) {
      if (register.value !== undefined) this.meet(register.value);
    } else if (register instanceof ValueIterator) {
      this.meet(register.subject);
    } else {
      this.meet(register);
    }
  }

  meet(value: Value): void {
    this.visited += 1;
    if (typeof value === "string") this.liveBytes += weighString(value);
    else if (typeof value === "bigint") this.liveBytes += bigIntWeight(bitLengthBound(value));
    else if (value instanceof SharedObject) {
      if (value.epoch === this.#epoch) return;
      value.epoch = this.#epoch;
      this.liveBytes += value.weight();
      this.#rest.push(value);
    } else if (value instanceof StarlarkObject) this.liveBytes += value.weight();
  }

  finish(): void {
    for (let object = this.#rest.pop(); object !== undefined; object = this.#rest.pop()) {
      if (object instanceof StarlarkList || object instanceof StarlarkTuple) {
        for (let index = 0; index < object.items.length; index += 1) this.meet(object.items[index]!);
      } else if (object instanceof StarlarkDict) {
        for (const { key, value } of object.entries.values()) {
          this.meet(key);
          this.meet(value);
        }
      } else {
        object.references(this.#references);
        for (const value of this.#references.splice(0)) this.meet(value);
        if (object instanceof FunctionValue) this.#meetGlobals(object.module);
      }
    }
  }

  #meetGlobals(module: ModuleState): void {
    if (module.epoch === this.#epoch) return;
    module.epoch = this.#epoch;
    for (const global of module.globals) this.meetRegister(global);
  }
}
