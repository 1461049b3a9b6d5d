/**
 * Programs: a source text that is compiled once and executed any number of times,
 * each time in a new thread.
 */

import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import { hasErrors } from "@toolcrib/diagnostics";
import { type CompiledFile, compileFile } from "./compile/compiler.ts";
import { coreDialect, type Dialect } from "./dialect.ts";
import { methodsFor, universeFor } from "./library/environment.ts";
import { resolveFile } from "./resolve/resolver.ts";
import { callFunction } from "./run/execute.ts";
import type { Thread } from "./run/thread.ts";
import { parseFile } from "./syntax/parser.ts";
import { freezeAll } from "./value/freeze.ts";
import { FunctionValue, type ModuleState } from "./value/function-value.ts";
import { StarlarkModule, type Value } from "./value/value.ts";

/** Options for compiling a program. */
export interface ProgramOptions {
  /** @default coreDialect */
  readonly dialect?: Dialect;
  /** Names for which the host provides values when it executes the program. @default none */
  readonly predeclared?: Iterable<string>;
}

/** A compiled program. Immutable; several threads can execute it at the same time. */
export class Program {
  readonly source: Source;
  readonly dialect: Dialect;
  readonly #compiled: CompiledFile;

  /** Use `compileProgram`. */
  constructor(source: Source, dialect: Dialect, compiled: CompiledFile) {
    this.source = source;
    this.dialect = dialect;
    this.#compiled = compiled;
  }

  /** Names of the globals that the program binds. */
  get globals(): readonly string[] {
    return this.#compiled.globals;
  }

  /** Names that the program uses and for which the host must provide values. */
  get predeclared(): readonly string[] {
    return this.#compiled.predeclared;
  }

  /** Number of instructions, closures and captured variables; at most `programLimits.codeSize`. */
  get codeSize(): number {
    return this.#compiled.size;
  }

  /** Creates a function for the top level, with globals of its own. */
  instantiate(predeclared: ReadonlyMap<string, Value>): { toplevel: FunctionValue; state: ModuleState } {
    const values = this.#compiled.predeclared.map((name) => {
      const value = predeclared.get(name);
      if (value === undefined) throw new TypeError(`the predeclared name "${name}" has no value`);
      return value;
    });
    const globals = this.#compiled.globals.map(() => undefined);
    const state: ModuleState = { globals, predeclared: values, epoch: 0 };
    return { toplevel: new FunctionValue(this.#compiled.code, state, [], []), state };
  }
}

/**
 * Compiles a source text.
 *
 * @returns all errors in the syntax and in the use of names, or an error if the code
 *   is too large; and `program`, if there are no errors.
 */
export function compileProgram(
  source: Source,
  options: ProgramOptions = {},
): { readonly program: Program | undefined; readonly diagnostics: readonly Diagnostic[] } {
  try {
    return compileSource(source, options);
  } catch (error) {
    // The limits of nesting fit the usual stack, but the caller may have used most of it.
    if (!(error instanceof RangeError)) throw error;
    return { program: undefined, diagnostics: [stackTooSmall(source)] };
  }
}

function stackTooSmall(source: Source): Diagnostic {
  return {
    severity: "error",
    code: "STARLARK_TOO_DEEP",
    message: "The program is nested too deeply for the stack of this process",
    hint: "give intermediate results a name",
    source,
    span: { start: 0, end: 0 },
  };
}

function compileSource(
  source: Source,
  options: ProgramOptions,
): { readonly program: Program | undefined; readonly diagnostics: readonly Diagnostic[] } {
  const dialect = options.dialect ?? coreDialect;
  const universe = universeFor(dialect);
  const predeclared = new Set(options.predeclared);
  const { value: file, diagnostics: syntax } = parseFile(source, dialect);
  if (hasErrors(syntax)) return { program: undefined, diagnostics: syntax };
  const names = resolveFile(file, {
    dialect,
    isPredeclared: (name) => predeclared.has(name),
    isUniversal: (name) => universe.has(name),
    predeclaredNames: [...predeclared],
    universalNames: [...universe.keys()],
  });
  const diagnostics = [...syntax, ...names];
  if (hasErrors(diagnostics)) return { program: undefined, diagnostics };
  const { value, diagnostics: size } = compileFile(file, { dialect, universe, methods: methodsFor(dialect) });
  if (value === undefined) return { program: undefined, diagnostics: [...diagnostics, ...size] };
  return { program: new Program(source, dialect, value), diagnostics };
}

/** The result of an execution. */
export interface Execution {
  /** The program's globals, frozen. */
  readonly module: StarlarkModule;
  /** The value of a `return` outside functions; otherwise `None`. */
  readonly value: Value;
}

/**
 * Executes a program from its first statement to its last.
 *
 * @param predeclared a value for each name in `program.predeclared`.
 * @throws {StarlarkError} the error that ended the program; its globals are frozen in
 *   this case too.
 * @throws {TypeError} if a predeclared name has no value.
 */
export async function executeProgram(
  thread: Thread,
  program: Program,
  predeclared: ReadonlyMap<string, Value> = new Map(),
): Promise<Execution> {
  const { toplevel, state } = program.instantiate(predeclared);
  thread.methods = methodsFor(program.dialect);
  try {
    const value = await callFunction(thread, toplevel);
    return { module: moduleOf(program, state), value };
  } finally {
    freezeAll(state.globals);
  }
}

function moduleOf(program: Program, state: ModuleState): StarlarkModule {
  const members = new Map<string, Value>();
  program.globals.forEach((name, index) => {
    const value = state.globals[index];
    if (value !== undefined) members.set(name, value);
  });
  return new StarlarkModule(program.source.name, members);
}
