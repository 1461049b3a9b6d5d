import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import {
  adoptApprovals,
  approvedReachOf,
  approveReach,
  approveStoredTool,
  retainApproval,
  storedStanding,
} from "@toolcrib/metatool";
import { type ApprovalStore, openApprovalStore, type SavedTool, type SavedToolStore } from "@toolcrib/store";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { definitionOf, documentOf, openTest } from "../saved/saved-harness.ts";

const narrow = { tools: ["github:searchIssues"], dynamic: false };
const wide = { tools: ["github:createIssue", "github:searchIssues"], dynamic: true };
const approvedBy = { issuer: "toolcrib:cli", subject: "operator" };

interface Home extends AsyncDisposable {
  readonly saved: SavedToolStore;
  readonly approvals: ApprovalStore;
  readonly now: () => number;
}

async function openHome(path: string): Promise<Home> {
  const saved = await openTest(`${path}/tools`);
  const approvals = await openApprovalStore(path, { randomBytes });
  const dispose = async () => {
    await approvals[Symbol.asyncDispose]();
    await saved[Symbol.asyncDispose]();
  };
  return { saved, approvals, now: () => 5000, [Symbol.asyncDispose]: dispose };
}

async function withTool(run: (home: Home, tool: SavedTool, path: string) => Promise<void>): Promise<void> {
  await using directory = await makeTemporaryDirectory();
  await using home = await openHome(directory.path);
  const { tool } = await home.saved.save(definitionOf());
  await run(home, tool, directory.path);
}

test("a tool of the operator has no approved reach", () =>
  withTool(async ({ approvals }, tool) => {
    assert.equal(approvedReachOf(tool, approvals), undefined);
  }));

test("approveReach() sets the approved reach, and a later approval replaces it", () =>
  withTool(async (home, tool, path) => {
    const { saved, approvals } = home;
    const first = await approveReach(home, tool, narrow, approvedBy);
    assert.deepEqual(approvedReachOf(first, approvals), narrow);
    const second = await approveReach(home, first, wide, approvedBy);
    assert.deepEqual(approvedReachOf(second, approvals), wide);
    const stored = await saved.get("double");
    assert.equal(stored?.code, tool.code);
    await using later = await openApprovalStore(path, { randomBytes });
    assert.deepEqual(stored && approvedReachOf(stored, later), wide);
    assert.deepEqual((await later.get("double"))?.approvedBy, approvedBy);
  }));

test("approveReach() refuses a tool that was changed after the human saw it", () =>
  withTool(async (home, tool) => {
    const { saved, approvals } = home;
    await saved.save(definitionOf({ code: "return 1\n" }));
    await assert.rejects(approveReach(home, tool, wide, approvedBy), { code: "METATOOL_CHANGED_MEANWHILE" });
    const stored = await saved.get("double");
    assert.equal(stored && approvedReachOf(stored, approvals), undefined);
    assert.deepEqual(approvals.current("double")?.reach ?? { tools: [], dynamic: false }, {
      tools: [],
      dynamic: false,
    });
  }));

test("the approval of a deleted tool survives a restart", () =>
  withTool(async (home, tool, path) => {
    const approved = await approveReach(home, tool, narrow, approvedBy);
    await home.saved.delete("double");
    await retainApproval(home, approved);
    await using later = await openApprovalStore(path, { randomBytes });
    assert.deepEqual(later.current("double")?.reach, narrow);
    assert.equal(later.current("double")?.deletedAt, 5000);
    assert.equal(later.current("other"), undefined);
  }));

test("retainApproval() ignores a deleted tool of the operator", () =>
  withTool(async (home, tool) => {
    await retainApproval(home, tool);
    assert.deepEqual(await home.approvals.list(), []);
  }));

test("an approved file whose approval is missing in the store must be approved again", () =>
  withTool(async (home, tool) => {
    const approved = await approveReach(home, tool, narrow, approvedBy);
    await home.approvals.delete("double", home.approvals.current("double")?.version ?? 0);
    assert.equal(storedStanding(approved, home.approvals).needsApproval, true);
  }));

test("an upgrade keeps each approval of a home that an earlier version wrote, and widens none", async () => {
  await using directory = await makeTemporaryDirectory();
  const codeDigest = "sha256:93e6df1fc6b5f7b1a1d11e9a4e1d5e0a";
  const files = {
    operator: undefined,
    approved: { codeDigest, reach: narrow, approved: narrow },
    grown: { codeDigest, reach: wide, approved: narrow },
    imported: { approved: { tools: [], dynamic: false } },
    any: { codeDigest, reach: wide, approved: wide },
  };
  {
    await using home = await openHome(directory.path);
    assert.deepEqual(await home.saved.list(), []);
  }
  for (const [name, toolcrib] of Object.entries(files)) {
    const document = documentOf({ name, ...(toolcrib && { toolcrib }) });
    writeFileSync(directory.join("tools", `${name}.json`), JSON.stringify(document));
  }
  const expected = {
    any: wide,
    approved: narrow,
    grown: narrow,
    imported: { tools: [], dynamic: false },
    operator: undefined,
  };
  for (const round of [1, 2]) {
    await using home = await openHome(directory.path);
    const { saved, approvals } = home;
    await adoptApprovals(home);
    const reaches = (await saved.list()).map((tool) => [tool.name, approvedReachOf(tool, approvals)]);
    assert.deepEqual(Object.fromEntries(reaches), expected);
    assert.deepEqual(
      (await approvals.list()).map(({ name, reach, version }) => [name, reach, version]),
      Object.entries(expected)
        .filter(([, reach]) => reach !== undefined)
        .map(([name, reach]) => [name, reach, 1]),
      `round ${round}: each approval is read once`,
    );
  }
  await using home = await openHome(directory.path);
  const { saved, approvals } = home;
  // A later approval is in the store, and the file refers to it.
  const grown = await saved.get("grown");
  assert.ok(grown);
  const approved = await approveReach(home, grown, wide, approvedBy);
  assert.deepEqual(approvedReachOf(approved, approvals), wide);
  await adoptApprovals(home);
  assert.deepEqual(approvedReachOf(approved, approvals), wide);
  // A file that an earlier version writes later has its own approval again.
  const other = documentOf({ name: "any", toolcrib: { codeDigest, reach: wide, approved: narrow } });
  writeFileSync(directory.join("tools", "any.json"), JSON.stringify(other));
  await using again = await openHome(directory.path);
  await adoptApprovals(again);
  const any = await again.saved.get("any");
  assert.deepEqual(any && approvedReachOf(any, again.approvals), narrow);
  // An import over an approved tool needs its own approval.
  await again.saved.save(definitionOf({ name: "grown", toolcrib: files.imported }));
  const imported = await again.saved.get("grown");
  assert.ok(imported);
  assert.equal(storedStanding(imported, again.approvals).needsApproval, true);
  await approveStoredTool(again, "grown");
  const unlimited = await again.saved.get("grown");
  assert.equal(unlimited && storedStanding(unlimited, again.approvals).needsApproval, false);
});
