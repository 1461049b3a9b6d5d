/**
 * Approval of saved tools whose reach grew: such a tool does not run before the
 * operator, or the human at a client, approves it. A client cannot approve it by
 * itself.
 */

import { isJsonObject } from "@toolcrib/json";
import type { SavedTool } from "@toolcrib/store";
import { type CallContext, isOperator } from "@toolcrib/tool";
import { MetatoolError } from "../metatool-error.ts";
import type { CompositeError } from "../run/outcome.ts";
import { approveReach } from "./approved-reach.ts";
import type { MetatoolDeps } from "./metatool.ts";
import { ownerOf } from "./ownership.ts";
import { type SavedEntry, toSavedId } from "./saved-entries.ts";
import { digestCode } from "./tool-facts.ts";

/** Dependencies of an approval. */
type ApprovalContext = Pick<MetatoolDeps, "saved" | "approvals" | "now" | "onEvent">;

/** Stores and records the approval of the reach of `entry`. @throws as `approveReach` */
export async function grantApproval(
  deps: ApprovalContext,
  { saved, reach, growth }: SavedEntry,
  context: CallContext,
): Promise<SavedTool> {
  const { issuer, subject } = context.identity;
  const isByOperator = isOperator(context.identity);
  const tool = await approveReach(deps, saved, reach, { issuer, subject }, { isByOperator });
  const codeDigest = digestCode(saved.code);
  deps.onEvent({
    type: "approval.granted",
    tool: toSavedId(saved.name),
    context,
    owner: ownerOf(saved.toolcrib),
    codeDigest,
    reach: growth,
  });
  return tool;
}

/**
 * Asks the human at the client whether `name` may call `growth`, too.
 *
 * @returns `false` also when the client does not support elicitation.
 */
export async function askForApproval(
  context: CallContext,
  name: string,
  growth: readonly string[],
): Promise<boolean> {
  const { session, signal } = context;
  // Only the operator approves a reach with names that are computed at run time.
  if (growth.includes("*")) return false;
  if (session === undefined || !isJsonObject(session.capabilities["elicitation"])) return false;
  const params = {
    message: `The saved tool "${name}" was changed and can now ${describeGrowth(growth)}. Approve it?`,
    requestedSchema: {
      type: "object",
      properties: {
        approve: {
          type: "boolean",
          title: "Approve",
          description: `Let "${name}" be called as it is now`,
          default: false,
        },
      },
      required: ["approve"],
    },
  };
  try {
    const { action, content } = await context.ask("elicitation/create", params, signal);
    return action === "accept" && isJsonObject(content) && content["approve"] === true;
  } catch {
    // A failed request is no approval. A cancelled call ends here.
    signal.throwIfAborted();
    return false;
  }
}

/** Returns the error for a call of a tool that is not approved. */
export function pendingError(
  { homeFlag = "" }: Pick<MetatoolDeps, "homeFlag">,
  name: string,
  growth: readonly string[],
): CompositeError {
  return {
    type: "policy_error",
    message: `"${name}" was changed and can now ${describeGrowth(growth)}; it must be approved before it is called`,
    details: {
      needsApproval: growth,
      hint: `the operator can approve it: toolcrib${homeFlag} saved approve ${name}`,
    },
  };
}

/** Maximum number of ids in a message. */
const shownMax = 10;

/** Describes `growth` (see `growthOf`), such as `call github:createIssue and 3 more`. */
function describeGrowth(growth: readonly string[]): string {
  const ids = growth.filter((id) => id !== "*");
  const isDynamic = ids.length < growth.length;
  const more = ids.length > shownMax ? ` and ${ids.length - shownMax} more` : "";
  const named = `call ${ids.slice(0, shownMax).join(", ")}${more}`;
  if (!isDynamic) return named;
  const any = "choose any tool at run time";
  return ids.length === 0 ? any : `${named}, and ${any}`;
}

/** Returns the error for an unknown saved tool. */
export function notFound(name: string): MetatoolError {
  return new MetatoolError(
    "METATOOL_NOT_FOUND",
    `No saved tool is named ${JSON.stringify(name.slice(0, 100))}`,
  );
}
