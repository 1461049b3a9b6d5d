/**
 * Runs a program once, from its start to the end of everything that it started, within
 * the limits of its output. The program is stopped without a grace when the call ends before it.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import { abortable } from "@toolcrib/lifecycle";
import { type LaunchedProcess, LimitedOutput } from "@toolcrib/process";
import { NotStarted } from "../endpoint-runner.ts";

/** A program to start: never through a shell. */
export interface ProgramStart {
  /** A complete path, or a name that is looked up in PATH. */
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Starts a program of one package, contained as the package is, with the folder of the package as
 * its working folder.
 *
 * @throws {ProcessError} when it cannot be started; {SandboxError} when there is no sandbox.
 */
export type StartProgram = (
  start: ProgramStart,
  options: { readonly signal: AbortSignal },
) => Promise<LaunchedProcess>;

/** The end of a program. */
export interface ProgramEnd {
  readonly code: number | undefined;
  /** The signal that ended it. */
  readonly endedBy: string | undefined;
  readonly stdout: Buffer;
  readonly isTooLarge: boolean;
  /** The line of standard error that says most. */
  readonly lastStderr: string | undefined;
  /** The last lines of standard error. */
  readonly stderrLines: readonly string[];
}

/** Errors of a launch after which another program can be tried. */
const launchFailures: ReadonlySet<string> = new Set([
  "PROCESS_COMMAND_NOT_FOUND",
  "PROCESS_COMMAND_NOT_EXECUTABLE",
  "PROCESS_SPAWN_FAILED",
]);

/** Lines of standard error that are kept for an error. */
const stderrKeptLines = 50;

/**
 * Runs a program to its end.
 *
 * @param input its standard input; undefined closes it at once
 * @throws {NotStarted} when the program could not be started; the reason of `signal`.
 */
export async function runProgram(
  start: StartProgram,
  program: ProgramStart,
  {
    input,
    signal,
    outputMaxBytes,
  }: {
    readonly input?: string | undefined;
    readonly signal: AbortSignal;
    /** Most bytes of standard output. */
    readonly outputMaxBytes: number;
  },
): Promise<ProgramEnd> {
  const launched = await start(program, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    if (!isCodedError(error) || !launchFailures.has(error.code)) throw error;
    throw new NotStarted(error.message, { hint: error.hint, cause: error });
  });
  const stop = (): void => void launched.stop(0);
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (signal.aborted) stop();
    const output = new LimitedOutput(launched.stdout, outputMaxBytes, stop);
    // A program that does not read its input can answer all the same.
    launched.stdin.end(input ?? "");
    const { code, signal: endedBy, lastStderr } = await launched.exited;
    signal.throwIfAborted();
    // All of its processes have ended, so that the end of the output is at hand.
    const stdout = await abortable(output.ended, signal);
    return {
      code,
      endedBy,
      stdout,
      isTooLarge: output.isTooLarge,
      lastStderr,
      stderrLines: launched.stderr.tail(stderrKeptLines),
    };
  } finally {
    signal.removeEventListener("abort", stop);
    launched.stdout.destroy();
  }
}
