/** Decisions of policies, one by one. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CallFacts, PolicyRequest, PolicyTarget } from "@toolcrib/policy";
import { localIdentity } from "@toolcrib/tool";
import { openTestPolicies as open } from "./open-test-policies.ts";

const tool: PolicyTarget = {
  kind: "tool",
  id: "github:merge",
  name: "merge",
  wireName: "github__merge",
  server: {
    id: "github",
    transport: "stdio",
    trustState: "verified",
    mutabilityClass: "unknown",
    labels: { team: "core" },
  },
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

const callOf = (args: CallFacts["args"] = {}, target: PolicyTarget = tool, client = "ci"): PolicyRequest => ({
  identity: localIdentity("token", client),
  action: "call",
  target,
  call: { ...facts, args },
});

describe("CedarPolicies", () => {
  it("refuses halves of surrogate pairs before the engine, which each of them would damage", async () => {
    using policies = await open(
      'permit(principal, action, resource); forbid(principal, action == Action::"call", resource == Tool::"other:tool") when { context.arguments.hasTag("path") && context.arguments.getTag("path") like "/etc/*" };',
    );
    for (let turn = 0; turn < 3000; turn += 1) {
      const decision = policies.decide(callOf({ path: `\ud800${turn}` }));
      assert.match(decision.kind === "deny" ? decision.reason : "", /half of a surrogate pair/, String(turn));
    }
    assert.equal(policies.decide(callOf({ path: "/tmp/a" })).kind, "allow");
    assert.equal(policies.decide(callOf({ path: "/tmp/\u{1f600}" })).kind, "allow");
  });

  it("denies what no policy permits, and names the file's rule that forbids", async () => {
    using none = await open("");
    const denied = none.decide(callOf());
    assert.equal(denied.kind, "deny");
    assert.match(
      denied.kind === "deny" ? denied.reason : "",
      /"ci" may not use "github:merge": no policy permits it/,
    );
    using policies = await open(
      'permit(principal, action, resource);\n@id("no") @message("Ask first") forbid(principal, action == Action::"call", resource);',
    );
    const decision = policies.decide(callOf());
    assert.deepEqual(decision, {
      kind: "deny",
      code: "POLICY_DENIED",
      reason: '"ci" may not use "github:merge": the policy "no" forbids it (main.cedar#no)',
      rule: "main.cedar#no",
      message: "Ask first",
    });
    const { call: _call, ...request } = callOf();
    const listed = none.decide({ ...request, action: "list" });
    assert.equal(
      listed.kind === "deny" && listed.hint,
      'toolcrib why "github:merge" shows what would allow it',
    );
    assert.deepEqual(policies.decide({ ...request, action: "list" }), {
      kind: "allow",
      rule: "main.cedar#1",
    });
  });

  it("distinguishes a local client from one of an identity provider with the same name", async () => {
    using policies = await open('permit(principal == Client::"ci", action, resource);');
    assert.equal(policies.decide(callOf()).kind, "allow");
    const foreign = { issuer: "https://id.example.com", subject: "ci", name: "ci", roles: [] };
    assert.equal(policies.decide({ ...callOf(), identity: foreign }).kind, "deny");
    using other = await open('permit(principal == Client::"https://id.example.com ci", action, resource);');
    assert.equal(other.decide({ ...callOf(), identity: foreign }).kind, "allow");
    assert.equal(other.decide(callOf()).kind, "deny");
  });

  it("denies where a policy cannot be evaluated, also a forbid", async () => {
    using policies = await open(
      'permit(principal, action, resource); @id("sum") forbid(principal, action == Action::"call", resource) when { context.integers.hasTag("n") && context.integers.getTag("n") * 9223372036854775807 > 0 };',
    );
    assert.equal(policies.decide(callOf({ n: 0 })).kind, "allow");
    const decision = policies.decide(callOf({ n: 5 }));
    assert.match(
      decision.kind === "deny" ? decision.reason : "",
      /the policy "sum" cannot be evaluated: integer overflow/,
    );
  });

  it("denies an argument in a form that a policy about the call cannot judge", async () => {
    using policies = await open(
      `permit(principal, action, resource);
       @id("etc") forbid(principal, action == Action::"call", resource in ToolServer::"github") when { context.arguments.hasTag("path") && context.arguments.getTag("path") like "/etc/*" };
       @id("much") forbid(principal, action == Action::"call", resource in ToolServer::"github") when { context.integers.hasTag("amount") && context.integers.getTag("amount") > 1000 };`,
    );
    const check = (args: CallFacts["args"], expected: RegExp | "allow", target = tool) => {
      const decision = policies.decide(callOf(args, target));
      if (expected === "allow") assert.equal(decision.kind, "allow", JSON.stringify(args));
      else assert.match(decision.kind === "deny" ? decision.reason : "allowed", expected);
    };
    check({ path: "/tmp/x", amount: 1000 }, "allow");
    check({ path: null, amount: null, other: [1] }, "allow");
    check({ path: "/etc/passwd" }, /the policy "etc" forbids it/);
    check({ path: ["/etc/passwd"] }, /cannot judge its argument "path", which is not a short text/);
    check({ path: { toString: "/etc/passwd" } }, /cannot judge its argument "path"/);
    check({ path: "x".repeat(16_384) }, "allow");
    check({ path: "x".repeat(16_385) }, /cannot judge its argument "path"/);
    check({ amount: 1001 }, /the policy "much" forbids it/);
    check({ amount: 1000.5 }, /cannot judge its argument "amount", which is not a whole number/);
    check({ amount: "1001" }, /cannot judge its argument "amount"/);
    check({ amount: 1e300 }, /cannot judge its argument "amount"/);
    // The policies are not about the tools of another server.
    check({ path: [], amount: "x" }, "allow", { ...tool, id: "x:y", server: { ...tool.server, id: "x" } });
    check({ __proto__: null, constructor: "x" }, "allow");
  });

  it("decides about names of objects as about any other argument", async () => {
    using policies = await open(
      'permit(principal, action == Action::"call", resource) when { !context.arguments.hasTag("constructor") && !context.arguments.hasTag("__proto__") };',
    );
    assert.equal(policies.decide(callOf()).kind, "allow");
    assert.equal(policies.decide(callOf({ constructor: "x" })).kind, "deny");
    assert.equal(policies.decide(callOf(JSON.parse('{"__proto__": "x"}'))).kind, "deny");
  });

  it("refuses a URI that is not normalized where policies compare URIs", async () => {
    const resource = (name: string): PolicyTarget => ({
      ...tool,
      kind: "resource",
      id: `github:resources/${name}`,
      name,
    });
    using policies = await open(
      'permit(principal, action, resource); forbid(principal, action, resource is Resource) when { resource.name like "file:///etc/*" };',
    );
    assert.equal(policies.decide(callOf({}, resource("file:///tmp/x"))).kind, "allow");
    assert.equal(policies.decide(callOf({}, resource("file:///etc/x"))).kind, "deny");
    const decision = policies.decide(callOf({}, resource("file:///tmp/../etc/x")));
    assert.match(decision.kind === "deny" ? decision.reason : "", /not normalized \(RFC 3986\)/);
    using open_ = await open("permit(principal, action, resource);");
    assert.equal(open_.decide(callOf({}, resource("file:///tmp/../etc/x"))).kind, "allow");
  });

  it("sees a tool that changed, although it has the same id", async () => {
    using policies = await open("permit(principal, action, resource) when { resource.read_only };");
    assert.equal(policies.decide(callOf({}, { ...tool, isReadOnly: true })).kind, "allow");
    assert.equal(policies.decide(callOf({}, tool)).kind, "deny");
    using whole = await open(
      "permit(principal, action, resource) when { [resource].contains(resource) && resource.read_only };",
    );
    assert.equal(whole.decide(callOf({}, { ...tool, isReadOnly: true })).kind, "allow");
    assert.equal(whole.decide(callOf({}, tool)).kind, "deny");
  });

  it("decides about each tool that policies name, although nothing else about them differs", async () => {
    using policies = await open(
      'permit(principal, action, resource == Tool::"github:merge"); permit(principal == Client::"dev", action, resource == Tool::"github:close");',
    );
    const close = { ...tool, id: "github:close" } as const;
    assert.equal(policies.decide(callOf()).kind, "allow");
    assert.equal(policies.decide(callOf({}, close)).kind, "deny");
    assert.equal(policies.decide(callOf({}, close, "dev")).kind, "allow");
  });

  it("says what was refused: to use a tool, to save it, or to approve its call", async () => {
    using policies = await open("");
    const { call: _call, ...request } = callOf();
    for (const [action, verb] of [
      ["list", "use"],
      ["save", "save"],
      ["approve", "approve"],
    ] as const) {
      const decision = policies.decide({ ...request, action });
      assert.match(decision.kind === "deny" ? decision.reason : "", new RegExp(`^"ci" may not ${verb} "`));
    }
  });

  it("names the tools and prompts that its policies name, and nothing else", async () => {
    using policies = await open(
      `permit(principal == Client::"ci", action, resource == Tool::"github:merge");
       permit(principal, action, resource == Prompt::"github:prompts/plan");
       permit(principal, action, resource == Resource::"github:resources/file:///x");
       permit(principal, action, resource in ToolServer::"github");`,
    );
    assert.deepEqual(policies.namedTargets(), [
      { rule: "main.cedar#1", ids: ["github:merge"] },
      { rule: "main.cedar#2", ids: ["github:prompts/plan"] },
      { rule: "main.cedar#3", ids: [] },
      { rule: "main.cedar#4", ids: [] },
    ]);
  });

  it("reports whether a client can reach anything of a server", async () => {
    using policies = await open(
      'permit(principal == Client::"ci", action, resource in ToolServer::"github"); permit(principal == Client::"dev", action, resource == Tool::"x:y"); permit(principal, action == Action::"save", resource);',
    );
    const reach = (client: string, id: string) =>
      policies.mayReach(localIdentity("token", client), { ...tool.server, id });
    assert.deepEqual(
      [reach("ci", "github"), reach("ci", "files"), reach("anonymous", "github")],
      [true, false, false],
    );
    assert.equal(reach("dev", "files"), true, "which server the named tool is of is not known");
  });

  it("waives approvals by an annotation of a permit that applies", async () => {
    using policies = await open(
      '@approval("waived") permit(principal == Client::"ci", action, resource); permit(principal, action, resource);',
    );
    assert.deepEqual(policies.decide(callOf()), {
      kind: "allow",
      rule: "main.cedar#1",
      waivesApproval: true,
    });
    assert.deepEqual(policies.decide(callOf({}, tool, "dev")), { kind: "allow", rule: "main.cedar#2" });
  });

  it("reports reach by any kind of target, and by a permit only", async () => {
    using prompts = await open("permit(principal, action, resource is Prompt);");
    assert.equal(prompts.mayReach(localIdentity("token", "ci"), tool.server), true);
    using none = await open("forbid(principal, action, resource);");
    assert.equal(none.mayReach(localIdentity("token", "ci"), tool.server), false);
  });

  it("reports reach by a list of actions only where one of them is a call", async () => {
    const reaches = async (actions: string) => {
      using policies = await open(`permit(principal, action in [${actions}], resource);`);
      return policies.mayReach(localIdentity("token", "ci"), tool.server);
    };
    assert.equal(await reaches('Action::"list", Action::"call"'), true);
    assert.equal(await reaches('Action::"list", Action::"save"'), false);
  });

  it("reports that a decision depends on arguments by the kind of what is called", async () => {
    using policies = await open(
      'permit(principal, action == Action::"call", resource is Prompt) when { context.arguments.hasTag("a") };',
    );
    const prompt: PolicyTarget = { ...tool, kind: "prompt", id: "github:prompts/plan", name: "plan" };
    assert.equal(policies.dependsOnArguments(callOf()), false);
    assert.equal(policies.dependsOnArguments(callOf({}, prompt)), true);
  });

  it("reports that a decision depends on arguments only for the server of a policy about tools", async () => {
    const dependsOn = async (server: string) => {
      using policies = await open(
        `permit(principal, action == Action::"call", resource is Tool in ToolServer::"${server}") when { context.arguments.hasTag("a") };`,
      );
      return policies.dependsOnArguments(callOf());
    };
    assert.deepEqual([await dependsOn("github"), await dependsOn("files")], [true, false]);
  });

  it("reports that a decision depends on arguments where one of several policies reads them", async () => {
    const reads = 'when { context.arguments.hasTag("a") }';
    using policies = await open(
      `permit(principal == Client::"ci", action == Action::"call", resource) ${reads}; permit(principal == Client::"dev", action == Action::"call", resource) ${reads};`,
    );
    assert.equal(policies.dependsOnArguments(callOf()), true);
    assert.equal(policies.dependsOnArguments(callOf({}, tool, "anonymous")), false);
  });

  it("decides anew about a call that differs in any fact that a policy reads", async () => {
    const rows: readonly (readonly [condition: string, change: Partial<CallFacts>])[] = [
      ["context.depth == 0", { depth: 1 }],
      ['context.parent == ""', { parentTool: "toolcrib:eval_starlark" }],
      ['context.era == "modern"', { era: "legacy" }],
      ['!context.labels.contains("personal")', { labels: ["personal"] }],
      ['!context.seen_labels.contains("personal")', { seenLabels: ["personal"] }],
      ["context.time.hour == 0", { now: 3_600_000 }],
      ['!context.arguments.hasTag("a")', { args: { a: "x" } }],
      ['!context.integers.hasTag("a")', { args: { a: 1 } }],
    ];
    for (const [condition, change] of rows) {
      using policies = await open(
        `permit(principal, action == Action::"call", resource) when { ${condition} };`,
      );
      const kinds = [facts, { ...facts, ...change }, facts].map(
        (call) => policies.decide({ ...callOf(), call }).kind,
      );
      assert.deepEqual(kinds, ["allow", "deny", "allow"], condition);
    }
  });

  it("reads a changed name of a client, and arguments whose names are not written in a policy", async () => {
    using named = await open('permit(principal, action, resource) when { principal.name == "new" };');
    const renamed = (name: string) => ({ ...callOf(), identity: { ...localIdentity("token", "ci"), name } });
    assert.equal(named.decide(renamed("old")).kind, "deny");
    assert.equal(named.decide(renamed("new")).kind, "allow");
    using dynamic = await open(
      'permit(principal, action == Action::"call", resource) when { context.arguments.hasTag(resource.name) };',
    );
    assert.equal(dynamic.decide(callOf({ merge: "x" })).kind, "allow");
    assert.equal(dynamic.decide(callOf({ other: "x" })).kind, "deny");
    using timed = await open(
      'permit(principal, action == Action::"call", resource) when { context.time has hour && context.time.hour < 12 };',
    );
    assert.equal(timed.decide(callOf()).kind, "allow");
    assert.equal(timed.decide({ ...callOf(), call: { ...facts, now: 13 * 3_600_000 } }).kind, "deny");
    using whole = await open(
      'permit(principal, action == Action::"call", resource) when { context.integers.hasTag(resource.name) };',
    );
    assert.equal(whole.decide(callOf({ merge: 1 })).kind, "allow");
    assert.equal(whole.decide(callOf({ other: 1 })).kind, "deny");
  });

  it("remembers a bounded number of clients", async () => {
    using policies = await open("permit(principal, action, resource);");
    const ask = (name: string) => policies.mayReach(localIdentity("token", name), tool.server);
    for (let count = 1; count <= 1000; count += 1) {
      assert.ok(ask(`client-${count}`));
      assert.equal(policies.seenClients().length, count);
    }
    assert.ok(ask("another"));
    assert.deepEqual(
      policies.seenClients().map(({ id }) => id),
      ["another"],
    );
  });
});
