/**
 * Where a saved tool stands with its approval, and the operator's own yes, by
 * what is in its file. No tool need be there for it, and no gateway.
 */

import { FileApprovalStore } from "../core/approval-store.ts";
import { digestCode, growthOf, keptReachOf, namesOf } from "../core/tool-facts.ts";
import { MetatoolError } from "../metatool-error.ts";
import type { SavedTool } from "../saved/saved-tool.ts";
import type { SavedToolStore } from "../saved/saved-tool-store.ts";

/** What a file says of a tool's reach and approval. */
export interface StoredStanding {
  /** Ids that its program can call, `*` where it chooses them while it runs; absent where nobody looked at the program yet. */
  readonly reach: readonly string[] | undefined;
  /** Whether it waits for its approval. */
  readonly needsApproval: boolean;
  /** Digest of its program, such as `sha256:…`. */
  readonly codeDigest: string;
}

/** What the file of `tool` says. */
export function storedStanding({ code, toolcrib }: SavedTool): StoredStanding {
  const { codeDigest, reach, approved } = keptReachOf(toolcrib);
  const digest = digestCode(code);
  const known = codeDigest === digest ? reach : undefined;
  const isCovered = known !== undefined && growthOf(known, approved).length === 0;
  return {
    reach: known === undefined ? undefined : namesOf(known),
    needsApproval: approved !== undefined && !isCovered,
    codeDigest: digest,
  };
}

/**
 * Approve a tool as it is now. Of a program that nobody looked at yet, all that
 * it reaches is approved.
 *
 * @returns the tool, and where it stood before.
 * @throws {MetatoolError} `METATOOL_NOT_FOUND`, and as `SavedToolStore.save`; `METATOOL_CHANGED_MEANWHILE` when the tool
 *   is not the one that was looked at.
 */
export async function approveStoredTool(
  saved: SavedToolStore,
  name: string,
): Promise<{ readonly tool: SavedTool; readonly before: StoredStanding }> {
  const tool = await saved.get(name);
  if (tool === undefined) {
    throw new MetatoolError(
      "METATOOL_NOT_FOUND",
      `No saved tool is named ${JSON.stringify(name.slice(0, 100))}`,
    );
  }
  const before = storedStanding(tool);
  if (!before.needsApproval) return { tool, before };
  const { codeDigest, reach } = keptReachOf(tool.toolcrib);
  if (reach !== undefined && codeDigest === before.codeDigest) {
    return { tool: await new FileApprovalStore(saved).approve(tool, reach), before };
  }
  // A tool without an approved reach is a tool of the operator: nothing limits it.
  const { metadata, ...definition } = tool;
  const { approved: _replaced, ...toolcrib } = definition.toolcrib ?? {};
  const result = await saved.save({ ...definition, toolcrib }, { expectedModified: metadata.modified });
  return { tool: result.tool, before };
}
