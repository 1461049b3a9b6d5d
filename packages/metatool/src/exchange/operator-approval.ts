/**
 * The approval state of a saved tool by its file, and the approval by the operator.
 * Needs neither the tools that it calls nor a gateway.
 */

import type { ApprovalStore, Approver, SavedTool } from "@toolcrib/store";
import { type Identity, localIdentity } from "@toolcrib/tool";
import { type ApprovalDeps, approvedReachOf, approveReach } from "../core/approved-reach.ts";
import { isDefinitionApproved, ownerOf } from "../core/ownership.ts";
import { digestCode, growthOf, keptReachOf, namesOf } from "../core/tool-facts.ts";
import { MetatoolError } from "../metatool-error.ts";

/** The identity of the operator in approvals. */
const operator: Approver = { issuer: localIdentity("cli", "operator").issuer, subject: "operator" };

/** The reach and approval of a tool, from its file. */
export interface StoredStanding {
  /** Ids that its program can call, `*` when it chooses them at run time; absent when the program was not analysed yet. */
  readonly reach: readonly string[] | undefined;
  /** Whether it must be approved before it is called. */
  readonly needsApproval: boolean;
  /** The client that saved it; absent for a tool of the operator. */
  readonly owner: Identity | undefined;
  /** Whether it runs with the permissions of its caller alone. Otherwise it also needs those of its owner. */
  readonly isApproved: boolean;
  /** Digest of its program, such as `sha256:…`. */
  readonly codeDigest: string;
}

/** Returns the approval state of `tool`, by its file and `approvals`. */
export function storedStanding(tool: SavedTool, approvals: Pick<ApprovalStore, "current">): StoredStanding {
  const { code, toolcrib } = tool;
  const { codeDigest, reach } = keptReachOf(toolcrib);
  const approved = approvedReachOf(tool, approvals);
  const digest = digestCode(code);
  const known = codeDigest === digest ? reach : undefined;
  const isCovered = known !== undefined && growthOf(known, approved).length === 0;
  return {
    reach: known === undefined ? undefined : namesOf(known),
    needsApproval: approved !== undefined && !isCovered,
    owner: ownerOf(toolcrib),
    isApproved: isDefinitionApproved(tool, approvals),
    codeDigest: digest,
  };
}

/**
 * Approves a tool as it is now. For a program that was not analysed yet, its whole
 * reach is approved.
 *
 * @param options.expectedModified the `metadata.modified` of the version that the operator read; another version is
 *   not approved. @default the current version is approved
 * @returns the tool, and its state before the approval.
 * @throws {MetatoolError} `METATOOL_NOT_FOUND`, and as `SavedToolStore.save`; `METATOOL_CHANGED_MEANWHILE` when the tool
 *   was changed meanwhile; {StoreError} as `ApprovalStore.put`.
 */
export async function approveStoredTool(
  deps: ApprovalDeps,
  name: string,
  { expectedModified }: { readonly expectedModified?: string | undefined } = {},
): Promise<{ readonly tool: SavedTool; readonly before: StoredStanding }> {
  const { saved, approvals } = deps;
  await approvals.refresh();
  const tool = await saved.get(name);
  if (tool === undefined) {
    throw new MetatoolError(
      "METATOOL_NOT_FOUND",
      `No saved tool is named ${JSON.stringify(name.slice(0, 100))}`,
    );
  }
  const { modified } = tool.metadata;
  if (expectedModified !== undefined && modified !== expectedModified) {
    throw new MetatoolError(
      "METATOOL_CHANGED_MEANWHILE",
      `Cannot approve "${name}": it was modified at ${modified}, and the approval is for the version of ${expectedModified.slice(0, 40)}`,
      { hint: `read the current version: toolcrib saved show ${name}`, data: { modified } },
    );
  }
  const before = storedStanding(tool, approvals);
  if (!before.needsApproval && before.isApproved) return { tool, before };
  const { codeDigest, reach } = keptReachOf(tool.toolcrib);
  if (reach !== undefined && codeDigest === before.codeDigest) {
    return { tool: await approveReach(deps, tool, reach, operator, { isByOperator: true }), before };
  }
  // A tool without an owner and an approved reach is a tool of the operator: nothing limits it.
  const { metadata, ...definition } = tool;
  const { approved: _approved, approval: _approval, owner: _owner, ...toolcrib } = definition.toolcrib ?? {};
  const result = await saved.save({ ...definition, toolcrib }, { expectedModified: metadata.modified });
  return { tool: result.tool, before };
}
