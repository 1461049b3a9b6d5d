/** Checks what the operator paused. Only reads. */

import { isCodedError } from "@toolcrib/diagnostics";
import type { CliContext } from "../cli-context.ts";
import { listPauses } from "../guards/open-pauses.ts";
import { pauseLine, pauseWords } from "../guards/pause.ts";
import { markUnmatched } from "../guards/unmatched-pauses.ts";
import { safeLine } from "../output/output.ts";
import { type Finding, failed, ok, warning } from "./check.ts";

/** Checks that the pauses can be read, and warns about each. */
export async function checkPauses(context: CliContext): Promise<readonly Finding[]> {
  try {
    const pauses = await markUnmatched(context, await listPauses(context));
    if (pauses.length === 0) return [ok("pauses", "nothing is paused")];
    return pauses.map((pause) =>
      warning(
        "pauses",
        pause.warning === undefined
          ? `calls are refused: ${pauseLine(pause)} is paused`
          : `a pause matches nothing: ${pauseLine(pause)} is paused, and ${safeLine(pause.warning)}`,
        `toolcrib resume ${pauseWords(pause)}`,
      ),
    );
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return [failed("pauses", `every call is refused: ${error.message}`, error.hint)];
  }
}
