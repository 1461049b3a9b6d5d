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
import type { MetatoolDeps } from "./metatool.ts";
import { createAssessment, type SavedEntry, toSavedId } from "./saved-entries.ts";
import { digestCode, withKeptReach } from "./tool-facts.ts";

/** What approving takes. */
export type ApprovalDeps = Pick<MetatoolDeps, "saved" | "wholeCatalog" | "onEvent">;

/**
 * Let `name` be called as it is now.
 *
 * @throws {MetatoolError} `METATOOL_NOT_FOUND`, and as `SavedTools.save`.
 */
export async function approveSavedTool(deps: ApprovalDeps, name: string): Promise<SavedTool> {
  const saved = await deps.saved.get(name);
  if (saved === undefined) throw notFound(name);
  const entry = createAssessment(deps.wholeCatalog(), [])(saved);
  return entry.growth.length === 0 ? saved : grantApproval(deps, entry, undefined);
}

/** Put the approval of what `entry` reaches on file and on record. @throws {MetatoolError} as `SavedTools.save` */
export async function grantApproval(
  deps: ApprovalDeps,
  { saved, reach, growth }: SavedEntry,
  context: CallContext | undefined,
): Promise<SavedTool> {
  const { metadata, ...definition } = saved;
  const codeDigest = digestCode(saved.code);
  const kept = { codeDigest, reach, approved: reach };
  const { tool } = await deps.saved.save(
    { ...definition, toolcrib: withKeptReach(definition.toolcrib, kept) },
    { expectedModified: metadata.modified },
  );
  deps.onEvent({ type: "approval.granted", tool: toSavedId(saved.name), context, codeDigest, reach: growth });
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
