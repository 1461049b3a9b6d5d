/**
 * Runs a program as a child of this command, with its terminal. Forwards signals,
 * and returns the program's exit code. The program never outlives the command.
 */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { messageOf } from "@toolcrib/diagnostics";
import { type ContainedRequest, startForeground } from "@toolcrib/process";
import { CliError } from "../cli-error.ts";
import type { ProcessContext } from "../process-context.ts";
import type { Environment } from "./program-env.ts";

/** A program to run. */
export interface ProgramRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Environment;
  /** @default the folder of this command */
  readonly directory?: string | undefined;
  /** Descriptors of this command that the program gets as 3, 4 and so on. @default none */
  readonly descriptors?: readonly number[] | undefined;
  /** Takes each listener that the program hands over before it begins. @default it has no channel */
  readonly takeListener?: ContainedRequest["takeListener"] | undefined;
}

/**
 * Runs a program until it exits.
 *
 * @returns its exit code, or 128 plus the number of the signal that ended it, as shells do.
 * @throws {CliError} `CLI_PROGRAM_UNUSABLE`
 */
export async function runProgram(
  { command, args, env, directory, descriptors = [], takeListener }: ProgramRun,
  context: ProcessContext,
): Promise<number> {
  const child = startForeground(
    { program: command, args, env, directory: directory ?? context.directory, descriptors },
    { wrap: context.wrap, takeListener },
  );
  // A terminal sends Ctrl-C to all foreground processes, so the program has received it already.
  using _holding = context.interceptSignals((signal) => {
    if (signal !== "SIGINT" || context.stdin.isTTY !== true) child.kill(signal);
  });
  try {
    return await ended(child);
  } catch (error) {
    throw new CliError("CLI_PROGRAM_UNUSABLE", `Cannot run "${command}": ${messageOf(error)}`, {
      hint: "write the program and its arguments after --",
      cause: error,
    });
  } finally {
    child.kill("SIGKILL");
  }
}

/** Waits for the exit. Rejects if the program cannot be started. */
async function ended(child: ChildProcess): Promise<number> {
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
