import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type PolicySettings, ToolPatterns, ToolPolicy } from "@toolcrib/policy";
import { localIdentity } from "@toolcrib/tool";

/** Returns the rule that decides for the client `ci`, after the kind of the decision. */
function decided(settings: Partial<PolicySettings>, id: `${string}:${string}`): string {
  const policy = new ToolPolicy({ allow: undefined, deny: [], clients: {}, ...settings }, ["toolcrib"]);
  const { kind, rule } = policy.decide(localIdentity("token", "ci"), id, id.replace(":", "__"));
  return `${kind} ${rule}`;
}

describe("ToolPolicy", () => {
  const check = (expected: string, settings: Partial<PolicySettings>, id: `${string}:${string}`) =>
    it(`answers "${expected}" for "${id}" under ${JSON.stringify(settings)}`, () => {
      assert.equal(decided(settings, id), expected);
    });

  check("allow default", {}, "a:b");
  check("deny policy.allow", { allow: [] }, "a:b");
  check("allow policy.allow[1]", { allow: ["x", "a:*"] }, "a:b");
  check("allow policy.allow[0]", { allow: ["a__b"] }, "a:b");
  check("deny policy.deny[0]", { allow: ["a:*"], deny: ["*:b"] }, "a:b");
  check("allow own tool", { allow: [] }, "toolcrib:call_tool");
  check("deny policy.deny[0]", { deny: ["toolcrib:*"] }, "toolcrib:call_tool");
  check("deny policy.allow", { allow: [] }, "toolcribs:call_tool");
  const ci = (allow: readonly string[] | undefined, deny: readonly string[]) => ({
    clients: { ci: { allow, deny } },
  });
  check("deny policy.clients.ci.deny[0]", { allow: ["a:*"], ...ci(undefined, ["a:b"]) }, "a:b");
  check("deny policy.allow", { allow: [], ...ci(["a:b"], []) }, "a:b");
  check("allow policy.clients.ci.allow[0]", { allow: ["a:*"], ...ci(["a:b"], []) }, "a:b");
  check("allow default", { clients: { other: { allow: [], deny: ["*"] } } }, "a:b");
  check("deny policy.deny[0]", { deny: ["a:resources/file:///etc/*"] }, "a:resources/FILE:/pub/../%65tc/x");
  check("deny policy.allow", { allow: ["a:resources/file:///pub/*"] }, "a:resources/file:///pub/../etc/x");
  check("allow policy.allow[0]", { allow: ["a:resources/file:///pub/*"] }, "a:resources/file:///pub/x");
});

describe("ToolPatterns", () => {
  it("returns position and text of the first pattern that matches either name", () => {
    const patterns = new ToolPatterns(["x", "a__?", "a:*"]);
    assert.deepEqual(patterns.find("a:b", "a__b"), { at: 1, text: "a__?" });
    assert.deepEqual(patterns.find("a:bc", "a__bc"), { at: 2, text: "a:*" });
    assert.equal(patterns.find("b:a", "b__a"), undefined);
  });
});
