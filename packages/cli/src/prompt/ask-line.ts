/** Asks for a line on the terminal. */

import { createInterface } from "node:readline/promises";
import { CliError } from "../cli-error.ts";
import type { ProcessContext } from "../process-context.ts";

/** Whether standard input is a terminal, so that the command can ask. */
export function canAsk({ stdin }: Pick<ProcessContext, "stdin">): boolean {
  return stdin.isTTY === true;
}

/**
 * Returns the typed line, trimmed. Rejects with the reason of the signal when it aborts, as for Ctrl-C.
 *
 * @throws {CliError} `CLI_INTERRUPTED` for Ctrl-D
 */
export async function askLine(question: string, { stdin, stderr, signal }: ProcessContext): Promise<string> {
  signal.throwIfAborted();
  // The system edits the line, and Ctrl-C stays a signal.
  const terminal = createInterface({ input: stdin, output: stderr, terminal: false });
  // A question whose input ends is never answered.
  const ended = new AbortController();
  terminal.once("close", () => ended.abort());
  try {
    return (await terminal.question(question, { signal: AbortSignal.any([signal, ended.signal]) })).trim();
  } catch (error) {
    // The interface rejects with an error of its own, which says nothing about the reason.
    signal.throwIfAborted();
    if (!ended.signal.aborted) throw error;
    stderr.write("\n");
    throw new CliError("CLI_INTERRUPTED", "The input ended before an answer");
  } finally {
    terminal.close();
  }
}
