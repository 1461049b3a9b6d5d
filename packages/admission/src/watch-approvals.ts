/** Looks for approvals that other processes of the home store. */

import type { Approvals } from "./approvals.ts";
import { poll } from "./poll.ts";

/** Milliseconds between two polls for definitions that other processes of the home approved. */
const approvalsPollMs = 1000;

/** Takes over definitions that other processes approve. It reads the home only while something waits. @returns ends it */
export function watchApprovals(approvals: Pick<Approvals, "refresh">): () => Promise<void> {
  return poll(approvalsPollMs, () => approvals.refresh());
}
