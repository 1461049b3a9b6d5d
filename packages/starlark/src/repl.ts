/**
 * Programs that are given bit by bit, as at a prompt: each text runs at once, and
 * finds the globals of those before it. An error ends its text and nothing else.
 * No I/O: the caller reads the texts and shows the values.
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
import { FunctionValue, type ModuleState } from "./value/function-value.ts";
import type { Value } from "./value/value.ts";

/** How a session behaves. */
export interface ReplOptions {
  /** @default coreDialect; either way, what stands outside functions may loop, branch, and bind a name again */
  readonly dialect?: Dialect;
  /** Names that every text finds. @default none */
  readonly predeclared?: ReadonlyMap<string, Value>;
  /** What each text runs with; the limits are for one text. */
  readonly thread?: ThreadOptions;
  /** What the texts are called in errors. @default "<stdin>" */
  readonly name?: string;
}

/** How one text is run. */
export interface EvaluateOptions {
  /**
   * Whether the text comes line by line, so that a block at its end goes on until
   * an empty line. @default false: only what cannot be run yet goes on
   */
  readonly isByLine?: boolean;
  /** Ends the text with a `cancelled` error. */
  readonly signal?: AbortSignal;
}

/** What came of one text. */
export interface Evaluation {
  /** The value of the expression at its end, or of its `return`; None without one. Absent when it was not run. */
  readonly value?: Value;
  /** What is wrong with it; when there are errors it was not run. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whether it was not run because more lines may follow. */
  readonly incomplete: boolean;
  /** The thread that it was run by, for what is done with the value. */
  readonly thread?: Thread;
}

/** Globals that last, and a way to run texts with them. */
export interface ReplSession {
  /** Names of the globals that were bound so far, in order. */
  readonly globals: readonly string[];
  /**
   * Run a text. One at a time.
   *
   * @throws {StarlarkError} whatever ended it; what it bound before stays bound.
   */
  evaluate(text: string, options?: EvaluateOptions): Promise<Evaluation>;
}

/** Begin a session; `host` and `options.thread` are what each text gets its thread from. */
export function createReplSession(host: ThreadHost, options: ReplOptions = {}): ReplSession {
  const given = options.dialect ?? coreDialect;
  const dialect: Dialect = {
    ...given,
    topLevelControl: true,
    topLevelReturn: true,
    globalReassign: true,
    loadBindsGlobally: true,
  };
  const universe = new Map([...universeFor(given), ...(options.predeclared ?? [])]);
  const methods = methodsFor(given);
  const globals: (Value | undefined)[] = [];
  const state: ModuleState = { globals, predeclared: [], epoch: 0 };
  let names: readonly string[] = [];

  return {
    get globals() {
      return names.filter((_name, index) => globals[index] !== undefined);
    },

    async evaluate(text, { isByLine = false, signal } = {}) {
      const source = { name: options.name ?? "<stdin>", text };
      const { value: parsed, diagnostics: syntax } = parseFile(source, dialect);
      if (hasErrors(syntax)) {
        const incomplete = syntax.some(({ code }) => code === "STARLARK_UNFINISHED");
        return { diagnostics: syntax, incomplete };
      }
      if (isByLine && mayGoOn(parsed)) return { diagnostics: syntax, incomplete: true };
      const file = withResult(parsed);
      const found = resolveFile(file, {
        dialect,
        isPredeclared: () => false,
        isUniversal: (name) => universe.has(name),
        universalNames: universe.keys(),
        globals: names,
      });
      const diagnostics = [...syntax, ...found];
      if (hasErrors(found)) return { diagnostics, incomplete: false };
      const { value: compiled, diagnostics: size } = compileFile(file, { dialect, universe, methods });
      if (compiled === undefined) return { diagnostics: [...diagnostics, ...size], incomplete: false };
      const { code, globals: bound } = compiled;
      names = bound;
      while (globals.length < names.length) globals.push(undefined);
      const thread = new Thread(host, { ...options.thread, signal: signal ?? options.thread?.signal });
      thread.methods = methods;
      const value = await callFunction(thread, new FunctionValue(code, state, [], []));
      return { value, diagnostics, incomplete: false, thread };
    },
  };
}

/** Whether the text ends in a block, and not in an empty line. */
function mayGoOn({ statements, source }: File): boolean {
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

/** The file, returning the value of the expression at its end. */
function withResult(file: File): File {
  const last = file.statements.at(-1);
  if (last?.kind !== "ExpressionStatement") return file;
  const { expression: value, start, end } = last;
  const result: Statement = { kind: "ReturnStatement", value, start, end };
  return { ...file, statements: [...file.statements.slice(0, -1), result] };
}
