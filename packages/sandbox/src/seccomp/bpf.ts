/** Assembles classic BPF programs, as the kernel reads them for seccomp (linux/filter.h). Pure. */

import assert from "node:assert/strict";

/** One instruction: jumps name the labels that they lead to, and the next instruction has none. */
export interface BpfInstruction {
  readonly code: number;
  readonly k: number;
  readonly whenTrue?: string | undefined;
  readonly whenFalse?: string | undefined;
}

/** A part of a program. A label stands for the instruction that follows it. */
export type BpfItem = BpfInstruction | { readonly label: string };

/** The instructions that filters of system calls are made of. */
export const bpf = {
  /** Loads 32 bits of the facts about a call into the accumulator. */
  load: (offset: number): BpfItem => ({ code: 0x20, k: offset }),
  ifEqual: (k: number, whenTrue?: string, whenFalse?: string): BpfItem => ({
    code: 0x15,
    k,
    whenTrue,
    whenFalse,
  }),
  ifGreater: (k: number, whenTrue?: string, whenFalse?: string): BpfItem => ({
    code: 0x25,
    k,
    whenTrue,
    whenFalse,
  }),
  /** Whether any of the bits is set. */
  ifAnyBit: (k: number, whenTrue?: string, whenFalse?: string): BpfItem => ({
    code: 0x45,
    k,
    whenTrue,
    whenFalse,
  }),
  return: (k: number): BpfItem => ({ code: 0x06, k }),
} as const;

/** Bytes of one instruction. */
const instructionSize = 8;

/** Translates a program to bytes: each label to the number of instructions that a jump skips. */
export function assembleBpf(items: readonly BpfItem[]): Uint8Array {
  const positions = new Map<string, number>();
  const instructions: BpfInstruction[] = [];
  for (const item of items) {
    if ("label" in item) positions.set(item.label, instructions.length);
    else instructions.push(item);
  }
  const bytes = new Uint8Array(instructions.length * instructionSize);
  const view = new DataView(bytes.buffer);
  for (const [index, { code, k, whenTrue, whenFalse }] of instructions.entries()) {
    const distance = (label: string | undefined): number => {
      if (label === undefined) return 0;
      const skipped = (positions.get(label) ?? -1) - index - 1;
      assert(skipped >= 0 && skipped <= 255, `the jump to ${label} is not within 255 instructions`);
      return skipped;
    };
    const at = index * instructionSize;
    view.setUint16(at, code, true);
    view.setUint8(at + 2, distance(whenTrue));
    view.setUint8(at + 3, distance(whenFalse));
    view.setUint32(at + 4, k, true);
  }
  return bytes;
}
