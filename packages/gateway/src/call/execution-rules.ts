/** Rules that hooked calls share with the execution of calls, and with the results of servers. */

import type { ExecutionRules } from "@toolcrib/hooks";
import { receivedReplacement } from "@toolcrib/upstream";
import { cancelledError, endCodes } from "./execute-call.ts";

/** A hook that replaces a result is held to what a server is held to. */
export const executionRules: ExecutionRules = {
  cancelledError,
  endCodes,
  receive(result, sender, call) {
    const { received, problem } = receivedReplacement(result, sender, call);
    if (problem !== undefined) throw new Error(problem);
    return received;
  },
};
