/**
 * An interactive session (read-eval-print loop): each text runs immediately and can
 * use the globals of earlier texts. An error ends its text but not the session. No
 * I/O: the caller reads the texts and shows the values.
 */

import { type Diagnostic, hasErrors } from "@toolcrib/diagnostics";
import { compileFile } from "./compile/compiler.ts";
import { coreDialect, type Dialect } from "./dialect.ts";
import { methodsFor, universeFor } from "./library/environment.ts";
import { resolveFile } from "./resolve/resolver.ts";
import { callFunction } from "./run/execute.ts";
import { Thread, type ThreadHost, type ThreadOptions } from "./run/thread.ts";
import type { File, Statement } from "./syntax/ast.ts";
import { parseFile } from "./syntax/parser.ts";
import type { MethodTables } from "./value/attributes.ts";
import { FunctionValue, type ModuleState } from "./value/function-value.ts";
import type { Value } from "./value/value.ts";

/** Options of a session. */
export interface ReplOptions {
  /** The language. Loops, branches and reassignment are always allowed outside functions. @default coreDialect */
  readonly dialect?: Dialect;
  /** Names that are available to every text. @default none */
  readonly predeclared?: ReadonlyMap<string, Value>;
  /** Options of the thread of each text. The limits apply to one text. */
  readonly thread?: ThreadOptions;
  /** The name of the texts in errors. @default "<stdin>" */
  readonly name?: string;
}

/** Options for one text. */
export interface EvaluateOptions {
  /**
   * Whether the text is entered line by line, so that a block at its end continues
   * until an empty line. @default false: only an incomplete text continues
   */
  readonly isByLine?: boolean;
  /** Ends the text with a `cancelled` error. */
  readonly signal?: AbortSignal;
}

/** The result of one text. */
export interface Evaluation {
  /** The value of its last expression or of its `return`; otherwise None. Absent if the text did not run. */
  readonly value?: Value;
  /** Findings in the text. A text with errors does not run. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whether the text did not run because more lines may follow. */
  readonly incomplete: boolean;
  /** The thread that ran the text, for further use of the value. */
  readonly thread?: Thread;
}

/** An interactive session: runs texts one after the other, with globals that persist between them. */
export class ReplSession {
  readonly #host: ThreadHost;
  readonly #options: ReplOptions;
  readonly #dialect: Dialect;
  readonly #universe: ReadonlyMap<string, Value>;
  readonly #methods: MethodTables;
  readonly #values: (Value | undefined)[] = [];
  readonly #state: ModuleState = { globals: this.#values, predeclared: [], epoch: 0 };
  #names: readonly string[] = [];

  /** @param host provides the functions of each thread, in addition to `options.thread`. */
  constructor(host: ThreadHost, options: ReplOptions = {}) {
    const dialect = options.dialect ?? coreDialect;
    this.#host = host;
    this.#options = options;
    this.#dialect = {
      ...dialect,
      topLevelControl: true,
      topLevelReturn: true,
      globalReassign: true,
      loadBindsGlobally: true,
    };
    this.#universe = new Map([...universeFor(dialect), ...(options.predeclared ?? [])]);
    this.#methods = methodsFor(dialect);
  }

  /** Names of the globals that are bound, in the order of their first binding. */
  get globals(): readonly string[] {
    return this.#names.filter((_name, index) => this.#values[index] !== undefined);
  }

  /**
   * Runs one text. Calls must not overlap.
   *
   * @throws {StarlarkError} the error that ended it; globals that it bound before stay bound.
   */
  async evaluate(text: string, { isByLine = false, signal }: EvaluateOptions = {}): Promise<Evaluation> {
    const { file, diagnostics, incomplete } = this.#parse(text, isByLine);
    if (file === undefined) return { diagnostics, incomplete };
    const { value: compiled, diagnostics: size } = compileFile(file, {
      dialect: this.#dialect,
      universe: this.#universe,
      methods: this.#methods,
    });
    if (compiled === undefined) return { diagnostics: [...diagnostics, ...size], incomplete };
    this.#names = compiled.globals;
    while (this.#values.length < this.#names.length) this.#values.push(undefined);
    const options = this.#options.thread;
    const thread = new Thread(this.#host, { ...options, signal: signal ?? options?.signal });
    thread.methods = this.#methods;
    const value = await callFunction(thread, new FunctionValue(compiled.code, this.#state, [], []));
    return { value, diagnostics, incomplete, thread };
  }

  /** Parses and resolves a text; `file` is absent when the text cannot run. */
  #parse(
    text: string,
    isByLine: boolean,
  ): { readonly file?: File; readonly diagnostics: readonly Diagnostic[]; readonly incomplete: boolean } {
    const source = { name: this.#options.name ?? "<stdin>", text };
    const { value: parsed, diagnostics: syntax } = parseFile(source, this.#dialect);
    if (hasErrors(syntax)) {
      const incomplete = syntax.some(({ code }) => code === "STARLARK_UNFINISHED");
      return { diagnostics: syntax, incomplete };
    }
    if (isByLine && mayContinue(parsed)) return { diagnostics: syntax, incomplete: true };
    const file = withResult(parsed);
    const names = resolveFile(file, {
      dialect: this.#dialect,
      isPredeclared: () => false,
      isUniversal: (name) => this.#universe.has(name),
      universalNames: this.#universe.keys(),
      globals: this.#names,
    });
    const diagnostics = [...syntax, ...names];
    return hasErrors(names) ? { diagnostics, incomplete: false } : { file, diagnostics, incomplete: false };
  }
}

/** Whether the text ends in a block that is not followed by an empty line. */
function mayContinue({ statements, source }: File): boolean {
  const last = statements.at(-1);
  return last !== undefined && isCompound(last) && !/\n[ \t\r]*\n$/.test(source.text.slice(last.end));
}

function isCompound({ kind }: Statement): boolean {
  switch (kind) {
    case "DefStatement":
    case "ForStatement":
    case "IfStatement":
    case "TryStatement":
    case "WhileStatement":
      return true;
    default:
      return false;
  }
}

/** Changes the last expression of the file to a `return`. */
function withResult(file: File): File {
  const last = file.statements.at(-1);
  if (last?.kind !== "ExpressionStatement") return file;
  const { expression: value, start, end } = last;
  const result: Statement = { kind: "ReturnStatement", value, start, end };
  return { ...file, statements: [...file.statements.slice(0, -1), result] };
}
