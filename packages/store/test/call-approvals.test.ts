/** Approvals of calls in the file of a home. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { CallApprovals } from "@toolcrib/store";
import { makeTemporaryDirectory } from "@toolcrib/testing";

test("a call that could not be read back is not kept, so that calls of others can be approved", async () => {
  await using directory = await makeTemporaryDirectory();
  const approvals = new CallApprovals(directory.join("home"), { now: () => 1, randomBytes });
  const request = (tool: string, name = "ci") =>
    approvals.request(
      {
        client: { issuer: "i", subject: "s", name },
        tool,
        server: "notes",
        argumentsDigest: "sha256:a",
        definitionDigest: "sha256:d",
        policyDigest: "sha256:p",
      },
      () => ({ arguments: {} }),
    );
  assert.equal((await request(`notes:${"x".repeat(5000)}`)).kind, "too_large");
  assert.equal((await request("notes:write", "")).kind, "too_large");
  assert.equal((await request("notes:write")).kind, "pending");
  assert.deepEqual(
    (await approvals.pending()).map(({ tool }) => tool),
    ["notes:write"],
  );
});
