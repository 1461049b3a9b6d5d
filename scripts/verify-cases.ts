/** The cases of a step of `npm run verify`: each is counted, and printed as it ends. */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** The numbers of cases of this process that passed and failed. */
export const counts = { passed: 0, failed: 0 };

/** Runs a case, and prints how it ended. Never rejects. */
export async function check(title: string, work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
    counts.passed += 1;
    console.log(`ok ${title}`);
  } catch (error) {
    counts.failed += 1;
    console.log(`FAILED ${title}\n${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Ends a process by SIGTERM, and waits until it has ended. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}
