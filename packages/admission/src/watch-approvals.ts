/** Looks for approvals that other processes of the home store. */

import type { Approvals } from "./approvals.ts";

/** Milliseconds between two polls for definitions that other processes of the home approved. */
const approvalsPollMs = 1000;

/** Takes over definitions that other processes approve. It reads the home only while something waits. @returns ends it */
export function watchApprovals(approvals: Pick<Approvals, "refresh">): () => Promise<void> {
  let reading = Promise.resolve();
  const timer = setInterval(() => {
    reading = reading.then(() => approvals.refresh());
  }, approvalsPollMs).unref();
  return () => {
    clearInterval(timer);
    return reading;
  };
}
