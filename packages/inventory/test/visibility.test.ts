/** The servers that a client can see: those of which it may use something, and those that may offer it something later. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type HeldFeature, holdNothing } from "@toolcrib/admission";
import {
  createGatewayPolicy,
  type IndexedTool,
  type RosterEntry,
  subjectOfId,
  Visibility,
} from "@toolcrib/inventory";
import type { JsonObject } from "@toolcrib/json";
import { checkFeatures, localIdentity, type Tool, type ToolSource, toToolId } from "@toolcrib/tool";

const ann = localIdentity("token", "ann");
const bob = localIdentity("token", "bob");
const operator = localIdentity("cli", "cli");
const { facts: plain } = subjectOfId("none:x", "none__x", []);

/** What a server lists and what of it is held back. */
interface Lists {
  readonly tools?: readonly string[];
  /** The only client for which its tools are listed. */
  readonly listedFor?: Tool["listedFor"];
  readonly resources?: readonly string[];
  readonly templates?: readonly string[];
  readonly prompts?: readonly string[];
  readonly heldTools?: readonly string[];
  readonly held?: readonly Pick<HeldFeature, "kind" | "name">[];
  readonly facts?: object;
  /** Whether it can offer resources and prompts. @default true */
  readonly hasFeatures?: boolean;
}

/** Returns what clients see of servers, of which "ann" may use what `allow` and `deny` say, and "bob" everything. */
function open(servers: { readonly [id: string]: Lists }, settings: { allow?: string[]; deny?: string[] }) {
  const toolOf = (sourceId: string, name: string, listedFor?: Tool["listedFor"]): Tool => ({
    id: toToolId(sourceId, name),
    namespace: sourceId,
    tags: [],
    origin: "server",
    sourceId,
    definition: { name, inputSchema: { type: "object" } },
    ...(listedFor === undefined ? {} : { listedFor }),
  });
  const entries = Object.entries(servers).map(([id, lists]): RosterEntry => {
    const { resources = [], templates = [], prompts = [], held = [], facts, hasFeatures = true } = lists;
    const list = (member: string, values: readonly string[]): readonly JsonObject[] =>
      values.map((value) => ({ name: value, [member]: value }));
    const features = checkFeatures(id, {
      capabilities: () => ({}),
      instructions: () => undefined,
      resources: () => list("uri", resources),
      resourceTemplates: () => list("uriTemplate", templates),
      prompts: () => list("name", prompts),
      request: async () => ({}),
      async watch() {},
      async unwatch() {},
    });
    const isListing = held.some(({ kind }) => kind === "resources");
    // Resources that wait are in the lists of the source alone.
    const offered = isListing ? { ...features, resources: () => [] } : features;
    const waiting = held.map((one) => ({ ...one, sourceId: id })) as unknown as readonly HeldFeature[];
    return {
      id,
      source: { id, features } as unknown as ToolSource,
      facts: { ...plain, namespace: id, ...facts },
      features: hasFeatures ? { ...holdNothing(offered), held: () => waiting } : undefined,
    };
  });
  const entryOf = (id: string) => entries.find((one) => one.id === id) ?? assert.fail(id);
  const indexed = (id: string, tool: Tool) => {
    const { source, facts } = entryOf(id);
    return { id: tool.id, wireName: tool.id.replace(":", "__"), tool, source, facts, code: "X", reason: "x" };
  };
  const index = {
    toolsOf: (id: string) =>
      (servers[id]?.tools ?? []).map((name) =>
        indexed(id, toolOf(id, name, servers[id]?.listedFor)),
      ) as unknown as readonly IndexedTool[],
    quarantined: Object.entries(servers).flatMap(([id, { heldTools = [], listedFor }]) =>
      heldTools.map((name) => indexed(id, toolOf(id, name, listedFor))),
    ),
  };
  const { allow, deny = [] } = settings;
  const policy = createGatewayPolicy({ allow: undefined, deny: [], clients: { ann: { allow, deny } } });
  const visibility = new Visibility({ index: index as never, policy, roster: { entries } });
  return { visibility, quarantined: index.quarantined };
}

const files = ["file:///a"];

describe("isVisible()", () => {
  for (const [what, lists, allow, expected] of [
    ["a tool that it may use", { tools: ["b", "a"] }, ["s:a"], true],
    ["tools that it may not use", { tools: ["b", "c"] }, ["s:a"], false],
    ["a tool that is listed for another client", { tools: ["a"], listedFor: bob }, ["s:a"], false],
    ["a tool that is listed for it", { tools: ["a"], listedFor: ann }, ["s:a"], true],
    ["a resource", { resources: ["file:///b", ...files] }, ["s:resources/file:///a"], true],
    ["another resource", { resources: ["file:///b"] }, ["s:resources/file:///a"], false],
    ["a template", { templates: ["x:{b}", "x:{a}"] }, ["s:resources/x:{a}"], true],
    ["another template", { templates: ["x:{b}"] }, ["s:resources/x:{a}"], false],
    ["a prompt", { prompts: ["b", "a"] }, ["s:prompts/a"], true],
    ["another prompt", { prompts: ["b"] }, ["s:prompts/a"], false],
    ["a prompt with the name of a resource", { prompts: ["a"] }, ["s:resources/a"], false],
    ["nothing yet", {}, ["s:a"], true],
    ["nothing ever", { hasFeatures: false }, ["s:a"], true],
    ["nothing, of another server", {}, ["t:a"], false],
    ["a tool of another server", { tools: ["a"] }, ["t:a"], false],
    ["tools, of a server without resources", { tools: ["b"], hasFeatures: false }, ["s:a"], false],
    ["a tool that waits", { heldTools: ["b", "a"] }, ["s:a"], true],
    ["another tool that waits", { heldTools: ["b"] }, ["s:a"], false],
    ["a tool that waits, listed for another", { heldTools: ["a"], listedFor: bob }, ["s:a"], false],
    ["a prompt that waits", { held: [{ kind: "prompt", name: "a" }] }, ["s:prompts/a"], true],
    ["another prompt that waits", { held: [{ kind: "prompt", name: "b" }] }, ["s:prompts/a"], false],
    [
      "a prompt that waits with the name of a resource",
      { held: [{ kind: "prompt", name: "a" }] },
      ["s:resources/a"],
      false,
    ],
    [
      "a template that waits",
      { held: [{ kind: "resourceTemplate", name: "x:{a}" }] },
      ["s:resources/x:{a}"],
      true,
    ],
    ["instructions alone", { held: [{ kind: "instructions", name: "instructions" }] }, ["s:a"], true],
    [
      "instructions, and tools that it may not use",
      { tools: ["b"], held: [{ kind: "instructions", name: "instructions" }] },
      ["s:a"],
      false,
    ],
    [
      "resources that wait",
      { resources: ["file:///b", ...files], held: [{ kind: "resources", name: "resources" }] },
      ["s:resources/file:///a"],
      true,
    ],
    [
      "other resources that wait",
      { resources: ["file:///b"], held: [{ kind: "resources", name: "resources" }] },
      ["s:resources/file:///a"],
      false,
    ],
  ] satisfies [string, Lists, string[], boolean][]) {
    test(`${expected ? "shows" : "hides"} a server that lists ${what}`, () => {
      const { visibility } = open({ s: lists, other: { heldTools: ["a"], tools: ["a"] } }, { allow });
      assert.equal(visibility.isVisible(ann, "s"), expected);
      assert.equal(visibility.isVisible(operator, "s"), true);
      assert.equal(visibility.isVisible(bob, "s"), "listedFor" in lists ? !expected : true);
    });
  }

  test("hides what a rule denies, and a server of that name also where nobody has one", () => {
    const { visibility } = open({ s: {}, t: {} }, { deny: ["s:*"] });
    assert.equal(visibility.isVisible(ann, "s"), false);
    assert.equal(visibility.isVisible(ann, "t"), true);
    const none = open({}, { allow: ["s:a"] }).visibility;
    assert.deepEqual([none.mayReach(ann, "s"), none.mayReach(ann, "t")], [true, false]);
  });

  test("goes by the namespace of the tools of a source", () => {
    const { visibility } = open({ src: { facts: { namespace: "demo" } } }, { allow: ["demo:a"] });
    assert.equal(visibility.mayReach(ann, "src"), true);
    const other = open({ demo: { facts: { namespace: "other" } } }, { allow: ["demo:a"] }).visibility;
    assert.equal(other.mayReach(ann, "demo"), false);
  });
});

describe("mayList()", () => {
  test("is true for what the client could list once it is approved, and always for the operator", () => {
    const { visibility, quarantined } = open(
      { s: { heldTools: ["a", "b"], tools: ["a"], resources: files }, t: { tools: ["c"] } },
      { allow: ["s:a", "s:prompts/a", "s:resources/file:///a"] },
    );
    const [a, b] = quarantined;
    assert.ok(a !== undefined && b !== undefined);
    const gone = { ...a, tool: { ...a.tool, sourceId: "gone" } };
    for (const [held, expected] of [
      [a, true],
      [b, false],
      [gone, false],
      [{ sourceId: "s", kind: "prompt", name: "a" }, true],
      [{ sourceId: "s", kind: "prompt", name: "b" }, false],
      [{ sourceId: "s", kind: "resource", name: "file:///a" }, true],
      [{ sourceId: "s", kind: "resource", name: "a" }, false],
      [{ sourceId: "s", kind: "resources", name: "resources" }, true],
      [{ sourceId: "t", kind: "resources", name: "resources" }, false],
      [{ sourceId: "s", kind: "instructions", name: "instructions" }, true],
      [{ sourceId: "t", kind: "instructions", name: "instructions" }, false],
      [{ sourceId: "gone", kind: "prompt", name: "a" }, false],
    ] as const) {
      assert.equal(visibility.mayList(ann, held), expected, JSON.stringify(held));
      assert.equal(visibility.mayList(operator, held), true);
    }
  });
});
