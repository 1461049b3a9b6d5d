/** Prints what a verification of the audit trail, or of an export of it, found. */

import type { verifyTrail } from "@toolcrib/store";
import { type Output, safeLine } from "../output/output.ts";

/** Findings that are printed. `--json` has more. */
const shownMaxCount = 50;

type TrailReport = Awaited<ReturnType<typeof verifyTrail>>;
type ShownFinding = TrailReport["findings"][number] & Partial<TrailReport["accepted"][number]>;

/** Prints up to 50 findings; of those that were accepted earlier, when and why. */
export function printFindings(
  output: Output,
  title: "FOUND" | "ACCEPTED",
  findings: readonly ShownFinding[],
): void {
  for (const { segment, line, message, reason, time } of findings.slice(0, shownMaxCount)) {
    const place = segment === "" ? "" : ` ${safeLine(segment)}${line === 0 ? "" : `:${line}`}`;
    const shown = title === "FOUND" ? output.style(["bold", "red"], title) : title;
    output.prose(`${shown}${place}: ${safeLine(message)}`);
    if (reason !== undefined) output.prose(`  ${safeLine(`accepted at ${time}: ${reason}`)}`);
  }
  if (findings.length > shownMaxCount) output.print(`… and ${findings.length - shownMaxCount} more (--json)`);
}
