/** Prints what a verification of the audit trail, or of an export of it, found. */

import type { verifyTrail } from "@toolcrib/store";
import { type Output, safeLine } from "../output/output.ts";

/** Findings that are printed. `--json` has more. */
const shownMaxCount = 50;

type TrailReport = Awaited<ReturnType<typeof verifyTrail>>;

/** Prints up to 50 findings. */
export function printFindings(
  output: Output,
  title: "FOUND" | "ACCEPTED",
  findings: TrailReport["findings"],
): void {
  for (const { segment, line, message } of findings.slice(0, shownMaxCount)) {
    const place = segment === "" ? "" : ` ${safeLine(segment)}${line === 0 ? "" : `:${line}`}`;
    const shown = title === "FOUND" ? output.style(["bold", "red"], title) : title;
    output.print(`${shown}${place}: ${safeLine(message)}`);
  }
  if (findings.length > shownMaxCount) output.print(`… and ${findings.length - shownMaxCount} more (--json)`);
}
