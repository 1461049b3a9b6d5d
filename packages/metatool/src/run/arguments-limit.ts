/**
 * The limit of the arguments of one inner call, which the host and the thread of the programs apply. Pure, and apart from
 * the inner calls, so that the thread does not load what only the host needs.
 */

import type { InnerReply } from "./inner-reply.ts";
import { type CallableTool, displayName } from "./tool-directory.ts";

/** The default of `InnerCallsRequest.argumentsMaxBytes`. */
export const defaultArgumentsMaxBytes = 4 * 1024 * 1024;

/** The reply to an inner call whose arguments are larger than `limit` bytes. */
export function tooLarge(tool: CallableTool, limit: number): InnerReply {
  return {
    kind: "limit",
    message: `the arguments of ${displayName(tool)} are larger than ${limit} bytes of JSON`,
    hint: "pass less with each call: split the data, or pass a reference to it",
  };
}
