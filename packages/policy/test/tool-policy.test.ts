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

describe("A deny list that names resources of a server", () => {
  const check = (expected: string, pattern: string, id: `${string}:${string}`) =>
    it(`answers "${expected}" for "${id}" where it is "${pattern}"`, () => {
      assert.equal(decided({ deny: [pattern] }, id), expected);
    });
  const normalized = "a:resources/file:///pub/x";
  const other = "a:resources/FILE:///pub/x";
  check("allow default", "a:resources/file:///etc/*", normalized);
  // It matches none of these, and refuses a URI that the server could read as one that it matches.
  check("deny policy.deny", "a:resources/file:///etc/*", other);
  check("deny policy.deny", "a__resources/file:///etc/*", other);
  check("deny policy.deny", "?:resources/file:///etc/*", other);
  check("deny policy.deny", "a:*secret", other);
  check("deny policy.deny", "*etc*", other);
  check("deny policy.deny", "a*etc", other);
  check("deny policy.deny", "*:x/resources/*", other);
  check("deny policy.deny", "a:resources/file:///etc/*", "a:resources/note:a/%41");
  check("allow default", "a:resources/file:///etc/*", "a:resources/note:a/A");
  // These name resources of another server, or tools and prompts.
  check("allow default", "a:resources/file:///etc/*", "b:resources/FILE:///pub/x");
  check("allow default", "b:*secret", other);
  check("allow default", "b*etc", other);
  check("allow default", "*:delete_*", other);
  check("allow default", "a:prompts/*", other);
  check("allow default", "a", other);
  check("allow default", "etc", other);
});

describe("A namespace", () => {
  const check = (expected: boolean, settings: Partial<PolicySettings>) =>
    it(`${expected ? "can be" : "cannot be"} reached under ${JSON.stringify(settings)}`, () => {
      const policy = new ToolPolicy({ allow: undefined, deny: [], clients: {}, ...settings }, []);
      assert.equal(policy.mayReach(localIdentity("token", "ci"), "a"), expected);
    });
  check(true, {});
  check(true, { allow: ["x", "a:b"] });
  check(true, { allow: ["x", "a__b"] });
  check(false, { allow: ["b:*", "ab:*"] });
  check(true, { deny: ["a:b*", "b:*"] });
  check(false, { deny: ["x", "a:*"] });
  check(false, { deny: ["x", "a__*"] });
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

describe("A profile", () => {
  const bound = localIdentity("token", "ci");
  const free = localIdentity("token", "free");
  const policy = new ToolPolicy(
    {
      allow: ["a:*", "b:*"],
      deny: ["a:secret"],
      clients: { ci: { allow: undefined, deny: ["a:own"], profile: "web" } },
      profiles: {
        web: { tools: ["a:*", "toolcrib:x"], servers: ["a", "b", "toolcrib"], exclude: ["a:no"] },
        all: { exclude: [] },
      },
    },
    ["toolcrib:call_tool", "saved:*"],
  );
  const check = (title: string, identity: Identity, expected: { readonly [id: string]: string }) =>
    it(title, () => {
      const found = Object.keys(expected).map((id) => {
        const { kind, rule } = policy.decide(identity, id as `${string}:${string}`, id.replace(":", "__"));
        return [id, `${kind} ${rule}`];
      });
      assert.deepEqual(Object.fromEntries(found), expected);
    });
  const narrowed = {
    "a:b": "allow policy.allow[0]",
    "a:no": "deny profiles.web.exclude[0]",
    "a:secret": "deny policy.deny[0]",
    "b:x": "deny profiles.web.tools",
    "c:x": "deny profiles.web.servers",
    // What every allow list allows is in a profile only where it is one of the tools that show the profile.
    "toolcrib:call_tool": "allow default set",
    "saved:report": "deny profiles.web.servers",
  };

  check("narrows what a client that is bound to it may use", bound, {
    ...narrowed,
    "a:own": "deny policy.clients.ci.deny[0]",
  });
  check("narrows what a client of its endpoint may use", { ...free, profile: "web" }, narrowed);
  check(
    "without tools of its own changes nothing",
    { ...free, profile: "all" },
    {
      "a:b": "allow policy.allow[0]",
      "c:x": "deny policy.allow",
      "saved:report": "allow default set",
    },
  );
  check(
    "that does not exist contains nothing",
    { ...free, profile: "none" },
    {
      "a:b": "deny profiles.none.allow",
    },
  );
  check("leaves other clients alone", free, {
    "a:no": "allow policy.allow[0]",
    "b:x": "allow policy.allow[1]",
    "saved:report": "allow default set",
  });

  it("is that of the endpoint, before the one to which the client is bound", () => {
    const ofEndpoint = { ...bound, profile: "all" };
    assert.deepEqual(
      [bound, ofEndpoint, free].map((identity) => [
        policy.profileOf(identity),
        policy.boundProfileOf(identity),
      ]),
      [
        ["web", "web"],
        ["all", "web"],
        [undefined, undefined],
      ],
    );
  });

  it("is named as the reason, and an allow list is not", () => {
    const reasonOf = (id: `${string}:${string}`) => {
      const decision = policy.decide({ ...free, profile: "web" }, id, "x");
      return decision.kind === "deny" ? decision.reason : decision.kind;
    };
    assert.match(reasonOf("b:x"), /the profile does not contain it \(profiles\.web\.tools\)/);
    const list = policy.decide(free, "c:x", "x");
    assert.match(list.kind === "deny" ? list.reason : "", /no pattern allows it \(policy\.allow\)/);
  });
});

describe("A tool that is switched off", () => {
  it("is refused to everybody by either name, and another one is not", () => {
    const settings = { allow: undefined, deny: [], clients: {} };
    const policy = new ToolPolicy({ ...settings, disabled: ["a:b", "c__*"] }, []);
    const decided = (["a:b", "c:x", "a:c"] as const).map(
      (id) => policy.switchedOff(id, id.replace(":", "__"))?.rule,
    );
    assert.deepEqual(decided, ["switch.tool a:b", "switch.tool c__*", undefined]);
    assert.equal(new ToolPolicy(settings, []).switchedOff("a:b", "a__b"), undefined);
    // The pattern is a word of a shell.
    const hints = (["a:b", "c:x"] as const).map((id) => {
      const decision = policy.switchedOff(id, id.replace(":", "__"));
      return decision?.kind === "deny" ? decision.hint : undefined;
    });
    assert.deepEqual(hints, [
      "the operator can enable it: toolcrib enable tool a:b",
      "the operator can enable it: toolcrib enable tool 'c__*'",
    ]);
  });
});

describe("The reason of a denial", () => {
  it("shows a name whole, and no more than the beginning of a long one", () => {
    const settings = { allow: undefined, deny: ["*"], clients: {}, disabled: ["*"] };
    const policy = new ToolPolicy(settings, []);
    const shownIn = (name: string) => {
      const id = `a:${name}` as const;
      const decisions = [policy.decide(localIdentity("token", "ci"), id, "x"), policy.switchedOff(id, "x")];
      return decisions.map((one) => (one?.kind === "deny" ? /"(a:.*?)"/.exec(one.reason)?.[1] : undefined));
    };
    assert.deepEqual(shownIn("b"), ["a:b", "a:b"]);
    const shown = `a:${"b".repeat(198)}…`;
    assert.deepEqual(shownIn("b".repeat(300)), [shown, shown]);
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
