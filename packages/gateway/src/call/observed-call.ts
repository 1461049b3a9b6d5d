/** Reports to search which calls of clients succeeded, because they can be those that a search led to. */

import type { SearchLearning } from "@toolcrib/learning";
import { isInputRequired } from "@toolcrib/tool";
import type { CallOutcome } from "../gateway.ts";
import type { CallOrigin, CallTarget } from "./call-target.ts";

/** Returns `outcome`, and reports it if the client itself chose the call of a tool and it succeeded. */
export async function observedCall(
  learning: Pick<SearchLearning, "called">,
  outcome: Promise<CallOutcome>,
  { id, isOwn, method }: CallTarget,
  origin: CallOrigin,
): Promise<CallOutcome> {
  const ended = await outcome;
  const isTool = origin.isDirect && !isOwn && method === "tools/call";
  const hasSucceeded =
    ended.kind === "result" && ended.result.isError !== true && !isInputRequired(ended.result);
  if (isTool && hasSucceeded) learning.called(origin, id);
  return ended;
}
