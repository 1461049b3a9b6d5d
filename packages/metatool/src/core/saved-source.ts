/** The saved tools as a source: listed as soon as they are saved, and run with the permissions that `SavedRunner` gives them. */

import type { ApprovalStore } from "@toolcrib/store";
import type { Health, ToolSource } from "@toolcrib/tool";
import { savedSourceId } from "./saved-entries.ts";
import type { SavedListing } from "./saved-listing.ts";
import type { SavedRunner } from "./saved-runner.ts";

/** Milliseconds that the gateway waits beyond the limit of the program, so that the error of the program arrives. */
const deadlineMarginMs = 5000;
/** Milliseconds that a human has to approve a tool. @limit program */
const approvalMs = 600_000;

/** Creates the source. @param timeoutMs longest execution */
export function createSavedSource(
  listing: SavedListing,
  runner: SavedRunner,
  approvals: Pick<ApprovalStore, "refresh">,
  { timeoutMs, since }: { readonly timeoutMs: number; readonly since: number },
): ToolSource {
  const health: Health = { state: "ready", since };
  return {
    id: savedSourceId,
    origin: "saved",
    checksArguments: true,
    deadlineMs({ definition }) {
      const isPending = definition._meta?.["toolcrib/needsApproval"] === true;
      return timeoutMs + deadlineMarginMs + (isPending ? approvalMs : 0);
    },
    start: async () => {},
    tools: () => listing.tools(),
    refresh: () => approvals.refresh(),
    onChange: (listener) => listing.onChange(listener),
    health: () => health,
    call: ({ definition }, args, context) => runner.execute(definition.name, args, context),
    async [Symbol.asyncDispose]() {},
  };
}
