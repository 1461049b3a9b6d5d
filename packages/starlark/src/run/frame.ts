/** Frames: what a function's call needs to go on. They live on the heap, never on the JavaScript stack. */

import type { CallSite, Code, Registers } from "../compile/code.ts";
import type { Continuation } from "./deferred.ts";

const noSite: CallSite = { pc: 0, next: 0, destination: 0, at: 0 };

/** A call that is under way. */
export class Frame {
  readonly code: Code;
  readonly registers: Registers;
  /** Who is waiting for the result; `undefined` for the outermost. */
  readonly caller: Frame | undefined;
  /** The instruction to go on with. */
  pc = 0;
  /** The call that this frame waits for. */
  site: CallSite = noSite;
  /** Set for a builtin that calls back. */
  readonly continuation: Continuation | undefined;

  constructor(code: Code, registers: Registers, caller: Frame | undefined, continuation?: Continuation) {
    this.code = code;
    this.registers = registers;
    this.caller = caller;
    this.continuation = continuation;
  }
}
