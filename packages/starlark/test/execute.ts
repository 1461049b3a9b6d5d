/**
 * Compiles and runs one program, for the tests and the conformance runner.
 */

import { setImmediate as nextImmediate } from "node:timers/promises";
import { positionAt, type Source } from "@toolcrib/diagnostics";
import {
  compileProgram,
  type Dialect,
  executeProgram,
  type Limits,
  StarlarkError,
  type StarlarkModule,
  Thread,
  type ThreadHost,
  type Value,
} from "@toolcrib/starlark";

/** An error and the line at which it was reported. */
export interface LocatedError {
  /** 1-based; 0 if the error has no position in the source. */
  readonly line: number;
  readonly message: string;
}

/** The outcome of a program. */
export type Outcome =
  | { readonly kind: "done"; readonly module: StarlarkModule; readonly value: Value; readonly thread: Thread }
  /** The program has errors and did not run. */
  | { readonly kind: "static"; readonly errors: readonly LocatedError[] }
  /** The program failed while it ran. The line is that of the innermost call in the source itself. */
  | {
      readonly kind: "failed";
      readonly failure: LocatedError;
      readonly error: StarlarkError;
      readonly thread: Thread;
    };

/** Options for running a program. */
export interface ExecuteOptions {
  readonly dialect: Dialect;
  readonly predeclared?: ReadonlyMap<string, Value>;
  readonly limits?: Partial<Limits>;
  /** Loads the module that a `load` statement names. */
  readonly load?: (name: string) => Promise<StarlarkModule> | StarlarkModule;
  readonly print?: (line: string) => void;
  /** The time of day. @default 2026-01-02T03:04:05.678901234Z */
  readonly nowNs?: () => bigint;
}

/** The host of a thread in Node. */
export const nodeHost: ThreadHost = {
  monotonicMs: () => performance.now(),
  nextTurn: () => nextImmediate(),
  startTimer: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

const fixedNs = 1_767_323_045_678_901_234n;

/** Compiles `source` and runs it once. */
export async function execute(source: Source, options: ExecuteOptions): Promise<Outcome> {
  const { dialect, predeclared = new Map(), limits, load, print, nowNs = () => fixedNs } = options;
  const { program, diagnostics } = compileProgram(source, { dialect, predeclared: predeclared.keys() });
  if (program === undefined) {
    const errors = diagnostics
      .filter(({ severity }) => severity === "error")
      .map(({ message, span }) => ({ line: positionAt(source.text, span?.start ?? 0).lineNumber, message }));
    return { kind: "static", errors };
  }
  const thread = new Thread(nodeHost, { name: source.name, limits, nowNs, load, print });
  try {
    const { module, value } = await executeProgram(thread, program, predeclared);
    return { kind: "done", module, value, thread };
  } catch (error) {
    if (!(error instanceof StarlarkError)) throw error;
    const entry = error.stackEntries.findLast(({ file }) => file === source.name);
    return {
      kind: "failed",
      failure: { line: entry?.lineNumber ?? 0, message: error.message },
      error,
      thread,
    };
  }
}
