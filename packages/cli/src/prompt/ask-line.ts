/** Asks for a line on the terminal, shown as it is typed. */

import { createInterface } from "node:readline/promises";
import type { ProcessContext } from "../process-context.ts";

/** Whether there is somebody to ask. */
export function canAsk({ stdin }: Pick<ProcessContext, "stdin">): boolean {
  return stdin.isTTY === true;
}

/** The line that is typed, trimmed. Rejects when it is interrupted. */
export async function askLine(question: string, { stdin, stderr, signal }: ProcessContext): Promise<string> {
  const terminal = createInterface({ input: stdin, output: stderr });
  try {
    return (await terminal.question(question, { signal })).trim();
  } finally {
    terminal.close();
  }
}
