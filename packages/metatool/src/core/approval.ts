/**
 * Approval of saved tools that came to reach more than they did: nobody runs one
 * before the operator, or the human at a client, has said yes. A client cannot
 * say it for itself.
 */

import { isJsonObject } from "@toolcrib/json";
import type { CallContext } from "@toolcrib/tool";
import { MetatoolError } from "../metatool-error.ts";
import type { CompositeError } from "../run/outcome.ts";
import type { SavedTool } from "../saved/saved-tool.ts";
import type { MetatoolContext } from "./metatool.ts";
import { createAssessment, type SavedEntry, toSavedId } from "./saved-entries.ts";
import { digestCode } from "./tool-facts.ts";

/** Dependencies of an approval. */
type ApprovalContext = Pick<MetatoolContext, "saved" | "approvals" | "wholeCatalog" | "onEvent">;

/**
 * Approve the saved tool `name` as it is now, for the operator.
 *
 * @throws {MetatoolError} `METATOOL_NOT_FOUND`, and as `ApprovalStore.approve`.
 */
export async function approveSavedTool(deps: ApprovalContext, name: string): Promise<SavedTool> {
  const saved = await deps.saved.get(name);
  if (saved === undefined) throw notFound(name);
  const entry = createAssessment(deps, [])(saved);
  return entry.growth.length === 0 ? saved : grantApproval(deps, entry, undefined);
}

/** Store and record the approval of the reach of `entry`. @throws {MetatoolError} as `ApprovalStore.approve` */
export async function grantApproval(
  { approvals, onEvent }: ApprovalContext,
  { saved, reach, growth }: SavedEntry,
  context: CallContext | undefined,
): Promise<SavedTool> {
  const tool = await approvals.approve(saved, reach);
  const codeDigest = digestCode(saved.code);
  onEvent({ type: "approval.granted", tool: toSavedId(saved.name), context, codeDigest, reach: growth });
  return tool;
}

/**
 * Ask the human at the client whether `name` may reach `growth` too.
 *
 * @returns false when the client cannot be asked, too.
 */
export async function askForApproval(
  context: CallContext,
  name: string,
  growth: readonly string[],
): Promise<boolean> {
  const { session, signal } = context;
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
    // Who cannot answer has not said yes; who is gone ends the call.
    signal.throwIfAborted();
    return false;
  }
}

/** Why a tool that waits for its approval is not run. */
export function pendingError(name: string, growth: readonly string[]): CompositeError {
  return {
    type: "policy_error",
    message: `"${name}" was changed and can now ${describeGrowth(growth)}; it has to be approved before it is called`,
    details: {
      needsApproval: growth,
      hint: `the operator can approve it: toolcrib saved approve ${name}`,
    },
  };
}

/** Most ids in a sentence. */
const shownMax = 10;

/** What `growth` (see `growthOf`) allows, such as `call github:createIssue and 3 more`. */
function describeGrowth(growth: readonly string[]): string {
  const ids = growth.filter((id) => id !== "*");
  const isDynamic = ids.length < growth.length;
  const more = ids.length > shownMax ? ` and ${ids.length - shownMax} more` : "";
  const named = `call ${ids.slice(0, shownMax).join(", ")}${more}`;
  if (!isDynamic) return named;
  const any = "choose any tool while it runs";
  return ids.length === 0 ? any : `${named}, and ${any}`;
}

/** The error for a saved tool that is not there. */
export function notFound(name: string): MetatoolError {
  return new MetatoolError(
    "METATOOL_NOT_FOUND",
    `No saved tool is named ${JSON.stringify(name.slice(0, 100))}`,
  );
}
