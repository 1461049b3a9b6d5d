/** A program of Node, run to its end, with what it wrote. */

import { spawn } from "node:child_process";
import { once } from "node:events";

/** The end of a command. */
export interface CommandOutcome {
  /** Null where it was ended. */
  readonly code: number | null;
  /** Standard output and standard error, as they came. */
  readonly output: string;
}

/** The settings of a command. */
interface CommandSetting {
  readonly directory: string;
  readonly timeoutMs: number;
  /** The standard input. @default none */
  readonly input?: string | undefined;
}

/** Runs Node with `words`, and ends it after `timeoutMs`. */
export async function runCommand(
  words: readonly string[],
  { directory, timeoutMs, input }: CommandSetting,
): Promise<CommandOutcome> {
  const child = spawn(process.execPath, words, {
    cwd: directory,
    stdio: ["pipe", "pipe", "pipe"],
    timeout: timeoutMs,
  });
  // A command can end without reading it.
  child.stdin.on("error", () => {}).end(input ?? "");
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}
