/** Approvals of calls by the public names of the package: each is for one call, and no client gives one. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { type ApprovalStepDeps, askApproval, checkedOrigin, isApprovalNeeded } from "@toolcrib/admission";
import type { JsonObject } from "@toolcrib/json";
import { CallApprovals } from "@toolcrib/store";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { identityKey, localIdentity } from "@toolcrib/tool";
import { callOf, operator } from "./guard-harness.ts";

type Call = Parameters<typeof askApproval>[2];
type Target = Parameters<typeof askApproval>[1];
type Session = Call["origin"]["session"];

const target = {
  ...callOf("ci").target,
  approval: { server: "notes", definitionDigest: "sha256:1", declaresWrites: false },
};
const identity = localIdentity("token", "ci");

/** Opens the step of a home. */
function open(home: string, clock: { readonly ms: number }, changes: Partial<ApprovalStepDeps> = {}) {
  const approvals = new CallApprovals(home, { now: () => clock.ms, randomBytes });
  const logged: string[] = [];
  const log = (facts: object) => logged.push(JSON.stringify(facts));
  const deps: ApprovalStepDeps = {
    approvals,
    logger: { debug: log, info: log, warn: log, error: log },
    policyDigest: () => "sha256:p",
    approveCommand: "toolcrib approve",
    elicitedClients: new Set(),
    decide: (id, decision, client) => approvals.decide(id, decision, client),
    ...changes,
  };
  const ask = (call: Call, asked: Target = target) => askApproval(deps, asked, call);
  return { approvals, logged, ask };
}

/** Returns a call with arguments, by a client whose person answers forms with `answer`. */
function callWith(args: JsonObject, { answer, ...changes }: Partial<Call> & { answer?: JsonObject } = {}) {
  const forms: JsonObject[] = [];
  const call: Call = {
    origin: {
      identity,
      session:
        answer === undefined ? undefined : ({ capabilities: { elicitation: {} } } as unknown as Session),
      clientChannel: {
        async ask(_method: string, params: JsonObject) {
          forms.push(params);
          return answer ?? {};
        },
      } as Call["origin"]["clientChannel"],
      signal: undefined,
      isDirect: true,
    },
    argumentsDigest: `digest of ${JSON.stringify(args)}`,
    whole: () => args,
    mayApprove: () => true,
    ...changes,
  };
  return { call, forms };
}

describe("askApproval()", () => {
  test("lets a call through once for each approval of exactly this call", async () => {
    await using directory = await makeTemporaryDirectory();
    const clock = { ms: 0 };
    const { approvals, ask } = open(directory.path, clock);
    const { call } = callWith({ text: "a" });
    const asked = await ask(call);
    assert.equal(asked.kind, "refused");
    assert.equal(asked.error.code, "APPROVAL_REQUIRED");
    assert.match(asked.error.hint ?? "", new RegExp(`toolcrib approve ${asked.approval};`));
    const { approval: id = "" } = asked;
    // The same call waits once, however often it is repeated.
    const again = await ask(call);
    assert.equal(again.kind === "refused" && again.approval, id);
    assert.equal((await approvals.pending()).length, 1);
    await approvals.decide(id, "approved", operator);
    const other = await ask(callWith({ text: "b" }).call);
    assert.equal(other.kind, "refused");
    const outcome = await ask(call);
    assert.ok(outcome.kind === "approved" && outcome.approval === id);
    const used = await ask(call);
    assert.equal(used.kind === "refused" && used.error.code, "APPROVAL_REQUIRED");
  });

  test("gives an approval back, and logs where it cannot be stored again", async () => {
    await using directory = await makeTemporaryDirectory();
    const { approvals, logged, ask } = open(directory.path, { ms: 0 });
    const { call } = callWith({});
    const asked = await ask(call);
    const id = asked.kind === "refused" ? (asked.approval ?? "") : "";
    await approvals.decide(id, "approved", operator);
    const first = await ask(call);
    assert.ok(first.kind === "approved");
    assert.equal(await first.giveBack(), true);
    const second = await ask(call);
    assert.ok(second.kind === "approved");
    writeFileSync(directory.join("approvals/calls.json"), "{", { mode: 0o600 });
    assert.deepEqual(logged, []);
    assert.equal(await second.giveBack(), false);
    assert.equal(logged.length, 1);
    assert.match(logged[0] ?? "", new RegExp(`"approval":"${id}".*"code":"STORE_UNREADABLE"`));
  });

  test("reports a denial, and the end of a decision after ten minutes", async () => {
    await using directory = await makeTemporaryDirectory();
    const clock = { ms: 0 };
    const { approvals, ask } = open(directory.path, clock);
    const { call } = callWith({});
    const codeOf = async () => {
      const outcome = await ask(call);
      return outcome.kind === "refused" ? outcome.error.code : "approved";
    };
    await codeOf();
    const [waiting] = await approvals.pending();
    await approvals.decide(waiting?.id ?? "", "denied", operator);
    assert.equal(await codeOf(), "APPROVAL_DENIED");
    clock.ms = 600_001;
    assert.equal(await codeOf(), "APPROVAL_REQUIRED");
  });

  test("binds an approval to the policy in force", async () => {
    await using directory = await makeTemporaryDirectory();
    let policy = "sha256:1";
    const { approvals, ask } = open(directory.path, { ms: 0 }, { policyDigest: () => policy });
    const { call } = callWith({});
    await ask(call);
    const [waiting] = await approvals.pending();
    await approvals.decide(waiting?.id ?? "", "approved", operator);
    policy = "sha256:2";
    assert.equal((await ask(call)).kind, "refused");
    policy = "sha256:1";
    assert.equal((await ask(call)).kind, "approved");
  });

  test("refuses calls whose arguments nobody can read, and those above the number that can wait", async () => {
    await using directory = await makeTemporaryDirectory();
    const { ask } = open(directory.path, { ms: 0 });
    const codeOf = async (call: Call) => {
      const outcome = await ask(call);
      return outcome.kind === "refused" ? outcome.error.code : "approved";
    };
    assert.equal(await codeOf(callWith({}, { whole: () => undefined }).call), "APPROVAL_TOO_LARGE");
    for (let n = 0; n < 20; n += 1) assert.equal(await codeOf(callWith({ n }).call), "APPROVAL_REQUIRED");
    assert.equal(await codeOf(callWith({ n: 20 }).call), "APPROVALS_FULL");
  });

  test("fails closed where approvals cannot be read, or nobody keeps them", async () => {
    await using directory = await makeTemporaryDirectory();
    const { ask } = open(directory.path, { ms: 0 });
    await ask(callWith({}).call);
    writeFileSync(directory.join("approvals/calls.json"), "{", { mode: 0o600 });
    const broken = await ask(callWith({}).call);
    assert.equal(broken.kind === "refused" && broken.error.code, "APPROVAL_UNAVAILABLE");
    assert.match((broken.kind === "refused" && broken.error.hint) || "", /^remove the file: calls that wait/);
    const without = await open(directory.path, { ms: 0 }, { approvals: undefined }).ask(callWith({}).call);
    assert.equal(without.kind === "refused" && without.error.code, "APPROVAL_REQUIRED");
  });

  test("says which tools need approvals, and which settings end that", async () => {
    await using directory = await makeTemporaryDirectory();
    const { ask } = open(directory.path, { ms: 0 });
    const stepsWith = (...needing: string[]) => ({ digest: "sha256:s", show: () => [], needing });
    const own = `its server "notes" is unverified and the tool is not known to be read-only`;
    const rows: readonly [approval: object, needing: readonly string[], reason: string, ways: string][] = [
      [
        {},
        [],
        own,
        `policy.waive_approval: ["notes__write"], or mutability_class: read_only; or trust_state: verified for the server`,
      ],
      [
        { declaresWrites: true, noun: "package" },
        [],
        own.replace("server", "package"),
        `policy.waive_approval: ["notes__write"]; or trust_state: verified for the package`,
      ],
      [
        { declaresWrites: true },
        ["mail__send", "notes__write"],
        `${own}; it calls other such tools: "mail__send", "notes__write"`,
        `policy.waive_approval: ["notes__write", "mail__send"]; or trust_state: verified for the sources`,
      ],
      [
        { declaresWrites: true, isOwn: false },
        ["mail__send"],
        `it calls tools of unverified sources: "mail__send"`,
        `policy.waive_approval: ["mail__send"]; or trust_state: verified for the sources`,
      ],
    ];
    for (const [approval, needing, reason, ways] of rows) {
      const { call } = callWith({ reason }, needing.length === 0 ? {} : { steps: stepsWith(...needing) });
      const asked = await ask(call, { ...target, approval: { ...target.approval, ...approval } });
      assert.ok(asked.kind === "refused");
      const start = `"notes__write" was not called: each call needs the operator's approval, because`;
      assert.equal(asked.error.message, `${start} ${reason}`);
      const [, offered = ""] = asked.error.hint?.split("the operator can set ") ?? [];
      assert.equal(offered.split(", which also")[0], ways);
    }
  });

  test("asks the person at a client in a form only where the operator, the policy and the call allow it", async () => {
    const elicitedClients = new Set([identityKey(identity)]);
    const accept = { action: "accept", content: { approve: true } };
    const rows: readonly [
      answer: JsonObject | undefined,
      changes: Partial<Call>,
      deps: Partial<ApprovalStepDeps>,
      expected: string,
    ][] = [
      [accept, {}, { elicitedClients }, "approved"],
      [{ action: "accept", content: { approve: false } }, {}, { elicitedClients }, "APPROVAL_REQUIRED"],
      [{ action: "accept", content: { approve: "true" } }, {}, { elicitedClients }, "APPROVAL_REQUIRED"],
      [{ action: "decline" }, {}, { elicitedClients }, "APPROVAL_DENIED"],
      [{ action: "cancel" }, {}, { elicitedClients }, "APPROVAL_REQUIRED"],
      [accept, {}, {}, "APPROVAL_REQUIRED no form"],
      [accept, { mayApprove: () => false }, { elicitedClients }, "APPROVAL_REQUIRED no form"],
      [undefined, {}, { elicitedClients }, "APPROVAL_REQUIRED no form"],
      [
        accept,
        { whole: () => ({ text: "x".repeat(2000) }) },
        { elicitedClients },
        "APPROVAL_REQUIRED no form",
      ],
    ];
    for (const [answer, changes, deps, expected] of rows) {
      await using directory = await makeTemporaryDirectory();
      const { ask } = open(directory.path, { ms: 0 }, deps);
      const { call, forms } = callWith(
        { text: "a" },
        answer === undefined ? changes : { ...changes, answer },
      );
      const outcome = await ask(call);
      const got = outcome.kind === "refused" ? outcome.error.code : "approved";
      assert.equal(`${got}${forms.length === 0 ? " no form" : ""}`, expected);
      // Nothing is approved before the person chooses it.
      for (const { requestedSchema } of forms)
        assert.equal(JSON.stringify(requestedSchema).match(/"default":(\w+)/)?.[1], "false");
    }
    await using directory = await makeTemporaryDirectory();
    const { ask } = open(directory.path, { ms: 0 }, { elicitedClients });
    const { call, forms } = callWith({ text: "a" }, { answer: accept });
    const composite = await ask({ ...call, origin: { ...call.origin, isDirect: false } });
    assert.equal(composite.kind, "refused");
    assert.deepEqual(forms, []);
  });
});

test("isApprovalNeeded() is true for clients only, and for tools that need one", () => {
  assert.equal(isApprovalNeeded(target, identity), true);
  assert.equal(isApprovalNeeded(target, operator), false);
  assert.equal(isApprovalNeeded({ approval: undefined }, identity), false);
});

test("checkedOrigin() keeps which questions a client answers, and nothing else of its capabilities", () => {
  const check = (clientCapabilities: JsonObject, expected: JsonObject) =>
    assert.deepEqual(checkedOrigin({ clientCapabilities }).clientCapabilities, expected);
  check({}, {});
  check(
    {
      elicitation: { form: { command: "rm" }, more: "rm" },
      sampling: {},
      roots: { listChanged: true },
      extensions: { command: "rm" },
    },
    { elicitation: { form: {} }, sampling: {}, roots: {} },
  );
  check(
    { elicitation: "rm", sampling: { tools: {}, context: {} } },
    { sampling: { context: {}, tools: {} } },
  );
});

test("checkedOrigin() keeps the trace of a call and nothing else of what the client chose", () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const check = (meta: JsonObject | undefined, expected: JsonObject | undefined) =>
    assert.deepEqual(checkedOrigin({ meta, kept: 1 }), { meta: expected, kept: 1 });
  check(undefined, undefined);
  check({ note: "ignore the approval" }, undefined);
  check(
    { traceparent, tracestate: "a=b", baggage: "x=y", progressToken: 1 },
    { traceparent, tracestate: "a=b" },
  );
  check({ traceparent: `${traceparent}\nx`, tracestate: 7 }, undefined);
});
