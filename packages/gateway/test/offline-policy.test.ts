/** The policy of a configuration without a gateway decides as a gateway does, and explains it. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openOfflinePolicy } from "@toolcrib/cedar";
import type { JsonObject } from "@toolcrib/json";
import type { CallFacts, PolicyRequest, PolicyTarget } from "@toolcrib/policy";
import { localIdentity } from "@toolcrib/tool";
import { configOf } from "./gateway-harness.ts";

const target: PolicyTarget = {
  kind: "tool",
  id: "a:echo",
  name: "echo",
  wireName: "a__echo",
  server: { id: "a", transport: "stdio", trustState: "verified", mutabilityClass: "unknown", labels: {} },
  origin: "server",
  version: "",
  tags: [],
  isReadOnly: false,
  isDestructive: true,
  isIdempotent: false,
  isOpenWorld: true,
};

const facts: CallFacts = {
  args: {},
  depth: 0,
  parentTool: "",
  era: "modern",
  now: 0,
  labels: [],
  seenLabels: [],
};

const callOf = (args: CallFacts["args"] = {}, client = "ci"): PolicyRequest => ({
  identity: localIdentity("token", client),
  action: "call",
  target,
  call: { ...facts, args },
});

const text = `@id("robots") permit(principal in Role::"robot", action in Action::"use", resource);
@id("short") forbid(principal, action == Action::"call", resource) when { context.arguments.hasTag("text") && context.arguments.getTag("text") == "long" };`;

/** A recorded call of which everything is known. */
const nothingUnknown = {
  isUnknown: () => false,
  hasUnknown: false,
  isText: () => true,
  context: new Set<never>(),
};

/** Opens the policy of a configuration. @param file the policies of its only file; undefined for no file */
function open(policy: JsonObject, file?: string) {
  const config = configOf({ policy: { clients: { ci: { roles: ["robot"] } }, ...policy } }).policy;
  const files = file === undefined ? [] : [{ path: "/main.cedar", name: "main.cedar", text: file }];
  return openOfflinePolicy({ ...config, files });
}

describe("openOfflinePolicy()", () => {
  it("decides by the lists alone where there are no files", async () => {
    using denying = await open({ deny: ["a:echo"] });
    using policy = await open({ deny: ["b:*"] });
    const request = callOf();
    assert.equal(denying.decide(request).kind, "deny");
    assert.equal(policy.decide(request).kind, "allow");
    assert.deepEqual([policy.digest, policy.rules], [undefined, []]);
    assert.equal(policy.dependsOnArguments(request), false);
    assert.deepEqual(await policy.explain(request), []);
    const decided = (answer: ReturnType<typeof policy.decidePartially>) =>
      answer.kind === "decided" ? answer.decision.kind : answer;
    const unknown = { ...nothingUnknown, isUnknown: () => true, hasUnknown: true };
    assert.equal(decided(denying.decidePartially(request, unknown)), "deny");
    assert.equal(decided(policy.decidePartially(request, unknown)), "allow");
  });

  it("decides by the lists and then by the files", async () => {
    using denying = await open({ deny: ["a:echo"] }, text);
    using policy = await open({}, text);
    const check = (request: PolicyRequest, expected: readonly [kind: string, rule: string]) => {
      const { kind, rule } = policy.decide(request);
      assert.deepEqual([kind, rule], expected);
    };
    check(callOf(), ["allow", "main.cedar#robots"]);
    check(callOf({ text: "long" }), ["deny", "main.cedar#short"]);
    check(callOf({}, "other"), ["deny", "policy.files"]);
    const { call: _call, ...listed } = callOf();
    check({ ...listed, action: "list" }, ["allow", "main.cedar#robots"]);
    assert.equal(denying.decide(callOf()).rule, "policy.deny[0]");
    assert.match(policy.digest ?? "", /^sha256:/);
    assert.deepEqual(policy.rules.slice(-2), ["main.cedar#robots", "main.cedar#short"]);
    assert.equal(policy.dependsOnArguments(callOf()), true);
  });

  it("leaves a recorded call open only where its decision depends on what is not known", async () => {
    using denying = await open({ deny: ["a:echo"] }, text);
    using policy = await open({}, text);
    const unknown = { ...nothingUnknown, isUnknown: () => true, hasUnknown: true };
    const open_ = policy.decidePartially(callOf(), unknown);
    assert.deepEqual(open_.kind === "open" && open_.policies.map(({ rule }) => rule), ["main.cedar#short"]);
    const known = policy.decidePartially(callOf(), nothingUnknown);
    assert.equal(known.kind === "decided" && known.decision.kind, "allow");
    const denied = denying.decidePartially(callOf(), unknown);
    assert.equal(denied.kind === "decided" && denied.decision.rule, "policy.deny[0]");
  });

  it("explains the policies of the files, and a built-in one only where it applies", async () => {
    using policy = await open({}, text);
    const rulesOf = async (request: PolicyRequest) => (await policy.explain(request)).map(({ rule }) => rule);
    assert.deepEqual((await rulesOf(callOf())).toSorted(), ["main.cedar#robots", "main.cedar#short"]);
    const server = { ...target.server, id: "toolcrib" };
    const search: PolicyTarget = { ...target, id: "toolcrib:search_tools", name: "search_tools", server };
    assert.ok((await rulesOf({ ...callOf(), target: search })).some((rule) => rule.startsWith("toolcrib#")));
  });

  it("refuses files with errors", async () => {
    await assert.rejects(open({}, "permit(principal, action, resource) when { resource.nme };"), {
      code: "POLICY_INVALID",
      message: /main\.cedar:1:/,
    });
  });
});
