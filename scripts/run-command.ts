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

/** Runs Node with `words`, and ends it after `timeoutMs`. */
export async function runCommand(
  words: readonly string[],
  { directory, timeoutMs }: { readonly directory: string; readonly timeoutMs: number },
): Promise<CommandOutcome> {
  const child = spawn(process.execPath, words, {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
}
