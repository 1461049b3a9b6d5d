/** Approvals of calls in the file of a home. */

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { canonicalJson, type JsonObject, type JsonValue } from "@toolcrib/json";
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

describe("giveBack()", () => {
  const operator = { issuer: "o", subject: "o" };

  /** Returns the approvals of a home, and functions for one call, which all others differ from by their arguments. */
  function open(home: string) {
    const clock = { ms: 0 };
    const approvals = new CallApprovals(home, { now: () => clock.ms, randomBytes });
    const request = (argumentsDigest = "sha256:a", subject = "s") =>
      approvals.request(
        {
          client: { issuer: "i", subject, name: "ci" },
          tool: "notes:write",
          server: "notes",
          argumentsDigest,
          definitionDigest: "sha256:d",
          policyDigest: "sha256:p",
        },
        () => ({ arguments: { of: argumentsDigest } }),
      );
    const approve = async () => {
      const asked = await request();
      assert.ok(asked.kind === "pending");
      assert.ok(await approvals.decide(asked.id, "approved", operator));
      return asked.id;
    };
    /** Approves the call and uses the approval up. */
    const use = async () => {
      await approve();
      const used = await request();
      assert.ok(used.kind === "approved");
      return used;
    };
    return { approvals, clock, request, approve, use };
  }

  test("makes an approval valid again, once and for as long as before", async () => {
    await using directory = await makeTemporaryDirectory();
    const { approvals, clock, request, use } = open(directory.join("home"));
    const { used } = await use();
    clock.ms = 599_999;
    assert.equal(await approvals.giveBack(used), true);
    assert.equal((await request()).kind, "approved");
    assert.equal(await approvals.giveBack(used), true);
    clock.ms = 600_000;
    assert.equal(await approvals.giveBack(used), false, "expired");
    assert.deepEqual(await approvals.pending(), []);
    assert.equal((await request()).kind, "pending");
  });

  test("does not touch a call that was requested again meanwhile, so that the operator can deny it", async () => {
    await using directory = await makeTemporaryDirectory();
    const { approvals, request, use } = open(directory.join("home"));
    const { id, used } = await use();
    assert.equal((await request()).kind, "pending");
    const [seen] = await approvals.pending();
    assert.equal(await approvals.giveBack(used), false);
    assert.deepEqual(await approvals.pending(), [seen]);
    assert.equal((await approvals.decide(id, "denied", operator))?.state, "denied");
    assert.equal((await request()).kind, "denied");
  });

  test("does not end a denial", async () => {
    await using directory = await makeTemporaryDirectory();
    const { approvals, request, use } = open(directory.join("home"));
    const { id, used } = await use();
    await request();
    assert.ok(await approvals.decide(id, "denied", operator));
    assert.equal(await approvals.giveBack(used), false);
    assert.equal((await request()).kind, "denied");
  });

  test("keeps the approval that is valid for longer", async () => {
    await using directory = await makeTemporaryDirectory();
    const { approvals, clock, request, approve, use } = open(directory.join("home"));
    const { used } = await use();
    clock.ms = 300_000;
    await approve();
    assert.equal(await approvals.giveBack(used), true);
    clock.ms = 800_000;
    assert.deepEqual([(await request()).kind, (await request()).kind], ["approved", "pending"]);
  });

  test("does not end a denial of the approval that the call holds, also by another process", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    const { approvals, clock, request, use } = open(home);
    const other = open(home);
    const { id, used } = await use();
    const denied = await other.approvals.decide(id, "denied", operator);
    assert.deepEqual([denied?.state, denied?.isUsed], ["denied", true]);
    assert.equal(await approvals.giveBack(used), false);
    assert.equal((await request()).kind, "denied");
    assert.equal((await other.request()).kind, "denied");
    assert.equal(await other.approvals.decide(id, "approved", operator), undefined);
    clock.ms = 600_000;
    assert.equal((await request()).kind, "pending");
  });

  test("a used approval leaves the file when it expires, or when others need its place", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    const path = join(home, "approvals", "calls.json");
    const recordsOf = () =>
      (JSON.parse(readFileSync(path, "utf8")) as { readonly records: JsonObject[] }).records;
    const { approvals, clock, request, use } = open(home);
    const { id, used } = await use();
    assert.deepEqual(await approvals.pending(), []);
    const [{ digest: _digest, id: _id, ...mark }] = recordsOf() as [JsonObject];
    assert.equal(mark["arguments"], undefined);
    const marks = Array.from({ length: 999 }, (_, at) => withDigest({ ...mark, argumentsDigest: `${at}` }));
    writeFileSync(path, JSON.stringify({ format: 1, records: [...recordsOf(), ...marks] }));
    assert.equal((await request("sha256:b")).kind, "pending");
    assert.equal(recordsOf().length, 1000);
    // Without its mark, nobody can deny it, and so it stays used up.
    assert.equal(await approvals.decide(id, "denied", operator), undefined);
    assert.equal(await approvals.giveBack(used), false);
    clock.ms = 600_000;
    assert.equal((await request("sha256:c")).kind, "pending");
    assert.equal(recordsOf().length, 2);
  });

  test("adds nothing to a file without a place", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    const { approvals, request, use } = open(home);
    const { used } = await use();
    await request("sha256:b");
    const path = join(home, "approvals", "calls.json");
    const [, { digest: _digest, id: _id, ...one }] = (
      JSON.parse(readFileSync(path, "utf8")) as { readonly records: [JsonObject, JsonObject] }
    ).records;
    const records = Array.from({ length: 1000 }, (_, at) => withDigest({ ...one, argumentsDigest: `${at}` }));
    writeFileSync(path, JSON.stringify({ format: 1, records }));
    assert.equal((await approvals.pending()).length, 1000);
    assert.equal(await approvals.giveBack(used), false);
    assert.equal((await approvals.pending()).length, 1000);
    await assert.rejects(request("sha256:c", "other"), { code: "STORE_FULL" });
  });
});

test("a denial ends an approval that is not used up", async () => {
  await using directory = await makeTemporaryDirectory();
  const approvals = new CallApprovals(directory.join("home"), { now: () => 1, randomBytes });
  const request = () =>
    approvals.request(
      {
        client: { issuer: "i", subject: "s", name: "ci" },
        tool: "notes:write",
        server: "notes",
        argumentsDigest: "sha256:a",
        definitionDigest: "sha256:d",
        policyDigest: "sha256:p",
      },
      () => ({ arguments: {} }),
    );
  const asked = await request();
  assert.ok(asked.kind === "pending");
  const operator = { issuer: "o", subject: "o" };
  assert.ok(await approvals.decide(asked.id, "approved", operator));
  assert.equal(await approvals.decide(asked.id, "approved", operator), undefined);
  assert.equal((await approvals.decide(asked.id, "denied", operator))?.state, "denied");
  assert.equal(await approvals.decide(asked.id, "approved", operator), undefined);
  assert.equal((await request()).kind, "denied");
});

/** Returns a record with the digest of its call, as the file has it. */
function withDigest(record: JsonObject): JsonObject {
  const { client, tool, server, argumentsDigest, definitionDigest, policyDigest } = record;
  const { issuer, subject } = client as JsonObject;
  const bound = [issuer, subject, tool, server, argumentsDigest, definitionDigest, policyDigest];
  const digest = createHash("sha256")
    .update(canonicalJson(bound as JsonValue))
    .digest("hex");
  return { ...record, digest, id: `call:${digest.slice(0, 16)}` };
}
