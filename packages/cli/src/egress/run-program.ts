/**
 * A program as this command's child: it has the terminal, gets the signals, and
 * its exit code becomes that of the command. It is never left behind: a command
 * that ends takes it along.
 */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { messageOf } from "@toolcrib/diagnostics";
import { startForeground } from "@toolcrib/process";
import { CliError } from "../cli-error.ts";
import type { ProcessContext } from "../process-context.ts";
import type { Environment } from "./program-env.ts";

/** What is run. */
export interface ProgramRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Environment;
}

/**
 * Run a program to its end.
 *
 * @returns its exit code, or 128 and the number of the signal that ended it, as shells have it.
 * @throws {CliError} `CLI_PROGRAM_UNUSABLE`
 */
export async function runProgram(
  { command, args, env }: ProgramRun,
  context: ProcessContext,
): Promise<number> {
  const child = startForeground({ program: command, args, env, directory: context.directory });
  // A terminal signals everybody in front of it: the program has had its Ctrl-C then.
  using _holding = context.interceptSignals((signal) => {
    if (signal !== "SIGINT" || context.stdin.isTTY !== true) child.kill(signal);
  });
  try {
    return await ended(child);
  } catch (error) {
    throw new CliError("CLI_PROGRAM_UNUSABLE", `Cannot run "${command}": ${messageOf(error)}`, {
      hint: "write the program and its arguments behind --",
      cause: error,
    });
  } finally {
    child.kill("SIGKILL");
  }
}

/** Rejects for a program that cannot be started. */
async function ended(child: ChildProcess): Promise<number> {
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
