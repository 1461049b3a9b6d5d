/**
 * Hooks that are commands: one process for each question. The question is its standard input, the
 * answer its standard output, and only an exit code of 0 makes the output an answer. A process that
 * writes too much or is late is ended at once, with everything that it started.
 */

import { abortable } from "@toolcrib/lifecycle";
import { type LaunchedProcess, LimitedOutput } from "@toolcrib/process";
import { HookFailure } from "./hook-failure.ts";
import type { SendToHook } from "./hooks.ts";

/**
 * Returns the function that asks a command.
 *
 * @param start starts the command; its process ends without a grace when it is stopped.
 */
export function createCommandSend(start: (signal: AbortSignal) => Promise<LaunchedProcess>): SendToHook {
  return async (question, { signal, answerMaxBytes }) => {
    const launched = await start(signal);
    const stop = (): void => void launched.stop(0);
    signal.addEventListener("abort", stop, { once: true });
    try {
      if (signal.aborted) stop();
      const output = new LimitedOutput(launched.stdout, answerMaxBytes, stop);
      // A command that does not read its question can answer all the same.
      launched.stdin.end(question);
      const { code, signal: endedBy, lastStderr } = await launched.exited;
      if (output.isTooLarge) throw tooLarge(answerMaxBytes);
      signal.throwIfAborted();
      if (code !== 0) {
        const how = endedBy === undefined ? `it exited with code ${code}` : `it was ended by ${endedBy}`;
        throw new HookFailure(how, lastStderr);
      }
      // All of its processes have ended, so that the end of the output is at hand.
      return decode(await abortable(output.ended, signal));
    } finally {
      signal.removeEventListener("abort", stop);
      launched.stdout.destroy();
    }
  };
}

export function tooLarge(maxBytes: number): HookFailure {
  return new HookFailure(`its answer is larger than ${maxBytes} bytes`);
}

/** @throws {HookFailure} for bytes that are not UTF-8, or begin with a byte order mark, which JSON does not have */
export function decode(bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new HookFailure("its answer is not valid UTF-8");
  }
  if (text.startsWith("\uFEFF")) throw new HookFailure("its answer begins with a byte order mark");
  return text;
}
