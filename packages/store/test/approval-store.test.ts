import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { openApprovalStore } from "@toolcrib/store";
import { makeTemporaryDirectory, testApprovalStore } from "@toolcrib/testing";

testApprovalStore("file", (home) => openApprovalStore(home, { randomBytes }));

const approval = { name: "a", reach: { tools: [], dynamic: true }, approvedAt: 1 };

test("the file of approvals is created with the first approval, and only its owner can read it", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await openApprovalStore(directory.join("home"), { randomBytes });
  assert.throws(() => statSync(directory.join("home")), /ENOENT/);
  await store.put(approval, undefined);
  const path = directory.join("home", "approvals", "saved-tools.json");
  if (process.platform !== "win32") assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("a damaged file, or one of a later version, counts as no approval and is never replaced", async () => {
  const path = "approvals/saved-tools.json";
  for (const text of ["{", "[]", '{"format":2,"records":[]}', '{"format":1,"records":[{"name":"a"}]}']) {
    await using directory = await makeTemporaryDirectory();
    mkdirSync(directory.join("approvals"));
    writeFileSync(directory.join(path), text);
    const problems: string[] = [];
    await using store = await openApprovalStore(directory.path, {
      randomBytes,
      onProblem: ({ code }) => problems.push(code),
    });
    assert.equal(store.current("a"), undefined);
    await assert.rejects(store.get("a"), { code: "STORE_UNREADABLE" });
    await assert.rejects(store.put(approval, undefined), { code: "STORE_UNREADABLE" });
    await store.refresh();
    assert.deepEqual(problems, ["STORE_UNREADABLE"], "the same problem is reported once");
    assert.equal(readFileSync(directory.join(path), "utf8"), text);
  }
});
