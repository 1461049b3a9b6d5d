/** Decisions of the lists and the policy files together, and the attributes of clients. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AccessPolicy,
  createClientAttributes,
  type FilePolicies,
  type PolicyServer,
  type PolicyTarget,
  ToolPatterns,
  ToolPolicy,
} from "@toolcrib/policy";
import { localIdentity } from "@toolcrib/tool";

const ci = localIdentity("token", "ci");
const server = { id: "a" } as PolicyServer;

/** A policy of lists, and files that allow everything or nothing. */
function policyOf(
  lists: {
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
    readonly disabled?: readonly string[];
  },
  files?: "allow" | "deny",
): AccessPolicy<PolicyTarget> {
  const { allow, deny = [], disabled } = lists;
  const settings = { allow, deny, disabled, clients: {} };
  const denied = { kind: "deny", code: "POLICY_DENIED", reason: "", rule: "files", hint: "" } as const;
  const filePolicies: FilePolicies | undefined =
    files === undefined
      ? undefined
      : {
          digest: "sha256:0",
          isDown: files === "deny",
          decide: () => (files === "allow" ? { kind: "allow", rule: "files" } : denied),
          mayReach: () => files === "allow",
        };
  return new AccessPolicy(new ToolPolicy(settings, []), { targetOf: (target) => target }, filePolicies);
}

const subject = { id: "a:x", wireName: "a__x", server } as unknown as PolicyTarget;

test("both the lists and the files must allow", () => {
  const check = (
    lists: Parameters<typeof policyOf>[0],
    files: "allow" | "deny" | undefined,
    rule: string,
  ) => {
    const decision = policyOf(lists, files).decide(ci, subject, "list");
    assert.equal(`${decision.kind} ${decision.rule}`, rule);
  };
  check({}, undefined, "allow default");
  check({}, "allow", "allow files");
  check({}, "deny", "deny files");
  check({ deny: ["a:x"] }, "allow", "deny policy.deny[0]");
  assert.deepEqual(
    [policyOf({}).hasFiles, policyOf({}, "deny").hasFiles, policyOf({}, "deny").filesDigest],
    [false, true, "sha256:0"],
  );
  assert.deepEqual(
    [undefined, "allow", "deny"].map((files) => policyOf({}, files as never).isDown),
    [false, false, true],
  );
  assert.deepEqual(
    [policyOf({}, "deny"), policyOf({}, "allow"), policyOf({ deny: ["a:x"] }, "allow"), policyOf({})].map(
      (policy) => [policy.mayAllow(ci, subject), policy.allowsListing(ci, subject)],
    ),
    [
      [false, false],
      [true, true],
      [false, false],
      [true, true],
    ],
  );
});

test("a tool that is switched off is refused, as such only to those who may use it", () => {
  const decided = (...args: Parameters<typeof policyOf>) => {
    const policy = policyOf(...args);
    return [policy.decide(ci, subject, "call").rule, policy.mayAllow(ci, subject)];
  };
  const disabled = ["a:x"];
  assert.deepEqual(decided({ disabled }), ["switch.tool a:x", false]);
  assert.deepEqual(decided({ disabled }, "allow"), ["switch.tool a:x", false]);
  assert.deepEqual(decided({ disabled }, "deny"), ["files", false]);
  assert.deepEqual(decided({ disabled, deny: ["a:x"] }, "allow"), ["policy.deny[0]", false]);
  assert.deepEqual(decided({ disabled: ["a:y"] }, "allow"), ["files", true]);
});

test("a source is reached where no list excludes all of it", () => {
  const reaches = (
    lists: Parameters<typeof policyOf>[0],
    namespace: string | undefined = "a",
    files?: "allow" | "deny",
  ) => policyOf(lists, files).mayReach(ci, namespace, () => server);
  for (const deny of ["a:*", "a__*", "*", "*:*"]) assert.equal(reaches({ deny: [deny] }), false, deny);
  for (const deny of ["a:x", "a:x*", "b:*", "ab:*"]) assert.equal(reaches({ deny: [deny] }), true, deny);
  for (const allow of ["a:x", "a:*", "*", "a*", "?:x", "a__x"]) {
    assert.equal(reaches({ allow: [allow] }), true, allow);
  }
  for (const allow of ["b:x", "b*", "ab:x", "a", "b__x"])
    assert.equal(reaches({ allow: [allow] }), false, allow);
  assert.equal(reaches({ allow: ["a:*"], deny: ["a:*"] }), false);
  assert.equal(reaches({ allow: ["a*z:x"] }, "abc"), true, "a name in it can end in z:x");
  assert.equal(reaches({}, "a", "deny"), false);
  const policy = new ToolPolicy({ allow: ["b:*"], deny: [], clients: {} }, []);
  assert.deepEqual(
    ["a", "b", "a", "b"].map((namespace) => policy.mayReach(ci, namespace)),
    [false, true, false, true],
    "also when it is asked again",
  );
  const layered = new ToolPolicy(
    { allow: undefined, deny: [], clients: { ci: { allow: ["b:*"], deny: [] } } },
    [],
  );
  assert.deepEqual(
    [layered.mayReach(ci, "a"), layered.mayReach(localIdentity("token", "dev"), "a")],
    [false, true],
  );
});

test("a pattern finds a resource in any spelling, and a tool by either name", () => {
  const patterns = new ToolPatterns(["a:resources/file:///etc/*", "a__x"]);
  assert.equal(
    patterns.findInAny("a:resources/file:///tmp/../etc/x", "a__resources/file:///tmp/../etc/x")?.at,
    0,
  );
  assert.equal(patterns.findInAny("a:x", "a__x")?.at, 1);
});

test("the roles of a client are those of the configuration and of its identity", () => {
  const attributesOf = createClientAttributes({ ci: { roles: ["robot"], labels: { team: "web" } } });
  assert.deepEqual(attributesOf(ci), { roles: ["robot"], labels: { team: "web" } });
  assert.deepEqual(attributesOf({ ...ci, roles: ["operator"] }).roles, ["operator", "robot"]);
  const foreign = { issuer: "https://id.example.com", subject: "ci", name: "ci", roles: [] };
  assert.deepEqual(attributesOf(foreign).roles, []);
});
