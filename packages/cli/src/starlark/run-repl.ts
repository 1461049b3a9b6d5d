/**
 * `toolcrib starlark repl`: runs statements and expressions from standard input. On
 * a terminal it has prompts, line editing and Ctrl-C, which cancels the running
 * code or discards the typed text. Otherwise it reads line by line until the input
 * ends.
 */

import { createInterface } from "node:readline";
import { formatDiagnostics, type Source } from "@toolcrib/diagnostics";
import { type Evaluation, ReplSession, repr, StarlarkError } from "@toolcrib/starlark";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeText } from "../output/output.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import { failureJson, failureLines } from "./failure-report.ts";
import { createLoad } from "./program-loader.ts";
import {
  type DialectName,
  dialectOf,
  type LimitFlags,
  limitsOf,
  modulesOf,
  programHost,
} from "./program-options.ts";

/** Options of the command. */
export interface ReplFlags extends LimitFlags {
  readonly dialect: DialectName;
}

const prompt = ">>> ";
const promptWithin = "... ";

/** Runs the command. */
export async function runRepl(context: CliContext, flags: ReplFlags): Promise<ExitCode> {
  const { output } = context;
  const isTerminal = context.stdin.isTTY === true && output.isTerminal && !output.isJson;
  const prompter = new Prompter(context, flags);
  if (isTerminal) output.print("Starlark. An empty line ends a block, Ctrl-D exits.");
  const lines = createInterface({
    input: context.stdin,
    ...(isTerminal ? { output: context.stdout, prompt, terminal: true } : { terminal: false }),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  const stop = () => lines.close();
  context.signal.addEventListener("abort", stop);
  context.outputClosed.addEventListener("abort", stop);
  const showPrompt = () => {
    lines.setPrompt(prompter.isWithin ? promptWithin : prompt);
    lines.prompt();
  };
  lines.on("SIGINT", () => {
    const wasRunning = prompter.isRunning;
    prompter.interrupt();
    if (wasRunning) return;
    // Also discard the current line.
    lines.write(null, { ctrl: true, name: "e" });
    lines.write(null, { ctrl: true, name: "u" });
    output.print("");
    showPrompt();
  });
  try {
    if (isTerminal) showPrompt();
    for await (const line of lines) {
      await prompter.feed(`${line}\n`);
      if (context.signal.aborted || context.outputClosed.aborted) break;
      if (isTerminal) showPrompt();
    }
    context.signal.throwIfAborted();
    await prompter.finish();
    if (isTerminal) output.print("");
    return exitCodes.done;
  } finally {
    context.signal.removeEventListener("abort", stop);
    context.outputClosed.removeEventListener("abort", stop);
    lines.close();
  }
}

/** Collects lines into complete statements and evaluates them in a session. */
class Prompter {
  readonly #context: CliContext;
  readonly #session: ReplSession;
  readonly #sources = new Map<string, Source>();
  #text = "";
  #logs: string[] = [];
  #running: AbortController | undefined = undefined;

  constructor(context: CliContext, flags: ReplFlags) {
    const { output } = context;
    const dialect = dialectOf(flags.dialect);
    const predeclared = modulesOf(flags.dialect);
    this.#context = context;
    this.#session = new ReplSession(programHost, {
      dialect,
      predeclared,
      thread: {
        limits: limitsOf(flags),
        nowNs: () => BigInt(context.now()) * 1_000_000n,
        load: createLoad(
          {
            folder: context.directory,
            folderName: "",
            dialect,
            predeclared,
            onSource: (source) => this.#sources.set(source.name, source),
          },
          undefined,
        ),
        print: (line) => {
          if (output.isJson) this.#logs.push(line);
          else output.print(output.isTerminal ? safeText(line) : line);
        },
      },
    });
  }

  /** Whether an incomplete statement waits for more lines. */
  get isWithin(): boolean {
    return this.#text !== "";
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Handles Ctrl-C: cancels the running code, or discards the typed text. */
  interrupt(): void {
    if (this.#running === undefined) this.#text = "";
    else this.#running.abort("Ctrl-C");
  }

  /** Adds a line, and runs the statement if it is complete. */
  async feed(line: string): Promise<void> {
    this.#text += line;
    if (this.#text.trim() === "") this.#text = "";
    else await this.#evaluate(true);
  }

  /** Runs the remaining text at the end of the input, complete or not. */
  async finish(): Promise<void> {
    if (this.isWithin) await this.#evaluate(false);
  }

  async #evaluate(isByLine: boolean): Promise<void> {
    const text = this.#text;
    const running = new AbortController();
    this.#running = running;
    this.#sources.set("<stdin>", { name: "<stdin>", text });
    const signal = AbortSignal.any([running.signal, this.#context.signal, this.#context.outputClosed]);
    try {
      const evaluation = await this.#session.evaluate(text, { isByLine, signal });
      if (evaluation.incomplete && isByLine) return;
      this.#text = "";
      this.#show(evaluation);
    } catch (error) {
      this.#text = "";
      if (!(error instanceof StarlarkError)) throw error;
      this.#showFailure(error);
    } finally {
      this.#running = undefined;
    }
  }

  #show({ diagnostics, value, thread }: Evaluation): void {
    const { output } = this.#context;
    const shown =
      value === undefined || value === null || thread === undefined ? undefined : repr(value, thread);
    if (diagnostics.length > 0) output.note(formatDiagnostics(diagnostics));
    if (shown !== undefined) output.print(output.isTerminal ? safeText(shown) : shown);
    output.jsonLine({
      ...(shown === undefined ? undefined : { value: shown }),
      logs: this.#takeLogs(),
      diagnostics: diagnostics.map(toJsonDiagnostic),
    });
  }

  #showFailure(error: StarlarkError): void {
    const { output } = this.#context;
    if (this.#context.signal.aborted) return;
    output.note(...failureLines(error, this.#sources));
    output.jsonLine({ error: failureJson(error), logs: this.#takeLogs() });
  }

  #takeLogs(): readonly string[] {
    const logs = this.#logs;
    this.#logs = [];
    return logs;
  }
}
