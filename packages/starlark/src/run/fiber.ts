/**
 * Fibers of a thread. A thread starts with one fiber; `parallel` adds one for each of
 * its functions. Fibers share the limits of the thread and run one at a time, each
 * until it waits, ends or yields.
 */

import type { Value } from "../value/value.ts";
import type { Frame } from "./frame.ts";
import type { StarlarkError } from "./starlark-error.ts";

/** The result of a fiber. */
export type Outcome =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "error"; readonly error: StarlarkError };

export class Fiber {
  /** The innermost frame. */
  frame: Frame | undefined;
  depth: number;
  /** Lines of `print`, held back until the fibers before it have written theirs. */
  readonly output: string[] | undefined;
  /** The result that the fiber waited for, delivered to its innermost frame when it resumes. */
  delivery: Outcome | undefined = undefined;
  outcome: Outcome | undefined = undefined;
  /** Called when the fiber ends. */
  readonly onEnd: ((fiber: Fiber) => void) | undefined;

  constructor(frame: Frame | undefined, depth: number, output?: string[], onEnd?: (fiber: Fiber) => void) {
    this.frame = frame;
    this.depth = depth;
    this.output = output;
    this.onEnd = onEnd;
  }
}
