/**
 * Results that are not there yet. A builtin that must call a function of the
 * program, or that must wait, cannot do so on the JavaScript stack: the machine
 * could not be suspended there. It returns one of these instead, and the machine
 * goes on with it.
 */

import { Deferred, type NamedArgument, type Value } from "../value/value.ts";

/** What a continuation asks the machine to do: call `callee`, and hand back what it returns. */
export interface CallRequest {
  readonly callee: Value;
  readonly args: readonly Value[];
  readonly named?: readonly NamedArgument[];
}

/** The body of a builtin that calls back: yields calls, receives their results, returns its own. */
export type ContinuationBody = Generator<CallRequest, Value | Deferred, Value>;

/**
 * A builtin that calls functions of the program. An error of such a call is
 * thrown into the generator, which may catch it when `StarlarkError.catchable`.
 */
export class Continuation extends Deferred {
  /** The builtin's name, for tracebacks; the machine knows it. */
  name = "";
  readonly body: ContinuationBody;
  /** Values that live only in the generator, for the walk of the heap. */
  readonly roots: readonly Value[];

  constructor(body: ContinuationBody, roots: readonly Value[] = []) {
    super();
    this.body = body;
    this.roots = roots;
  }
}

/** A host function that has to wait. The thread sleeps until `result` settles. */
export class Pending extends Deferred {
  readonly result: Promise<Value>;

  constructor(result: Promise<Value>) {
    super();
    this.result = result;
  }
}

/** Several functions, each to run in a fiber of its own; the result is the list of their results. */
export class ParallelCalls extends Deferred {
  readonly calls: readonly CallRequest[];
  /** Most fibers that are under way at a time. */
  readonly width: number;

  constructor(calls: readonly CallRequest[], width: number) {
    super();
    this.calls = calls;
    this.width = width;
  }
}
