/**
 * Frames: the state of function calls. They live on the heap and never on the
 * JavaScript stack.
 */

import type { CallSite, Code, Registers } from "../compile/code.ts";
import type { Continuation } from "./deferred.ts";
import type { InterruptedInstruction } from "./long-work.ts";

const noSite: CallSite = { pc: 0, next: 0, destination: 0, at: 0 };

/** The state of one call. */
export class Frame {
  readonly code: Code;
  readonly registers: Registers;
  /** The calling frame; `undefined` for the outermost frame. */
  readonly caller: Frame | undefined;
  /** The instruction at which the frame resumes. */
  pc = 0;
  /** The call that this frame waits for. */
  site: CallSite = noSite;
  /** Set while the instruction at `pc` waits for long work. */
  interrupted: InterruptedInstruction | undefined = undefined;
  /** Set for a builtin that calls functions. */
  readonly continuation: Continuation | undefined;

  constructor(code: Code, registers: Registers, caller: Frame | undefined, continuation?: Continuation) {
    this.code = code;
    this.registers = registers;
    this.caller = caller;
    this.continuation = continuation;
  }
}
