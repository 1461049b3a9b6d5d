import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ToolPatterns, ToolPolicy } from "@toolcrib/policy";
import { type Identity, identityKey, localIdentity } from "@toolcrib/tool";

type PolicySettings = ConstructorParameters<typeof ToolPolicy>[0];

/** Returns the rule that decides for the client `ci`, after the kind of the decision. */
function decided(settings: Partial<PolicySettings>, id: `${string}:${string}`): string {
  const policy = new ToolPolicy({ allow: undefined, deny: [], clients: {}, ...settings }, [
    "toolcrib:call_tool",
    "saved:*",
  ]);
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
  check("allow default set", { allow: [] }, "toolcrib:call_tool");
  check("allow default set", { allow: [] }, "saved:report");
  check("deny policy.allow", { allow: ["a:*"] }, "toolcrib:save_tool");
  check("allow policy.allow[0]", { allow: ["toolcrib:save_tool"] }, "toolcrib:save_tool");
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
  // A server that uses a URL parser reads `/etc/x` for each of these.
  for (const uri of [
    "file:///e\ttc/x",
    "file:///e\ntc/x",
    "fi\tle:///etc/x",
    "file:/\t/\t/etc/x",
    "file:///pub/.\t./etc/x",
    " file:///etc/x",
    "\0file:///etc/x",
    "file:etc/x",
    "file:./etc/x",
    "file:../etc/x",
    "file:\\etc\\x",
    "file://LOCALHOST./etc/x",
  ]) {
    check("deny policy.deny[0]", { deny: ["a:resources/file:///etc/*"] }, `a:resources/${uri}`);
    check("deny policy.allow", { allow: ["a:resources/file:///pub/*"] }, `a:resources/${uri}`);
  }
  check(
    "deny policy.deny[0]",
    { deny: ["a:resources/https://x.example/a*"] },
    "a:resources/https:x.example/a",
  );
  check(
    "deny policy.deny[0]",
    { deny: ["a:resources/https://x.example/a*"] },
    "a:resources/https:\\X.example./a",
  );
  check(
    "allow policy.allow[0]",
    { allow: ["a:resources/file:///pub/*"] },
    "a:resources/file:///pub/a b%20c?d",
  );
  check(
    "allow policy.allow[0]",
    { allow: ["a:resources/note://Inbox/*"] },
    "a:resources/note://Inbox/ä%C3%A4",
  );
  check("allow policy.allow[0]", { allow: ["a:resources/file:///pub/*"] }, "a:resources/file:///pub/x");
});

describe("The rules of a client", () => {
  const person = { issuer: "https://id.example.com", subject: "17", name: "ci", roles: [] };
  const rules = { allow: undefined, deny: ["a:b"] };
  const check = (
    title: string,
    client: object,
    expected: readonly (readonly [Identity, "allow" | "deny"])[],
  ) =>
    it(title, () => {
      const name = "name" in client ? String(client.name) : "ci";
      const settings = { allow: undefined, deny: [], clients: { [name]: { ...rules, ...client } } };
      const policy = new ToolPolicy(settings, []);
      for (const [identity, kind] of [...expected, ...expected]) {
        assert.equal(policy.decide(identity, "a:b", "a__b").kind, kind, identityKey(identity));
      }
    });

  check("apply to the token of that name, and to no other issuer", {}, [
    [localIdentity("token", "ci"), "deny"],
    [{ ...localIdentity("token", "ci"), name: "another" }, "deny"],
    [{ ...localIdentity("token", "another"), name: "ci" }, "allow"],
    [localIdentity("cli", "ci"), "allow"],
    [person, "allow"],
    [{ ...person, subject: "ci" }, "allow"],
  ]);
  check("apply to a client of Toolcrib itself by its name, and to a token of that name", { name: "cli" }, [
    [localIdentity("cli", "cli"), "deny"],
    [localIdentity("token", "cli"), "deny"],
    [localIdentity("library", "cli"), "allow"],
    [{ ...person, name: "cli", subject: "cli" }, "allow"],
  ]);
  check("apply to an issuer and a subject where they state them", { identity: person }, [
    [person, "deny"],
    [{ ...person, name: "renamed" }, "deny"],
    [{ ...person, subject: "18" }, "allow"],
    [{ ...person, issuer: "https://id.example.org" }, "allow"],
    [localIdentity("token", "ci"), "allow"],
  ]);
  check(
    "do not confuse issuers and subjects that join to the same text",
    { identity: { issuer: "a", subject: "b:c" } },
    [
      [{ ...person, issuer: "a", subject: "b:c" }, "deny"],
      [{ ...person, issuer: "a:b", subject: "c" }, "allow"],
    ],
  );

  it("apply together where two names state one identity", () => {
    const clients = {
      one: { allow: ["a:*"], deny: [], identity: person },
      two: { allow: undefined, deny: ["a:b"], identity: person },
    };
    const policy = new ToolPolicy({ allow: undefined, deny: [], clients }, []);
    const decided = (["a:b", "a:c", "b:c"] as const).map((id) => policy.decide(person, id, "x").rule);
    assert.deepEqual(decided, [
      "policy.clients.two.deny[0]",
      "policy.clients.one.allow[0]",
      "policy.clients.one.allow",
    ]);
  });

  it("apply to the identity as it is now, if a program reuses its object", () => {
    const policy = new ToolPolicy({ allow: undefined, deny: [], clients: { ci: rules } }, []);
    const reused = { ...localIdentity("token", "free") };
    assert.equal(policy.decide(reused, "a:b", "a__b").kind, "allow");
    assert.equal(policy.decide(Object.assign(reused, { subject: "ci" }), "a:b", "a__b").kind, "deny");
  });
});

describe("ToolPatterns", () => {
  it("returns position and text of the first pattern that matches either name", () => {
    const patterns = new ToolPatterns(["x", "a__?", "a:*"]);
    assert.deepEqual(patterns.find("a:b", "a__b"), { at: 1, text: "a__?" });
    assert.deepEqual(patterns.find("a:bc", "a__bc"), { at: 2, text: "a:*" });
    assert.equal(patterns.find("b:a", "b__a"), undefined);
  });
});
