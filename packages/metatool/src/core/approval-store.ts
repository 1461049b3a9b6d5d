/**
 * The approvals of saved tools: the reach that a human accepted for each tool. The
 * engine of one machine keeps them in the files of the saved tools, and those of
 * deleted tools in memory. Every engine passes the contract tests of this package.
 */

import type { SavedTool, SavedToolStore } from "@toolcrib/store";
import type { Reach } from "../run/analyse/reach.ts";
import { digestCode, keptReachOf, withKeptReach } from "./tool-facts.ts";

/** The approvals of saved tools. */
export interface ApprovalStore {
  /** Returns the approved reach of `tool`; `undefined` for a tool of the operator, which needs no approval. */
  approvedReach(tool: SavedTool): Reach | undefined;
  /** Returns the approved reach of the deleted tool `name`, so that deleting a tool does not reset its approval. */
  deletedReach(name: string): Reach | undefined;
  /**
   * Approves `reach` for `tool` as it is now.
   *
   * @returns the tool with its approval.
   * @throws {MetatoolError} `METATOOL_CHANGED_MEANWHILE` when the tool was changed, and as `SavedToolStore.save`.
   */
  approve(tool: SavedTool, reach: Reach): Promise<SavedTool>;
  /** Keeps the approval of a tool that was deleted. */
  retain(tool: SavedTool): void;
}

/** Most deleted tools whose approval is kept. */
const maxDeleted = 1000;

/** Approvals in the files of the saved tools. */
export class FileApprovalStore implements ApprovalStore {
  readonly #saved: SavedToolStore;
  readonly #deleted = new Map<string, Reach>();

  constructor(saved: SavedToolStore) {
    this.#saved = saved;
  }

  approvedReach({ toolcrib }: SavedTool): Reach | undefined {
    return keptReachOf(toolcrib).approved;
  }

  deletedReach(name: string): Reach | undefined {
    return this.#deleted.get(name);
  }

  async approve({ metadata, ...definition }: SavedTool, reach: Reach): Promise<SavedTool> {
    const kept = { codeDigest: digestCode(definition.code), reach, approved: reach };
    const { tool } = await this.#saved.save(
      { ...definition, toolcrib: withKeptReach(definition.toolcrib, kept) },
      { expectedModified: metadata.modified },
    );
    return tool;
  }

  retain(tool: SavedTool): void {
    const approved = this.approvedReach(tool);
    if (approved === undefined) return;
    this.#deleted.delete(tool.name);
    this.#deleted.set(tool.name, approved);
    for (const oldest of this.#deleted.keys()) {
      if (this.#deleted.size <= maxDeleted) break;
      this.#deleted.delete(oldest);
    }
  }
}
