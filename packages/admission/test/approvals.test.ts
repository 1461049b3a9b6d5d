/** Decisions of the operator about calls that wait: what is shown, what is recorded, and which approvals would not count. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { Approvals, HeldDefinitions, policyDigestOf } from "@toolcrib/admission";
import type { JsonObject } from "@toolcrib/json";
import { CallApprovals, digestOf } from "@toolcrib/store";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { type Identity, localIdentity, type Tool, toToolId } from "@toolcrib/tool";
import { operator } from "./guard-harness.ts";

const ci = localIdentity("token", "ci");
const definition: Tool["definition"] = { name: "write", inputSchema: { type: "object" } };
const id = toToolId("notes", "write");

/** Facts about the gateway that the calls of a home wait for. */
interface Facts {
  policyDigest: string;
  servers: readonly string[];
  tool: Tool["definition"] | undefined;
  mayAllow: (identity: Identity, tool: string) => boolean;
}

/** Opens the approvals of a home, in which a call waits. */
async function open(
  home: string,
  shown: { readonly arguments: JsonObject; readonly steps?: readonly JsonObject[] } = { arguments: {} },
  client: Identity = ci,
) {
  const facts: Facts = {
    policyDigest: "sha256:p",
    servers: ["other", "notes"],
    tool: definition,
    mayAllow: () => true,
  };
  const calls = new CallApprovals(home, { now: () => 0, randomBytes });
  const call = {
    client: { issuer: client.issuer, subject: client.subject, name: client.name },
    tool: id,
    server: "notes",
    argumentsDigest: "sha256:a",
    definitionDigest: digestOf(definition),
    policyDigest: "sha256:p",
  };
  const requested = await calls.request(call, () => shown);
  assert.ok("id" in requested);
  const recorded: { readonly type: string; readonly data: JsonObject }[] = [];
  const deps = {
    held: new HeldDefinitions({
      index: { tools: [], quarantined: [], reconsider() {} },
      features: { held: () => [], reconsider() {} },
      pins: {} as ConstructorParameters<typeof HeldDefinitions>[0]["pins"],
      serverIds: () => [],
    }),
    audit: { record: (type: string, data: object) => void recorded.push({ type, data: data as JsonObject }) },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    parts: {
      index: { find: () => (facts.tool === undefined ? undefined : { tool: toTool(facts.tool) }) },
      roster: {
        get entries() {
          return facts.servers.map((server) => ({ id: server }));
        },
      },
      mayAllow: (identity: Identity, tool: string) => facts.mayAllow(identity, tool),
    },
    policyDigest: () => facts.policyDigest,
  };
  return {
    facts,
    recorded,
    call: requested.id,
    /** Makes the call, which uses its approval up. */
    use: () => calls.request(call, () => shown),
    approvals: new Approvals({ ...deps, calls }),
    withoutCalls: new Approvals({ ...deps, calls: undefined }),
  };
}

const toTool = (of: Tool["definition"]): Tool => ({
  id,
  sourceId: "notes",
  namespace: "notes",
  tags: [],
  origin: "server",
  definition: of,
});

describe("Approvals", () => {
  test("say what an approval of a call is bound to now", async () => {
    await using directory = await makeTemporaryDirectory();
    const { facts, approvals } = await open(directory.path);
    const bound = { policyDigest: "sha256:p", definitionDigest: digestOf(definition) };
    assert.deepEqual(approvals.bindingOf(id), bound);
    Object.assign(facts, { tool: undefined, policyDigest: "sha256:q" });
    assert.deepEqual(approvals.bindingOf(id), { policyDigest: "sha256:q" });
  });

  test("say why an approval would not count, and approve no such call", async () => {
    const remote = { ...ci, issuer: "https://login.example" };
    const rows: readonly [change: Partial<Facts>, reason: string | undefined, client?: Identity][] = [
      [{}, undefined],
      [{ tool: undefined }, undefined],
      [{ servers: ["notes", "other"] }, undefined],
      [{ servers: ["other"] }, 'its server "notes" is not configured'],
      [{ servers: [] }, 'its server "notes" is not configured'],
      [
        { tool: { ...definition, description: "New" } },
        "the definition of the tool changed after it was requested",
      ],
      [{ policyDigest: "sha256:q" }, "the policy changed after it was requested"],
      [{ policyDigest: "sha256:q", mayAllow: () => false }, "the policy denies it now"],
      // Nothing is known about a tool that is gone, or about a client whose roles are unknown.
      [
        { policyDigest: "sha256:q", mayAllow: () => false, tool: undefined },
        "the policy changed after it was requested",
      ],
      [
        { policyDigest: "sha256:q", mayAllow: () => false },
        "the policy changed after it was requested",
        remote,
      ],
    ];
    for (const [change, reason, client] of rows) {
      await using directory = await makeTemporaryDirectory();
      const { facts, approvals, call, recorded } = await open(directory.path, { arguments: {} }, client);
      Object.assign(facts, change);
      assert.equal((await approvals.waiting()).calls[0]?.outdated, reason);
      assert.equal((await approvals.call(call))?.outdated, reason);
      const decided = approvals.decideCall(call, "approved", operator);
      if (reason === undefined) {
        assert.equal((await decided)?.id, call);
        continue;
      }
      await assert.rejects(decided, {
        code: "APPROVAL_OUTDATED",
        message: `"${call}" was not approved: an approval would not count, because ${reason}`,
      });
      assert.deepEqual(recorded, []);
      // It can still be denied, and a form asks about the call as it is now.
      assert.equal((await approvals.decideCall(call, "approved", ci, "elicitation"))?.id, call);
      assert.equal((await approvals.decideCall(call, "denied", operator))?.id, call);
    }
  });

  test("record a decision, with the person and the way of it", async () => {
    await using directory = await makeTemporaryDirectory();
    const { approvals, call, recorded } = await open(directory.path);
    await approvals.decideCall(call, "approved", ci, "elicitation");
    await approvals.decideCall(call, "denied", operator);
    assert.equal(await approvals.decideCall("call:0000000000000000", "denied", operator), undefined);
    const named = ({ issuer, subject, name }: Identity) => ({ issuer, subject, name });
    const facts = {
      approval: call,
      client: named(ci),
      tool: id,
      server: "notes",
      argumentsDigest: "sha256:a",
    };
    assert.deepEqual(recorded, [
      { type: "approval.call.granted", data: { ...facts, decidedBy: named(ci), through: "elicitation" } },
      { type: "approval.call.denied", data: { ...facts, decidedBy: named(operator) } },
    ]);
  });

  test("say whether a call has used the approval that a denial ends", async () => {
    await using directory = await makeTemporaryDirectory();
    const { approvals, call, use } = await open(directory.path);
    const approved = await approvals.decideCall(call, "approved", operator);
    assert.ok(approved !== undefined && !("isUsed" in approved));
    await use();
    assert.equal((await approvals.decideCall(call, "denied", operator))?.isUsed, true);
  });

  test("show a call in short, and all of it on demand", async () => {
    const long = { text: "x".repeat(5000) };
    const rows: readonly [args: JsonObject, steps: readonly JsonObject[] | undefined, isPartial: boolean][] =
      [
        [{ token: "curl" }, undefined, false],
        [long, undefined, true],
        [{ a: 1 }, [{ tool: "s:b" }, { tool: "s:c" }], false],
        [{ a: 1 }, [{ tool: "s:b" }, { arguments: long }], true],
        [long, [{ tool: "s:b" }], true],
      ];
    for (const [args, steps, isPartial] of rows) {
      await using directory = await makeTemporaryDirectory();
      const shown = { arguments: args, ...(steps === undefined ? {} : { steps }) };
      const { approvals, call, withoutCalls } = await open(directory.path, shown);
      const [short] = (await approvals.waiting()).calls;
      assert.deepEqual([short?.isPartial, short?.steps?.length], [isPartial, steps?.length]);
      if (!isPartial) assert.deepEqual([short?.arguments, short?.steps], [args, steps]);
      const whole = await approvals.call(call);
      assert.deepEqual([whole?.arguments, whole?.steps, whole?.isPartial], [args, steps, false]);
      assert.equal(await approvals.call("call:0000000000000000"), undefined);
      assert.equal(await withoutCalls.call(call), undefined);
      assert.equal(await withoutCalls.decideCall(call, "approved", operator), undefined);
    }
  });
});

test("policyDigestOf() names the lists and the policy files in force", () => {
  const policy = { filesDigest: undefined as string | undefined };
  const digest = policyDigestOf(() => "sha256:l", policy);
  assert.equal(digest(), "sha256:l");
  policy.filesDigest = "sha256:f";
  assert.equal(digest(), "sha256:l sha256:f");
});
