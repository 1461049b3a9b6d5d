/**
 * Runs a short command of the operating system to its end and captures its
 * output, within limits of time and size. For fixed programs of the platform,
 * such as the one of its keychain; never for a program from a configuration.
 */

import type { Readable } from "node:stream";
import { type SpawnRequest, spawnChild } from "./spawn-child.ts";

/** Limits of one command. */
export interface CommandLimits {
  /** Milliseconds until the command is killed. */
  readonly timeoutMs: number;
  /** Bytes of each output stream; a command that writes more is killed. */
  readonly outputMaxBytes: number;
}

/** The end of a command. */
export interface CommandResult {
  /** Exit code, or the name of the error or signal that ended the command (`ENOENT`, `SIGTERM`); `ETIMEDOUT` after `timeoutMs`. */
  readonly code: number | string;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Milliseconds until a command that ignores SIGTERM is killed. */
const killDelayMs = 1_000;

/** Runs a command with a closed standard input. Never rejects. */
export function runCommand(
  request: SpawnRequest,
  { timeoutMs, outputMaxBytes }: CommandLimits,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const output: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] };
    const end = (code: number | string): void => {
      clearTimeout(timer);
      clearTimeout(killing);
      const stdout = Buffer.concat(output.stdout);
      resolve({ code, stdout, stderr: Buffer.concat(output.stderr).toString("utf8") });
    };
    let child: ReturnType<typeof spawnChild>;
    let failure: string | undefined;
    let killing: NodeJS.Timeout | undefined;
    const stop = (reason: string): void => {
      failure ??= reason;
      child.kill();
      killing ??= setTimeout(() => child.kill("SIGKILL"), killDelayMs);
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const timer = setTimeout(() => stop("ETIMEDOUT"), timeoutMs);
    try {
      child = spawnChild(request, { stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    } catch (error) {
      end((error as NodeJS.ErrnoException).code ?? "no exit code");
      return;
    }
    child.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? "no exit code"));
    child.once("close", (code, signal) => end(failure ?? code ?? signal ?? "no exit code"));
    for (const [stream, chunks] of [
      [child.stdout, output.stdout],
      [child.stderr, output.stderr],
    ] as const) {
      collect(stream, chunks, outputMaxBytes, () => stop("ERR_CHILD_PROCESS_STDIO_MAXBUFFER"));
    }
    // A command that ends before its input is closed is no error.
    child.stdin?.on("error", () => {});
    child.stdin?.end();
  });
}

function collect(stream: Readable | null, chunks: Buffer[], maxBytes: number, onTooLong: () => void): void {
  let bytes = 0;
  stream?.on("data", (chunk: Buffer) => {
    const kept = chunk.subarray(0, maxBytes - bytes);
    bytes += kept.length;
    if (kept.length > 0) chunks.push(kept);
    if (kept.length < chunk.length) onTooLong();
  });
}
