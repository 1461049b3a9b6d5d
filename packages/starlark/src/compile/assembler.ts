/**
 * Lays out the instructions of one function. An instruction is a closure over the
 * index of the next one, which is known only when all positions are fixed. The
 * assembler therefore collects functions that make the instructions, and calls them
 * at the end. A jump costs nothing at run time: instructions that lead to it lead
 * directly to its target.
 */

import type { CallSite, Handler, Instruction } from "./code.ts";
import type { CodeSize } from "./code-size.ts";

/** A position in the code that may not be known yet. */
export interface Label {
  pc: number;
}

/** The values that a function needs to make an instruction. */
export interface Place {
  /** The index of the instruction. */
  readonly pc: number;
  /** The index of the next instruction. */
  readonly next: number;
  /** Returns the index of a label. */
  readonly target: (label: Label) => number;
  /** Returns a call site at the instruction. */
  readonly site: (destination: number, at: number) => CallSite;
}

type Slot =
  | { readonly kind: "instruction"; readonly make: (place: Place) => Instruction }
  | { readonly kind: "jump"; readonly to: Label };

/** A handler whose positions are still labels. */
export interface HandlerDraft {
  readonly start: Label;
  readonly end: Label;
  readonly target: Label;
  readonly register: number;
  readonly openIterators: readonly number[];
}

export class Assembler {
  readonly #size: CodeSize;
  readonly #slots: Slot[] = [];
  readonly #handlers: HandlerDraft[] = [];

  /** @param size counts the slots and handlers. */
  constructor(size: CodeSize) {
    this.#size = size;
  }

  emit(make: (place: Place) => Instruction): void {
    this.#size.add(1);
    this.#slots.push({ kind: "instruction", make });
  }

  jump(to: Label): void {
    this.#size.add(1);
    this.#slots.push({ kind: "jump", to });
  }

  /** Creates a label, to be placed with `mark`. */
  label(): Label {
    return { pc: -1 };
  }

  /** Creates a label at the next instruction. */
  here(): Label {
    return { pc: this.#slots.length };
  }

  mark(label: Label): void {
    label.pc = this.#slots.length;
  }

  /** Adds a handler for a range of code. Of two ranges that overlap, the inner one must be added first. */
  handle(handler: HandlerDraft): void {
    this.#size.add(1);
    this.#handlers.push(handler);
  }

  finish(): { instructions: Instruction[]; handlers: Handler[] } {
    // Jumps are resolved to their targets. The slot of a jump remains, unused, unless an
    // instruction falls through to it.
    const slots = this.#slots;
    const resolved: number[] = [];
    const resolve = (pc: number): number => {
      const passed: number[] = [];
      let at = pc;
      for (let slot = slots[at]; slot?.kind === "jump" && resolved[at] === undefined; slot = slots[at]) {
        passed.push(at);
        at = slot.to.pc;
      }
      const to = resolved[at] ?? at;
      // Each jump is followed once, even in a long chain of jumps.
      for (const jump of passed) resolved[jump] = to;
      return to;
    };
    const instructions = slots.map((slot, pc): Instruction => {
      if (slot.kind === "jump") {
        const to = resolve(slot.to.pc);
        return () => to;
      }
      const next = resolve(pc + 1);
      return slot.make({
        pc,
        next,
        target: (label) => resolve(label.pc),
        site: (destination, at) => ({ pc, next, destination, at }),
      });
    });
    const handlers = this.#handlers.map(({ start, end, target, register, openIterators }) => ({
      start: start.pc,
      end: end.pc,
      target: resolve(target.pc),
      register,
      openIterators,
    }));
    return { instructions, handlers };
  }
}
