/** Decisions about requests of which some facts are not known: always those about the whole request. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openPartialDecisions, parsePolicies } from "@toolcrib/cedar";
import type { PolicyRequest } from "@toolcrib/policy";
import { runCount } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import fc from "fast-check";
import { openTestPolicies } from "./open-test-policies.ts";
import { attributes, policyArbitrary, requestArbitrary, toCedar } from "./policy-reference.ts";

async function open(text: string) {
  const { value } = await parsePolicies([{ name: "main.cedar", text }]);
  assert.ok(value);
  const attributesOf = ({ name }: { readonly name: string }) => attributes[name] ?? { roles: [], labels: {} };
  return openPartialDecisions(value, { attributesOf });
}

type PartialDecisions = Awaited<ReturnType<typeof openPartialDecisions>>;
type UnknownFacts = Parameters<PartialDecisions["decide"]>[1];

const request: PolicyRequest = {
  identity: localIdentity("token", "ci"),
  action: "call",
  target: {
    kind: "tool",
    id: "notes:echo",
    name: "echo",
    wireName: "notes__echo",
    server: {
      id: "notes",
      transport: "stdio",
      trustState: "verified",
      mutabilityClass: "unknown",
      labels: {},
    },
    origin: "server",
    version: "",
    tags: [],
    isReadOnly: false,
    isDestructive: true,
    isIdempotent: false,
    isOpenWorld: true,
  },
  call: { args: {}, depth: 0, parentTool: "", era: "modern", now: 0, labels: [], seenLabels: [] },
};

const unknownAbout = (argument: string, more: Partial<UnknownFacts> = {}): UnknownFacts => ({
  isUnknown: (name) => name === argument,
  hasUnknown: true,
  isText: () => false,
  context: new Set(),
  ...more,
});

const about = (effect: string, condition: string) =>
  `@id("x") ${effect}(principal, action == Action::"call", resource) when { ${condition} };`;
const long = 'context.arguments.hasTag("text") && context.arguments.getTag("text") like "long*"';
const all = "permit(principal, action, resource);";

test("a request is decided where no unknown fact can change the decision, and otherwise the facts are named", async () => {
  const check = async (text: string, expected: string, unknown = unknownAbout("text")) => {
    using policies = await open(text);
    const partial = policies.decide(request, unknown);
    const found =
      partial.kind === "decided"
        ? `${partial.decision.kind} ${partial.decision.rule}`
        : partial.policies.map(({ rule, reads }) => `${rule}: ${reads.join(", ")}`).join("; ");
    assert.equal(found, expected, text);
  };
  const text = 'main.cedar#x: context.arguments.getTag("text")';
  await check(about("forbid", long), "deny policy.files");
  await check(`${all} ${about("forbid", long)}`, text);
  await check(about("permit", long), text);
  await check(about("permit", `${long} && resource.read_only`), "deny policy.files");
  await check(`${all} ${about("forbid", long)}`, "allow main.cedar#1", unknownAbout("other"));
  await check(
    `${all} ${about("forbid", long)} @id("no") forbid(principal, action, resource);`,
    "deny main.cedar#no",
  );
  // An argument that is not a text denies, unless the record shows that it is one.
  const never = `${all} ${about("forbid", `resource.read_only && ${long}`)}`;
  await check(never, text);
  await check(never, "allow main.cedar#1", unknownAbout("text", { isText: () => true }));
  await check(
    `${all} ${about("permit", long)}`,
    "allow main.cedar#1",
    unknownAbout("text", { isText: () => true }),
  );
  const era = unknownAbout("", { hasUnknown: false, context: new Set(["era"]) });
  await check(`${all} ${about("forbid", 'context.era == "legacy"')}`, "main.cedar#x: context.era", era);
  await check(
    `${all} ${about("forbid", 'context.era == "legacy" && resource.read_only')}`,
    "allow main.cedar#1",
    era,
  );
  // Arithmetic can overflow, and what fails denies.
  const sum = 'context.integers.hasTag("n") && context.integers.getTag("n") * 2 > 7 && resource.read_only';
  await check(
    `${all} ${about("permit", sum)}`,
    'main.cedar#x: context.integers.getTag("n")',
    unknownAbout("n", { isText: () => true }),
  );
});

test("a partial decision is the decision about every request with these facts", async () => {
  let decided = 0;
  let left = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(policyArbitrary, { maxLength: 6 }),
      fc.array(requestArbitrary, { minLength: 20, maxLength: 20 }),
      fc.subarray(["path", "q", "amount", "n"], { minLength: 1 }),
      async (policies, requests, hidden) => {
        await nextTurn();
        const text = policies.map(toCedar).join("\n");
        using whole = await openTestPolicies(text);
        using partial = await open(text);
        for (const one of requests) {
          const { call } = one;
          if (call === undefined) continue;
          const args = Object.fromEntries(
            Object.entries(call.args).filter(([name]) => !hidden.includes(name)),
          );
          const unknown = { ...unknownAbout(""), isUnknown: (name: string) => hidden.includes(name) };
          const found = partial.decide({ ...one, call: { ...call, args } }, unknown);
          if (found.kind === "open") left += 1;
          else {
            decided += 1;
            assert.equal(found.decision.kind, whole.decide(one).kind, `${JSON.stringify(one)}\n${text}`);
          }
        }
      },
    ),
    { numRuns: runCount(30) },
  );
  assert.ok(decided > 0, `${decided} were decided, ${left} not`);
});
