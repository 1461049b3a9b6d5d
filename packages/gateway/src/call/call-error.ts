/** The error that a caller sees of any failure of a call. */

import { scrubCause, scrubError } from "@toolcrib/admission";
import { type CodedError, isCodedError, messageOf } from "@toolcrib/diagnostics";
import { GatewayError } from "../gateway-error.ts";
import type { BegunCall } from "./call-log.ts";
import type { CallTarget } from "./call-target.ts";
import { type ScrubberDeps, scrubberFor } from "./execute-call.ts";
import { errorLabelled } from "./origin-label.ts";

/** Converts any failure to the coded error that callers see. */
export function toCallError(
  deps: ScrubberDeps,
  target: CallTarget,
  call: BegunCall,
  thrown: unknown,
): CodedError {
  const scrubber = scrubberFor(deps, target);
  if (isCodedError(thrown)) {
    const error = scrubError(scrubber, thrown);
    return target.isUnverified && target.label !== undefined ? errorLabelled(error, target.label) : error;
  }
  const text = `"${target.shownName}" failed: ${messageOf(thrown)} (call ${call.subject.callId})`;
  return new GatewayError("CALL_FAILED", scrubber.text(text), { cause: scrubCause(scrubber, thrown) });
}
