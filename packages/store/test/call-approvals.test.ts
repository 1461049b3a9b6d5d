/** Approvals of calls in the file of a home. */

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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

const operator = { issuer: "o", subject: "o" };
const call = {
  client: { issuer: "i", subject: "s", name: "ci" },
  tool: "notes:write",
  server: "notes",
  argumentsDigest: "sha256:a",
  definitionDigest: "sha256:d",
  policyDigest: "sha256:p",
};
const stepped = { ...call, stepsDigest: "sha256:s" };

test("a call that shows its steps is approved with them, and no call with others", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const approvals = new CallApprovals(home, { now: () => 1, randomBytes });
  const steps = [{ tool: "notes:read" }, { tool: "notes:send" }];
  const request = (one: typeof call | typeof stepped) =>
    approvals.request(one, () => ({ arguments: { text: "x" }, ...("stepsDigest" in one ? { steps } : {}) }));
  const kindOf = async (one: typeof call | typeof stepped) => (await request(one)).kind;
  const asked = await request(stepped);
  assert.ok(asked.kind === "pending");
  assert.deepEqual(
    (await approvals.pending()).map((one) => [one.arguments, one.steps]),
    [[{ text: "x" }, steps]],
  );
  assert.equal((await approvals.decide(asked.id, "approved", operator))?.state, "approved");
  for (const other of [call, { ...stepped, stepsDigest: "sha256:t" }])
    assert.equal(await kindOf(other), "pending");
  const outcome = await request(stepped);
  assert.ok(outcome.kind === "approved");
  assert.deepEqual(outcome.used.decidedBy, operator);
  assert.equal(await kindOf(stepped), "pending");
});

test("a call whose arguments or steps nobody can read is not kept", async () => {
  await using directory = await makeTemporaryDirectory();
  const approvals = new CallApprovals(directory.join("home"), { now: () => 1, randomBytes });
  const large = { text: "x".repeat(65_536) };
  // {"text":"…"} has 11 more bytes than the text.
  const largest = { text: "x".repeat(65_525) };
  for (const [shown, expected] of [
    [{ arguments: large, steps: [] }, "too_large"],
    [{ arguments: {}, steps: [large] }, "too_large"],
    [{ arguments: largest, steps: [] }, "pending"],
  ] as const) {
    assert.equal((await approvals.request(stepped, () => shown)).kind, expected);
  }
});

test("twenty calls of one client can wait, beside those that are decided and those of others", async () => {
  await using directory = await makeTemporaryDirectory();
  const approvals = new CallApprovals(directory.join("home"), { now: () => 1, randomBytes });
  const request = (argumentsDigest: string, subject = "s") => {
    const client = { ...call.client, subject };
    return approvals.request({ ...call, client, argumentsDigest }, () => ({ arguments: {} }));
  };
  for (const state of ["approved", "denied"] as const) {
    const asked = await request(state);
    assert.ok(asked.kind === "pending");
    await approvals.decide(asked.id, state, operator);
  }
  for (let count = 0; count < 20; count += 1) assert.equal((await request(`${count}`)).kind, "pending");
  assert.equal((await request("20")).kind, "full");
  assert.equal((await request("19")).kind, "pending");
  assert.equal((await request("20", "other")).kind, "pending");
});

test("of a call that was made, only a mark is left, for as long as its approval was valid", async () => {
  await using directory = await makeTemporaryDirectory();
  const path = join(directory.join("home"), "approvals", "calls.json");
  const clock = { ms: 1 };
  const approvals = new CallApprovals(directory.join("home"), { now: () => clock.ms, randomBytes });
  const request = () => approvals.request(stepped, () => ({ arguments: { text: "x" }, steps: [{}] }));
  const asked = await request();
  assert.ok(asked.kind === "pending");
  await approvals.decide(asked.id, "approved", operator);
  const made = await request();
  assert.ok(made.kind === "approved");
  const [mark, ...others] = (JSON.parse(readFileSync(path, "utf8")) as { readonly records: JsonObject[] })
    .records;
  assert.deepEqual([mark?.["state"], mark?.["arguments"], mark?.["steps"]], ["used", undefined, undefined]);
  assert.deepEqual(others, []);
  clock.ms = 600_001;
  assert.equal(await approvals.giveBack(made.used), false);
  assert.ok(!existsSync(path));
});

describe("a file that something else changed", () => {
  const valid: JsonObject = {
    ...stepped,
    arguments: {},
    steps: [{}],
    state: "pending",
    requestedAt: 0,
    expiresAt: 3_600_000,
  };

  /** Opens approvals whose file has `record`, with the digest that belongs to it or the one that it has. */
  async function openWith(home: string, record: JsonObject) {
    const path = join(home, "approvals", "calls.json");
    mkdirSync(join(home, "approvals"), { recursive: true, mode: 0o700 });
    const records = [record["digest"] === undefined ? withDigest(record) : record];
    writeFileSync(path, JSON.stringify({ format: 1, records }), { mode: 0o600 });
    return new CallApprovals(home, { now: () => 1, randomBytes });
  }

  test("approves nothing: a record with a value that is missing or wrong, or of another call", async () => {
    const { client } = stepped;
    for (const change of [
      ...Object.keys(client).map((member) => ({ client: { ...client, [member]: "" } })),
      ...Object.keys(stepped)
        .filter((member) => member !== "client")
        .map((member) => ({ [member]: "" })),
      { client: "ci" },
      { state: "waived" },
      { requestedAt: "0" },
      { expiresAt: "3600000" },
      { state: "approved", decidedBy: {} },
      { digest: "0".repeat(64) },
      { ...withDigest(valid), argumentsDigest: "sha256:other" },
    ] satisfies JsonObject[]) {
      await using directory = await makeTemporaryDirectory();
      const approvals = await openWith(directory.path, { ...valid, ...change });
      const refused = { code: "STORE_UNREADABLE" };
      await assert.rejects(approvals.pending(), refused, JSON.stringify(change));
      await assert.rejects(
        approvals.request(stepped, () => ({ arguments: {}, steps: [] })),
        refused,
      );
    }
  });

  test("asks again about a call that cannot be shown, and keeps decisions about it", async () => {
    const { stepsDigest: _stepsDigest, steps: _steps, ...plain } = valid;
    const { arguments: _arguments, ...unseen } = plain;
    for (const [record, waiting] of [
      [valid, 1],
      [{ ...valid, steps: [] }, 1],
      [plain, 1],
      [unseen, 0],
      [{ ...valid, arguments: [] }, 0],
      [{ ...plain, stepsDigest: "sha256:s" }, 0],
      [{ ...valid, steps: [{}, "x"] }, 0],
      [{ ...valid, steps: "x" }, 0],
    ] satisfies [JsonObject, number][]) {
      await using directory = await makeTemporaryDirectory();
      const approvals = await openWith(directory.path, record);
      assert.equal((await approvals.pending()).length, waiting, JSON.stringify(record));
    }
    for (const state of ["approved", "denied"] as const) {
      await using directory = await makeTemporaryDirectory();
      const approvals = await openWith(directory.path, { ...unseen, state });
      assert.equal((await approvals.request(call, () => assert.fail())).kind, state);
    }
  });
});

/** Returns a record with the digest of its call, as the file has it. */
function withDigest(record: JsonObject): JsonObject {
  const { client, tool, server, argumentsDigest, definitionDigest, policyDigest, stepsDigest } = record;
  const { issuer = "", subject = "" } = client as JsonObject;
  const bound = [issuer, subject, tool, server, argumentsDigest, definitionDigest, policyDigest];
  if (stepsDigest !== undefined) bound.push(stepsDigest);
  const digest = createHash("sha256")
    .update(canonicalJson(bound as JsonValue))
    .digest("hex");
  return { ...record, digest, id: `call:${digest.slice(0, 16)}` };
}
