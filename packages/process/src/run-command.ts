/**
 * Runs a short command of the operating system to its end and captures its
 * output, within limits of time and size. For fixed programs of the platform,
 * such as the one of its keychain; never for a program from a configuration.
 */

import { execFile } from "node:child_process";
import type { SpawnRequest } from "./spawn-child.ts";

/** Limits of one command. */
export interface CommandLimits {
  /** Milliseconds until the command is killed. */
  readonly timeoutMs: number;
  /** Bytes of each output stream; a command that writes more is killed. */
  readonly outputMaxBytes: number;
}

/** The end of a command. */
export interface CommandResult {
  /** Exit code, or the name of the error or signal that ended the command (`ENOENT`, `SIGTERM`). */
  readonly code: number | string;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs a command with a closed standard input. Never rejects. */
export function runCommand(
  { program, args, env, directory }: SpawnRequest,
  { timeoutMs, outputMaxBytes }: CommandLimits,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const options = {
      cwd: directory,
      env: { ...env },
      encoding: "buffer",
      timeout: timeoutMs,
      maxBuffer: outputMaxBytes,
      windowsHide: true,
    } as const;
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : (error.code ?? error.signal ?? "no exit code");
      resolve({ code, stdout, stderr: stderr.toString("utf8") });
    });
    child.stdin?.end();
  });
}
