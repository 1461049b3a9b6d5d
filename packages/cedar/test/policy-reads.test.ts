/** Which requests share a decision: those that differ in nothing that the policies read, and no others. */

import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import cedar from "@cedar-policy/cedar-wasm/nodejs";
import type { PolicyRequest, PolicyTarget } from "@toolcrib/policy";
import { runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { openTestPolicies as open } from "./open-test-policies.ts";
import { callOf, now } from "./test-call.ts";

const minuteMs = 60_000;

const read = callOf({});
const write = callOf({ id: "files:write", name: "write" });
const move = callOf({ id: "files:move", name: "move" });
const readOnly = callOf({ isReadOnly: true });
const inner = callOf({}, { depth: 1 });
const legacy = callOf({}, { era: "legacy" });
const sameHour = callOf({}, { now: now + minuteMs });
const nextHour = callOf({}, { now: now + 60 * minuteMs });

/** How often the engine is asked about `requests`, one after the other, each of which a new engine decides in the same way. */
async function evaluations(policies: string, requests: readonly PolicyRequest[]): Promise<number> {
  const fresh = [];
  for (const request of requests) {
    using one = await open(policies);
    fresh.push(one.decide(request));
  }
  using shared = await open(policies);
  const engine = mock.method(cedar, "statefulIsAuthorized");
  try {
    assert.deepEqual(
      requests.map((request) => shared.decide(request)),
      fresh,
      policies,
    );
    return engine.mock.callCount();
  } finally {
    engine.mock.restore();
  }
}

const permitWhen = (condition: string) =>
  `permit(principal, action == Action::"call", resource is Tool) when { ${condition} };`;
const one = 'Tool::"files:read"';
const server = 'ToolServer::"files"';

describe("a decision about a target", () => {
  it("is shared by targets that no head of a policy names", async () => {
    for (const head of [`== ${one}`, `in ${one}`, `is Tool in ${one}`]) {
      const policies = `permit(principal, action, resource ${head});`;
      assert.equal(await evaluations(policies, [read, write, move]), 2, head);
    }
    for (const head of [`in ${server}`, "is Tool", `is Tool in ${server}`]) {
      const policies = `permit(principal, action, resource ${head});`;
      assert.equal(await evaluations(policies, [read, write, move]), 1, head);
    }
  });

  it("is shared by targets that no condition names", async () => {
    for (const condition of [
      `resource == ${one}`,
      `resource != ${one}`,
      `resource in ${one}`,
      `resource is Tool in ${one}`,
    ]) {
      assert.equal(await evaluations(permitWhen(condition), [read, write, move]), 2, condition);
    }
    for (const condition of [`resource in ${server}`, "resource is Tool", `resource is Tool in ${server}`]) {
      assert.equal(await evaluations(permitWhen(condition), [read, write, move]), 1, condition);
    }
  });

  it("is not shared where a policy reads the target in another way", async () => {
    for (const condition of [
      `[${one}].contains(resource)`,
      `resource in [${one}]`,
      `resource == (if context.depth > 5 then Tool::"files:move" else ${one})`,
      `resource is Tool in (if context.depth > 5 then Tool::"files:move" else ${one})`,
    ]) {
      assert.equal(await evaluations(permitWhen(condition), [read, write, move]), 3, condition);
    }
  });

  it("is not shared where a policy reads a target that it names", async () => {
    const danger = callOf({ id: "files:danger", isDestructive: false });
    for (const condition of [
      'Tool::"files:danger" has destructive',
      'Tool::"files:danger" in ToolServer::"files"',
    ]) {
      assert.equal(await evaluations(permitWhen(condition), [read, danger, write]), 3, condition);
    }
    const resource = (name: string) =>
      callOf({ kind: "resource", id: `files:resources/file:///${name}`, name: `file:///${name}` });
    const policies = `permit(principal, action == Action::"call", resource is Resource)
      when { Resource::"files:resources/file:///b" has name };`;
    assert.equal(await evaluations(policies, [resource("a"), resource("b")]), 2);
  });

  it("is shared by targets with the same attributes, of those that policies read", async () => {
    assert.equal(await evaluations(permitWhen("resource.read_only"), [read, write, readOnly]), 2);
    const either = 'resource.read_only || principal.name == "other"';
    assert.equal(await evaluations(permitWhen(either), [read, write, readOnly]), 2);
    const passedOn = "(if context.depth > 5 then resource else resource).read_only";
    assert.equal(await evaluations(permitWhen(passedOn), [read, readOnly]), 2);
  });
});

describe("a decision about a call", () => {
  it("is shared by calls with the same facts, of those that policies read", async () => {
    assert.equal(await evaluations(permitWhen("context.depth > 0"), [read, inner, legacy, nextHour]), 2);
    assert.equal(await evaluations(permitWhen('context.era == "legacy"'), [read, inner, legacy]), 2);
    const morning = "context.time.hour < 6";
    assert.equal(await evaluations(permitWhen(morning), [read, sameHour, nextHour, inner]), 2);
  });

  it("is not shared where a policy reads the time as a whole", async () => {
    const requests = [read, sameHour, nextHour];
    assert.equal(await evaluations(permitWhen("context.time == context.time"), requests), 3);
  });

  it("is not shared where a policy names the arguments as an entity", async () => {
    const named = (type: string, condition: string) =>
      `permit(principal, action, resource);
      forbid(principal, action == Action::"call", resource) when { context.arguments.hasTag("text") && context.arguments.getTag("text") == "root" };
      forbid(principal, action == Action::"call", resource) when { ${type}::"call".hasTag("text") && ${type}::"call".getTag("text") ${condition} };`;
    const textCalls = ["hello", "/etc/passwd"].map((text) => callOf({}, { args: { text } }));
    assert.equal(await evaluations(named("Arguments", 'like "/etc/*"'), textCalls), 2);
    const numberCalls = [1, 2].map((text) => callOf({}, { args: { text } }));
    assert.equal(await evaluations(named("Integers", "> 1"), numberCalls), 2);
  });

  it("sees arguments that policies name as an entity only", async () => {
    const policies = `permit(principal, action, resource);
      forbid(principal, action == Action::"call", resource) when { Arguments::"call".hasTag("text") };`;
    using opened = await open(policies);
    assert.equal(opened.decide(callOf({}, { args: { text: "hello" } })).kind, "deny");
    assert.equal(opened.decide(callOf({}, { args: { other: "hello" } })).kind, "allow");
  });
});

/** Conditions that are true of some of the requests below: each reads them in another way. */
const atoms = [
  `resource == ${one}`,
  `resource in ${one}`,
  `resource in [${one}, Tool::"files:write"]`,
  `resource is Tool in ${server}`,
  `resource is Tool in Tool::"files:write"`,
  `[${one}].contains(resource)`,
  `resource has read_only && resource.read_only`,
  `${one} has destructive`,
  `${one} has destructive && ${one}.read_only`,
  `Tool::"files:write" in ${server}`,
  `{ of: resource }.of.read_only`,
  `(if context.depth > 0 then resource else ${one}) == resource`,
  `resource.name like "r*"`,
  `resource.server.hasTag("tier") && resource.server.getTag("tier") == "one"`,
  `${server}.hasTag("tier")`,
  `principal.name == "ci"`,
  `Client::"ci" == principal`,
  "context.depth > 0",
  'context.era == "legacy"',
  "context.time.hour < 6",
  "context.time.minute < 7 && context.time == context.time",
  "{ at: context.time }.at.hour < 6",
  'context.labels.contains("personal")',
  "context.labels.containsAll(context.seen_labels)",
  'context.arguments.hasTag("path")',
  'context.arguments.hasTag("path") && context.arguments.getTag("path") like "/etc/*"',
  'context.arguments.hasTag("path") && ["/a", "/etc/b"].contains(context.arguments.getTag("path"))',
  'context.arguments.hasTag("path") && context.arguments.getTag("path") != principal.name',
  "context.arguments.hasTag(principal.name)",
  'Arguments::"call".hasTag("path") && Arguments::"call".getTag("path") like "/etc/*"',
  'Integers::"call".hasTag("count") && Integers::"call".getTag("count") > 1',
  'context.integers.hasTag("count") && context.integers.getTag("count") > 1',
  'context.integers.hasTag("count") && context.integers.getTag("count") * 2 > context.depth',
  '{ of: context.arguments }.of.hasTag("path")',
];

describe("any decision", () => {
  it("is the same after others as it is alone", async () => {
    const condition = fc
      .array(fc.tuple(fc.constantFrom(...atoms), fc.boolean()), { minLength: 1, maxLength: 3 })
      .chain((some) => fc.constantFrom(" && ", " || ").map((join) => some.map(negated).join(join)));
    const policy = fc
      .tuple(fc.constantFrom("permit", "forbid"), condition)
      .map(
        ([effect, body]) =>
          `${effect}(principal, action == Action::"call", resource is Tool) when { ${body} };`,
      );
    const target = fc.record({
      name: fc.constantFrom("read", "write", "move"),
      isReadOnly: fc.boolean(),
      isDestructive: fc.boolean(),
      tier: fc.constantFrom(undefined, "one", "two"),
    });
    const labels = fc.subarray(["personal", "internal"]);
    const call = fc.record({
      depth: fc.nat(2),
      era: fc.constantFrom<"modern" | "legacy">("modern", "legacy"),
      now: fc.constantFrom(now, now + minuteMs, now + 60 * minuteMs),
      labels,
      seenLabels: labels,
      args: fc.record(
        { path: fc.constantFrom("/a", "/etc/a", "/etc/b", "ci"), count: fc.nat(3), ci: fc.boolean() },
        { requiredKeys: [] },
      ),
    });
    const request = fc.tuple(target, call).map(([{ name, tier, ...annotations }, facts]) => {
      const labels: PolicyTarget["server"]["labels"] = tier === undefined ? {} : { tier };
      const other = { ...read.target.server, labels };
      return callOf({ ...annotations, id: `files:${name}`, name, server: other }, facts);
    });
    let decided = 0;
    let allowed = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(policy, { minLength: 1, maxLength: 3 }),
        fc.array(request, { minLength: 8, maxLength: 8 }),
        async (policies, requests) => {
          const text = ["permit(principal, action, resource);", ...policies].join("\n");
          using shared = await open(text);
          for (const one of requests) {
            using fresh = await open(text);
            const decision = shared.decide(one);
            assert.deepEqual(decision, fresh.decide(one), `${text}\n${JSON.stringify(requests)}`);
            decided += 1;
            if (decision.kind === "allow") allowed += 1;
          }
        },
      ),
      { numRuns: runCount(80) },
    );
    assert.ok(allowed > decided / 10 && allowed < decided * 0.9, `${allowed} of ${decided} were allowed`);
  });
});

function negated([condition, isNegated]: readonly [string, boolean]): string {
  return isNegated ? `!(${condition})` : `(${condition})`;
}
