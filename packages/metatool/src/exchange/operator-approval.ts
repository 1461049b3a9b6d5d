/**
 * Where a saved tool stands with its approval, and the operator's own yes, by
 * what is in its file. No tool need be there for it, and no gateway.
 */

import { digestCode, growthOf, keptReachOf, namesOf, withKeptReach } from "../core/tool-facts.ts";
import { MetatoolError } from "../metatool-error.ts";
import type { SavedTool } from "../saved/saved-tool.ts";
import type { SavedTools } from "../saved/saved-tools.ts";

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
 * @throws {MetatoolError} `METATOOL_NOT_FOUND`, and as `SavedTools.save`; `METATOOL_CHANGED_MEANWHILE` when the tool
 *   is not the one that was looked at.
 */
export async function approveStoredTool(
  saved: SavedTools,
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
  const { metadata, ...definition } = tool;
  const { codeDigest, reach } = keptReachOf(tool.toolcrib);
  const { approved: _replaced, ...others } = definition.toolcrib ?? {};
  const isKnown = reach !== undefined && codeDigest === before.codeDigest;
  // A tool without anything to measure it by is the operator's own.
  const toolcrib = isKnown ? withKeptReach(others, { codeDigest, reach, approved: reach }) : others;
  const result = await saved.save({ ...definition, toolcrib }, { expectedModified: metadata.modified });
  return { tool: result.tool, before };
}
