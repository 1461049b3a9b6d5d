/** The call of the tests of decisions. */

import type { CallFacts, PolicyRequest, PolicyTarget } from "@toolcrib/policy";
import { localIdentity } from "@toolcrib/tool";

/** When it is made: 2026-03-04 05:06 UTC, a Wednesday. */
export const now = Date.UTC(2026, 2, 4, 5, 6);

/** Returns a call by the client "ci" of the tool `read` of a server. @param target, call what is different about it */
export function callOf(target: Partial<PolicyTarget> = {}, call: Partial<CallFacts> = {}): PolicyRequest {
  return {
    identity: localIdentity("token", "ci"),
    action: "call",
    target: {
      ...{ kind: "tool", id: "files:read", name: "read", wireName: "files__read", origin: "server" },
      version: "",
      server: {
        ...{ id: "files", transport: "stdio", trustState: "verified", mutabilityClass: "unknown" },
        labels: {},
      },
      ...{ tags: [], isReadOnly: false, isDestructive: true, isIdempotent: false, isOpenWorld: true },
      ...target,
    },
    call: {
      ...{ args: {}, depth: 0, parentTool: "", era: "modern", now, labels: [], seenLabels: [] },
      ...call,
    },
  };
}
