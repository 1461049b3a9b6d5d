/**
 * Results that are not available yet. A builtin that calls a function of the program,
 * or that waits, cannot do so on the JavaScript stack, where the machine could not
 * suspend it. It returns a deferred result instead, and the machine continues from
 * there.
 */

import { Deferred, type NamedArgument, type Value } from "../value/value.ts";

/** A request from a continuation to the machine: call `callee` and send back its result. */
export interface CallRequest {
  readonly callee: Value;
  readonly args: readonly Value[];
  readonly named?: readonly NamedArgument[];
}

/**
 * The body of a builtin that calls functions: it yields requests, receives their
 * results, and returns its own result.
 */
export type ContinuationBody = Generator<CallRequest, Value | Deferred, Value>;

/**
 * A builtin that calls functions of the program. The machine throws the error of such
 * a call into the generator, which may catch it if `StarlarkError.catchable`.
 */
export class Continuation extends Deferred {
  /** The builtin's name, for tracebacks. The machine sets it. */
  name = "";
  readonly body: ContinuationBody;
  /** Values that only the generator refers to, for the heap walk. */
  readonly roots: readonly Value[];

  constructor(body: ContinuationBody, roots: readonly Value[] = []) {
    super();
    this.body = body;
    this.roots = roots;
  }
}

/** The result of a host function that waits. The fiber sleeps until `result` settles. */
export class Pending extends Deferred {
  readonly result: Promise<Value>;

  constructor(result: Promise<Value>) {
    super();
    this.result = result;
  }
}

/** Several functions that each run in a fiber of their own. The result is the list of their results. */
export class ParallelCalls extends Deferred {
  readonly calls: readonly CallRequest[];
  /** Maximum number of fibers that run at a time. */
  readonly width: number;

  constructor(calls: readonly CallRequest[], width: number) {
    super();
    this.calls = calls;
    this.width = width;
  }
}
