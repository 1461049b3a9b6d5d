/** Contract tests of `ApprovalStore`, for every engine. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ApprovalStore } from "@toolcrib/metatool";
import type { SavedTool, SavedToolStore } from "@toolcrib/store";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { definitionOf, openTest } from "../saved/saved-harness.ts";

const narrow = { tools: ["github:searchIssues"], dynamic: false };
const wide = { tools: ["github:createIssue", "github:searchIssues"], dynamic: true };

/**
 * Defines the tests.
 *
 * @param open opens the approvals of the tools of `saved`.
 */
export function testApprovalStore(engine: string, open: (saved: SavedToolStore) => ApprovalStore): void {
  async function withTool(
    run: (approvals: ApprovalStore, tool: SavedTool, saved: SavedToolStore) => Promise<void>,
  ): Promise<void> {
    await using directory = await makeTemporaryDirectory();
    await using saved = await openTest(directory.join("tools"));
    const { tool } = await saved.save(definitionOf());
    await run(open(saved), tool, saved);
  }

  describe(`ApprovalStore: ${engine}`, () => {
    test("a tool of the operator has no approved reach", () =>
      withTool(async (approvals, tool) => {
        assert.equal(approvals.approvedReach(tool), undefined);
      }));

    test("approve() sets the approved reach, and a later approval replaces it", () =>
      withTool(async (approvals, tool, saved) => {
        const first = await approvals.approve(tool, narrow);
        assert.deepEqual(approvals.approvedReach(first), narrow);
        const second = await approvals.approve(first, wide);
        assert.deepEqual(approvals.approvedReach(second), wide);
        const stored = await saved.get("double");
        assert.deepEqual(stored && open(saved).approvedReach(stored), wide);
        assert.equal(stored?.code, tool.code);
      }));

    test("approve() refuses a tool that was changed after the human saw it", () =>
      withTool(async (approvals, tool, saved) => {
        await saved.save(definitionOf({ code: "return 1\n" }));
        await assert.rejects(approvals.approve(tool, wide), { code: "METATOOL_CHANGED_MEANWHILE" });
        const stored = await saved.get("double");
        assert.equal(stored && approvals.approvedReach(stored), undefined);
      }));

    test("retain() keeps the approved reach of a deleted tool", () =>
      withTool(async (approvals, tool, saved) => {
        await approvals.approve(tool, narrow);
        const deleted = await saved.delete("double");
        assert(deleted !== undefined);
        assert.equal(approvals.deletedReach("double"), undefined);
        approvals.retain(deleted);
        assert.deepEqual(approvals.deletedReach("double"), narrow);
        assert.equal(approvals.deletedReach("other"), undefined);
      }));

    test("retain() ignores a deleted tool of the operator", () =>
      withTool(async (approvals, tool) => {
        approvals.retain(tool);
        assert.equal(approvals.deletedReach("double"), undefined);
      }));
  });
}
