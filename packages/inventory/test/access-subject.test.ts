/** The subjects of policies: the names of tools that are not in the index and of features, and their source. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type AccessSubject,
  createGatewayPolicy,
  featureSubject,
  subjectOfId,
  unknownSubject,
} from "@toolcrib/inventory";
import type { PolicyTarget } from "@toolcrib/policy";
import { localIdentity, type Tool } from "@toolcrib/tool";

/** The facts about a source that is not known. */
const { facts: plain } = subjectOfId("none:x", "none__x", []);

test("a tool that is not listed has the names of its source, and that of a package its toolId alone", () => {
  const check = (facts: object, expected: readonly [id: string, wireName: string]) => {
    const { id, wireName, source } = unknownSubject({ id: "src", facts: { ...plain, ...facts } }, "run");
    assert.deepEqual([id, wireName, source], [...expected, { id: "src" }]);
  };
  check({}, ["src:run", "src__run"]);
  check({ namespace: "demo" }, ["demo:run", "demo__run"]);
  check({ namespace: "demo.run", isSingleTool: true }, ["demo.run:run", "demo.run"]);
});

test("a tool by its id belongs to the source of its namespace, and otherwise to none that is known", () => {
  const entries = [
    { id: "one", facts: { ...plain, namespace: "demo" } },
    { id: "demo", facts: { ...plain, namespace: "other" } },
    { id: "two", facts: plain },
  ];
  const found = (["demo:run", "other:run", "two:run", "one:run"] as const).map((id) => {
    const { source, facts } = subjectOfId(id, "x", entries);
    return [source.id, entries.findIndex((entry) => entry.facts === facts)];
  });
  assert.deepEqual(found, [
    ["one", 0],
    ["demo", 1],
    ["two", 2],
    // Of no source: it has the facts of one that is not known.
    ["one", 2],
  ]);
});

test("a resource is named by its source and its URI", () => {
  const { id, wireName, feature } = featureSubject({ id: "src", facts: plain }, "resources", "file:///a");
  assert.deepEqual([id, wireName], ["src:resources/file:///a", "src__resources/file:///a"]);
  assert.deepEqual(feature, { kind: "resources", name: "file:///a" });
});

/** Returns what policy files see of a tool; of one without a namespace, the definition is not known. */
function targetOf(facts: object, namespace: string | undefined, annotations = {}): PolicyTarget {
  const policy = createGatewayPolicy({ allow: undefined, deny: [], clients: {} });
  const seen: PolicyTarget[] = [];
  policy.replaceFiles({
    digest: "sha256:0",
    isDown: false,
    decide({ target }) {
      seen.push(target);
      return { kind: "allow", rule: "files" };
    },
    mayReach: () => true,
  });
  const tool = { namespace, tags: [], origin: "server", definition: { name: "run", annotations } };
  const subject: AccessSubject = {
    id: "src:run",
    wireName: "src__run",
    source: { id: "src" },
    facts: { ...plain, ...facts },
    tool: namespace === undefined ? undefined : (tool as unknown as Tool),
  };
  assert.equal(policy.decide(localIdentity("cli", "cli"), subject, "list").kind, "allow");
  return seen[0] ?? assert.fail();
}

test("a tool whose definition is not known is believed to do anything, and one without a server what it says", () => {
  const believed = (target: PolicyTarget) => [
    target.isReadOnly,
    target.isDestructive,
    target.isIdempotent,
    target.isOpenWorld,
  ];
  assert.deepEqual(believed(targetOf({}, undefined)), [false, true, false, true]);
  const reading = { readOnlyHint: true, openWorldHint: false };
  assert.deepEqual(believed(targetOf({}, "demo", reading)), [true, false, true, false]);
  const trust = { trustState: "unverified", mutabilityClass: "unknown" };
  assert.deepEqual(believed(targetOf({ trust }, "demo", reading)), [false, true, false, true]);
});

test("policy files see the source that the operator declared, or the namespace of the tool", () => {
  const check = (facts: object, namespace: string | undefined, expected: string) => {
    const { server } = targetOf(facts, namespace);
    assert.equal(`${server.id} ${server.transport} ${server.trustState} ${server.mutabilityClass}`, expected);
  };
  check({}, undefined, "src none none unknown");
  check({}, "demo", "demo none none unknown");
  check({}, "", "src none none unknown");
  check({ isOwn: true }, "demo", "toolcrib none none unknown");
  check({ isComposite: true }, "demo", "saved none none unknown");
  const trust = { trustState: "verified", mutabilityClass: "read_only" };
  check(
    { configured: { group: "servers", transport: "stdio" }, trust },
    "demo",
    "src stdio verified read_only",
  );
  check({ configured: { group: "toolspecs", transport: "toolspec" } }, "demo", "src https none unknown");
});
