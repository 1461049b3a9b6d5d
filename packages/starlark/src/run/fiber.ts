/**
 * Fibers: the strands of one thread. There is one to begin with; `parallel` makes
 * one for each of its functions. They share the thread's budgets and run one at a
 * time, each until it waits, ends or gives way.
 */

import type { Value } from "../value/value.ts";
import type { Frame } from "./frame.ts";
import type { StarlarkError } from "./starlark-error.ts";

/** What a fiber came to. */
export type Outcome =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "error"; readonly error: StarlarkError };

export class Fiber {
  /** The innermost frame. */
  frame: Frame | undefined;
  depth: number;
  /** Lines of `print`, held back until the fibers before it have written theirs. */
  readonly output: string[] | undefined;
  /** What it goes on with once it waited: delivered to the innermost frame. */
  delivery: Outcome | undefined = undefined;
  outcome: Outcome | undefined = undefined;
  /** Called when it ended. */
  readonly onEnd: ((fiber: Fiber) => void) | undefined;

  constructor(frame: Frame | undefined, depth: number, output?: string[], onEnd?: (fiber: Fiber) => void) {
    this.frame = frame;
    this.depth = depth;
    this.output = output;
    this.onEnd = onEnd;
  }
}
