/** The error of a call that finds no place among the calls in flight. */

import type { ShareRefusal } from "@toolcrib/lifecycle";
import { GatewayError } from "../gateway-error.ts";

/** Returns the error for `refusal`. @param maxConcurrentCalls the limit of all clients together */
export function refusedCall(refusal: ShareRefusal, maxConcurrentCalls: number): GatewayError {
  if (refusal === "share") {
    const text = `This client has used up its share of the ${maxConcurrentCalls} calls in flight`;
    return new GatewayError("CALLS_SHARE_EXCEEDED", text, {
      hint: "wait for answers before sending more, or raise serve.limits.max_concurrent_calls",
    });
  }
  return new GatewayError("CALLS_OVERLOADED", `More than ${maxConcurrentCalls} calls are in flight`, {
    hint: "try again after other calls have ended, or raise serve.limits.max_concurrent_calls",
  });
}
