/**
 * The machine: executes the instructions of the innermost frame until the fiber
 * waits, yields or ends, and unwinds frames when an error is thrown. Calls of the
 * program do not use the JavaScript stack, so their depth is limited only by the
 * thread, and the frames hold the complete state of a fiber.
 */

import { positionAt } from "@toolcrib/diagnostics";
import type { Handler } from "../compile/code.ts";
import { leaveMachine, switchFrame } from "../compile/code.ts";
import { ErrorValue } from "../value/error-value.ts";
import { ValueIterator } from "../value/value.ts";
import { advanceContinuation } from "./call.ts";
import type { Outcome } from "./fiber.ts";
import type { Frame } from "./frame.ts";
import { InterruptedInstruction, Interruption, resumeInstruction } from "./long-work.ts";
import { type StackEntry, StarlarkError } from "./starlark-error.ts";
import type { Thread } from "./thread.ts";

/**
 * The reason why the machine stopped: the outermost frame returned (`thread.result`),
 * the fiber waits (`thread.waitFor`), or it yields to the event loop of the host.
 */
export type Stop = "done" | "waits" | "yields";

/**
 * Runs the innermost frame of the thread and everything that it calls.
 *
 * @param delivery the result that the frame waited for; it is stored in the register
 *   of its call, or thrown there.
 * @throws {StarlarkError} an error that no handler catches, with its stack.
 */
export function run(t: Thread, delivery?: Outcome): Stop {
  let signal: number = switchFrame;
  if (delivery !== undefined) {
    const { registers, site } = t.frame!;
    t.at = site.at;
    if (delivery.kind === "value") registers[site.destination] = delivery.value;
    else signal = unwind(t, delivery.error, site.pc);
  }
  while (signal === switchFrame) signal = runFrames(t);
  if (t.frame === undefined) return "done";
  return t.waitFor === undefined ? "yields" : "waits";
}

/** Runs until a signal other than a change of frames, or until an error. */
function runFrames(t: Thread): number {
  let frame: Frame = t.frame!;
  let pc = frame.pc;
  try {
    if (frame.interrupted !== undefined) {
      const next = resumeInstruction(t, frame, frame.interrupted);
      if (next === undefined || next === leaveMachine) return leaveMachine;
      if (next >= 0) frame.pc = next;
      return t.frame === undefined ? leaveMachine : switchFrame;
    }
    for (;;) {
      const { instructions } = frame.code;
      const { registers } = frame;
      do {
        pc = instructions[pc]!(registers, t);
      } while (pc >= 0 && !t.yieldDue);
      if (pc >= 0) {
        frame.pc = pc;
        return leaveMachine;
      }
      if (pc !== switchFrame || t.frame === undefined) return leaveMachine;
      frame = t.frame;
      pc = frame.pc;
    }
  } catch (error) {
    if (error instanceof Interruption) return interrupt(t, frame, pc, error);
    frame.interrupted = undefined;
    return unwind(t, toStarlarkError(error), t.frame === frame ? pc : t.frame!.pc);
  }
}

/** Records that the instruction at `pc` waits for long work, which starts immediately. */
function interrupt(t: Thread, frame: Frame, pc: number, { work }: Interruption): number {
  frame.pc = pc;
  if (frame.interrupted === undefined) frame.interrupted = new InterruptedInstruction(work, t.at);
  else frame.interrupted.interruptAgain(work);
  return switchFrame;
}

/**
 * Finds the handler for `thrown`, and closes frames and iterators up to it.
 *
 * @param failedPc the instruction of the innermost frame that failed.
 * @throws {StarlarkError} if no handler catches the error.
 */
function unwind(t: Thread, thrown: StarlarkError, failedPc: number): number {
  let error = thrown;
  if (error.stackEntries.length === 0) error.stackEntries = stackOf(t);
  let pc = failedPc;
  for (let frame = t.frame; frame !== undefined; frame = t.frame) {
    const handler = error.catchable ? findHandler(frame, pc) : undefined;
    closeIterators(frame, handler?.openIterators);
    if (handler !== undefined) {
      const caught = new ErrorValue(error);
      t.charge(caught.weight());
      frame.registers[handler.register] = caught;
      frame.pc = handler.target;
      return switchFrame;
    }
    if (frame.continuation !== undefined) {
      const outcome = throwInto(t, frame, error);
      if (typeof outcome === "number") return outcome;
      error = outcome;
    }
    t.frame = frame.caller;
    t.depth -= 1;
    if (t.frame !== undefined) pc = t.frame.site.pc;
  }
  throw error;
}

/**
 * Throws `error` into the continuation of `frame`.
 *
 * @returns the next signal of the machine, or the error that the continuation throws.
 */
function throwInto(t: Thread, frame: Frame, error: StarlarkError): number | StarlarkError {
  try {
    const step = frame.continuation!.body.throw(error);
    if (!error.catchable) return error;
    const next = advanceContinuation(t, step);
    if (next < 0) return next;
    frame.pc = next;
    return switchFrame;
  } catch (raised) {
    return toStarlarkError(raised);
  }
}

function findHandler(frame: Frame, pc: number): Handler | undefined {
  return frame.code.handlers.find((handler) => handler.start <= pc && pc < handler.end);
}

function closeIterators(frame: Frame, open: readonly number[] = []): void {
  for (const register of frame.code.iteratorRegisters) {
    const iterator = frame.registers[register];
    if (iterator instanceof ValueIterator && !open.includes(register)) {
      iterator.close();
      frame.registers[register] = undefined;
    }
  }
}

/** The current calls, from the outermost in. */
function stackOf(t: Thread): StackEntry[] {
  const entries: StackEntry[] = [];
  let at = t.at;
  for (let frame = t.frame; frame !== undefined && entries.length < 200; frame = frame.caller) {
    const { name, source } = frame.code;
    if (frame.continuation !== undefined) {
      entries.push({ function: frame.continuation.name, file: "<builtin>" });
    } else if (source.name !== "<builtin>") {
      const { lineNumber, columnNumber } = positionAt(source.text, at);
      entries.push({ function: name, file: source.name, lineNumber, columnNumber, offset: at });
    }
    if (frame.caller !== undefined) at = frame.caller.site.at;
  }
  return entries.reverse();
}

/** Converts any thrown value to an error of the program. Errors of JavaScript never leave the machine. */
export function toStarlarkError(error: unknown): StarlarkError {
  if (error instanceof StarlarkError) return error;
  if (error instanceof RangeError) {
    // Limits of the JavaScript engine: a string or array that is too long, or a stack overflow.
    return new StarlarkError(`value too large: ${error.message}`, { kind: "resource", cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new StarlarkError(`internal error: ${message}`, { kind: "internal", cause: error });
}
