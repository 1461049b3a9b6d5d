/** Names of tools: what they are on the wire, which cannot be told apart, and that nothing but the configuration decides. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SourceChange, Tool, ToolDefinition, ToolSource } from "@toolcrib/tool";
import { createToolIndex, type QuarantinedTool, type ToolIndex } from "../src/index/tool-index.ts";
import { foldName, toWireName, wireNameMaxLength } from "../src/index/wire-name.ts";
import { toolNamed } from "./gateway-harness.ts";

/** A source whose tools a test sets. */
interface TestSource extends ToolSource {
  /** List these from now on, as new objects. */
  set(...definitions: readonly (string | ToolDefinition)[]): void;
}

function sourceOf(id: string, origin: ToolSource["origin"] = "server"): TestSource {
  const listeners = new Set<(change: SourceChange) => void>();
  let tools: readonly Tool[] = [];
  return {
    id,
    origin,
    start: async () => {},
    tools: () => tools,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    call: async () => ({ content: [] }),
    health: () => ({ state: "ready", since: 0 }),
    set(...definitions) {
      tools = definitions
        .map((one) => structuredClone(typeof one === "string" ? toolNamed(one) : one))
        .map((definition) => ({
          id: `${id}:${definition.name}`,
          namespace: id,
          tags: [],
          origin,
          sourceId: id,
          definition,
        }));
      for (const listener of listeners) listener({ kind: "tools" });
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** An index of `sources`, with what it quarantined and which sources it said to have changed. */
function indexOf(sources: readonly ToolSource[]) {
  const quarantined: QuarantinedTool[] = [];
  const changes: string[][] = [];
  const index = createToolIndex({ onQuarantine: (tool) => void quarantined.push(tool) });
  index.onChange((ids) => void changes.push([...ids].sort()));
  for (const source of sources) index.add(source);
  return { index, quarantined, changes };
}

const namesIn = (index: ToolIndex) => index.tools.map(({ wireName }) => wireName);

describe("toWireName()", () => {
  const long = "a-rather-long-name-of-a-tool-that-nobody-would-want-to-write-twice";
  const cases: readonly (readonly [namespace: string, name: string, wireName: string])[] = [
    ["files", "read", "files__read"],
    ["", "read", "read"],
    ["a.b-c", "Get_Issue.v2", "a.b-c__Get_Issue.v2"],
    ["files", "read file/now: ünïcode", "files__read_file_now___n_code"],
    ["files", "x".repeat(57), `files__${"x".repeat(57)}`],
    ["files", "x".repeat(58), `files__${"x".repeat(48)}_efd8a93d`],
    ["files", long, "files__a-rather-long-name-of-a-tool-that-nobody-would-w_d12d8f2a"],
    ["files", `${long}!`, "files__a-rather-long-name-of-a-tool-that-nobody-would-w_2f993ff7"],
  ];
  for (const [namespace, name, wireName] of cases) {
    it(`makes "${wireName}"`, () => {
      const made = toWireName(namespace, name);
      assert.equal(made, wireName);
      assert.ok(made.length <= wireNameMaxLength);
    });
  }
});

describe("foldName()", () => {
  const equal: readonly (readonly [string, string])[] = [
    ["files__read", "Files__READ"],
    ["read_file", "read-file"],
    ["read_file", "read.file"],
    ["read__file", "read_file"],
    ["read", "re\u200dad"],
    ["read", "rеad"],
    ["send", "ѕend"],
    ["scope", "sсоре"],
    ["tool", "t00l"],
    ["list", "1ist"],
    ["cafe", "café"],
    ["read", "ｒｅａｄ"],
    ["file", "ﬁle"],
  ];
  for (const [a, b] of equal) {
    it(`takes "${a}" and "${b}" for one`, () => assert.equal(foldName(a), foldName(b)));
  }
  for (const [a, b] of [
    ["read", "reed"],
    ["getUser", "get_user"],
    ["a_b", "ab"],
    ["list", "lists"],
  ] as const) {
    it(`tells "${a}" from "${b}"`, () => assert.notEqual(foldName(a), foldName(b)));
  }
});

describe("the index", () => {
  it("quarantines the later of two tools that cannot be told apart, and names both", () => {
    const a = sourceOf("a");
    const b = sourceOf("a_b");
    const { index, quarantined } = indexOf([a, b]);
    // A Cyrillic letter, other separators, another case, and the same name on the wire.
    a.set("read", "rеad", "rea-d", "REA_D", "two words", "two_words", "b_c", "other");
    b.set("c", "read");
    assert.deepEqual(namesIn(index), [
      "a__read",
      "a__rea-d",
      "a__two_words",
      "a__b_c",
      "a__other",
      "a_b__read",
    ]);
    const reason = (later: string, first: string) =>
      `"${later}" cannot be told from "${first}", which was declared first`;
    assert.deepEqual(
      index.quarantined.map((one) => one.reason),
      [
        reason("a:rеad", "a:read"),
        reason("a:REA_D", "a:rea-d"),
        reason("a:two_words", "a:two words"),
        reason("a_b:c", "a:b_c"),
      ],
    );
    assert.equal(index.find("a_b:c"), undefined);
    assert.deepEqual(
      index.search.search("two words").map(({ id }) => id),
      ["a:two words"],
    );
    // Each was told once, and is back when what stood before it is gone.
    a.set("read", "rеad", "rea-d", "REA_D", "two words", "two_words", "other");
    assert.equal(quarantined.length, 4);
    assert.ok(namesIn(index).includes("a_b__c"));
  });

  it("gives the same names in the same order, whichever source starts first and however often", () => {
    const lists = [
      ["read", "write"],
      ["read", "x".repeat(80), "x".repeat(81)],
      ["Odd Name", "odd-name", "odd name"],
      ["one", "two", "three"],
    ];
    const outcomes = new Set<string>();
    for (const order of permutationsOf([0, 1, 2, 3])) {
      const sources = ["a", "B", "c-d", "c_d"].map((id) => sourceOf(id));
      const { index } = indexOf(sources);
      for (const at of order) sources[at]?.set(...(lists[at] as string[]));
      for (const at of order.toReversed()) sources[at]?.set(...(lists[at] as string[]));
      outcomes.add(JSON.stringify([namesIn(index), index.quarantined, index.search.size]));
    }
    assert.equal(outcomes.size, 1);
  });

  it("finds a tool by id, by wire name and by its source's own name", () => {
    const files = sourceOf("files");
    const own = sourceOf("toolcrib", "meta");
    const { index } = indexOf([own, files]);
    own.set("search_tools");
    files.set("read me", "y".repeat(100));
    const entry = index.find("files:read me");
    assert.equal(entry?.wireName, "files__read_me");
    assert.equal(index.find("files__read_me"), entry);
    assert.equal(index.findIn("files", "read me"), entry);
    assert.equal(index.find(toWireName("files", "y".repeat(100)))?.id, `files:${"y".repeat(100)}`);
    assert.equal(index.find("search_tools")?.id, "toolcrib:search_tools");
    assert.equal(index.find("toolcrib__search_tools"), undefined);
    for (const name of ["read me", "files", "", "__proto__", "constructor"]) {
      assert.equal(index.find(name), undefined);
    }
    assert.equal(index.findIn("files", "constructor"), undefined);
    assert.equal(index.findIn("nowhere", "read me"), undefined);
  });

  it("keeps what did not change, and tells of nothing else", () => {
    const files = sourceOf("files");
    const web = sourceOf("web");
    const { index, changes } = indexOf([files, web]);
    files.set("read", "write");
    web.set("fetch");
    const before = index.find("files:read");
    const { generation } = index;
    // The same definitions in new objects are no change.
    files.set("read", "write");
    assert.equal(index.find("files:read"), before);
    assert.equal(index.generation, generation);
    files.set("read", toolNamed("write", { description: "Writes to tape" }));
    assert.equal(index.find("files:read"), before);
    assert.equal(index.find("files:write")?.wireDefinition.description, "Writes to tape");
    assert.deepEqual(
      index.search.search("tape").map(({ id }) => id),
      ["files:write"],
    );
    files.set(toolNamed("write", { description: "Writes to tape" }), "read");
    assert.deepEqual(namesIn(index), ["files__write", "files__read", "web__fetch"]);
    web.set();
    assert.deepEqual(index.search.search("fetch"), []);
    assert.deepEqual(changes, [["files"], ["web"], ["files"], ["files", "web"], ["web"]]);
  });

  it("tells of the sources whose tools come and go with another's", () => {
    const first = sourceOf("a");
    const second = sourceOf("A");
    const { index, changes } = indexOf([first, second]);
    second.set("x");
    first.set("x");
    assert.deepEqual(namesIn(index), ["a__x"]);
    index.remove(first);
    assert.deepEqual(namesIn(index), ["A__x"]);
    first.set("x", "y");
    assert.deepEqual(changes, [["A"], ["A", "a"], ["A", "a"]]);
  });

  it("joins sources that list one tool, and chooses among them anew when one goes", () => {
    const here: Tool = {
      id: "both:echo",
      namespace: "both",
      tags: [],
      origin: "local",
      sourceId: "local",
      definition: toolNamed("echo", { description: "here" }),
    };
    const remote = sourceOf("both");
    const local: ToolSource = { ...sourceOf("local", "local"), tools: () => [here] };
    const { index } = indexOf([remote, local]);
    remote.set(toolNamed("echo", { description: "there" }));
    assert.equal(index.tools.length, 1);
    assert.equal(index.find("both:echo")?.wireDefinition.description, "here");
    assert.equal(index.find("both:echo")?.backends.length, 2);
    index.remove(local);
    assert.equal(index.find("both:echo")?.wireDefinition.description, "there");
  });

  it("finds a versioned tool without its version, the first declared of several", () => {
    const tools = ["1.0", "2.0"].map(
      (version): Tool => ({
        id: `add:${version}`,
        namespace: "",
        version,
        tags: [],
        origin: "local",
        sourceId: "local",
        definition: toolNamed("add"),
      }),
    );
    const { index } = indexOf([{ ...sourceOf("local", "local"), tools: () => tools }]);
    assert.deepEqual(namesIn(index), ["add-1.0", "add-2.0"]);
    assert.equal(index.find("add")?.id, "add:1.0");
    assert.equal(index.find("add:2.0")?.wireName, "add-2.0");
  });

  it("takes a change of one tool among 10,000 as a change of one tool", (t) => {
    const big = sourceOf("big");
    const { index, changes } = indexOf([sourceOf("small"), big]);
    const list = Array.from({ length: 10_000 }, (_, at) => toolNamed(`tool_${at}`));
    big.set(...list);
    let before = index.tools;
    const times: number[] = [];
    for (let at = 0; at < 5; at += 1) {
      const next = list.with(at, toolNamed(`tool_${at}`, { description: "Changed" }));
      const clone = structuredClone(next);
      const startedAt = performance.now();
      big.set(...clone);
      times.push(performance.now() - startedAt);
      const changed = index.tools.filter((entry, place) => entry !== before[place]);
      // One was changed, and the one before it changed back.
      assert.equal(changed.length, at === 0 ? 1 : 2);
      before = index.tools;
    }
    assert.deepEqual(
      index.search.search("changed").map(({ id }) => id),
      ["big:tool_4"],
    );
    assert.equal(changes.length, 6);
    t.diagnostic(`rebuilt in ${times.map((ms) => ms.toFixed(0)).join(", ")} ms`);
  });
});

function permutationsOf(items: readonly number[]): number[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((first, at) => permutationsOf(items.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}
