/**
 * Lays out the instructions of one function. Instructions are closures over where
 * they go next, and that is known only when all have their places: so what is
 * collected here makes them, and is asked at the end. A jump takes no place at
 * run time: whoever would go to it goes to its target.
 */

import type { CallSite, Handler, Instruction } from "./code.ts";
import type { CodeSize } from "./code-size.ts";

/** A place in the code that may not be known yet. */
export interface Label {
  pc: number;
}

/** What an instruction is made with. */
export interface Place {
  /** Its own index. */
  readonly pc: number;
  /** The instruction after it. */
  readonly next: number;
  /** Where a label is. */
  readonly target: (label: Label) => number;
  /** A call from here. */
  readonly site: (destination: number, at: number) => CallSite;
}

type Slot =
  | { readonly kind: "instruction"; readonly make: (place: Place) => Instruction }
  | { readonly kind: "jump"; readonly to: Label };

/** A handler whose places are labels still. */
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

  /** A label, to be placed with `mark`. */
  label(): Label {
    return { pc: -1 };
  }

  /** A label at the next instruction. */
  here(): Label {
    return { pc: this.#slots.length };
  }

  mark(label: Label): void {
    label.pc = this.#slots.length;
  }

  /** Cover a stretch of code; of two that overlap, the one that is given first is the inner one. */
  handle(handler: HandlerDraft): void {
    this.#size.add(1);
    this.#handlers.push(handler);
  }

  finish(): { instructions: Instruction[]; handlers: Handler[] } {
    // Jumps are threaded away; the slot of one that nothing falls into stays, unreached.
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
      // Each jump is followed once, however long the chains of jumps are.
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
