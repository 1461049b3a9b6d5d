/** Forged and huge trails do not stop `ChainMiner`, and make no chains. */

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { ChainMiner } from "@toolcrib/dise";
import { runsAll, slowTest } from "@toolcrib/testing";

const time = "2026-11-26T09:00:00.000Z";

const fingerprintOf = (text: string) => hash("sha256", text, "hex").slice(0, 16);

interface CallOptions {
  readonly id: string;
  readonly tool: string;
  readonly args?: { readonly [place: string]: string };
  readonly result?: { readonly [place: string]: string };
  readonly client?: unknown;
  readonly origin?: string;
  readonly parentId?: string;
  readonly outcome?: string;
}

const fingerprints = (places: { readonly [place: string]: string } = {}) =>
  Object.fromEntries(Object.entries(places).map(([place, value]) => [place, fingerprintOf(value)]));

function intent({
  id,
  tool,
  args,
  client = { issuer: "i", subject: "s", name: "n" },
  origin = "server",
  parentId,
}: CallOptions) {
  const data = { callId: id, depth: 0, client, tool, origin, parentId, fingerprints: fingerprints(args) };
  return { type: "call.intent", time, data };
}

function completion({ result, outcome = "ok", ...call }: CallOptions) {
  const { data } = intent(call);
  return { type: "call.completed", time, data: { ...data, outcome, fingerprints: fingerprints(result) } };
}

function addCall(miner: ChainMiner, call: CallOptions): void {
  miner.add(intent(call));
  miner.add(completion(call));
}

/** Adds `count` runs of one call whose result is the argument of another. */
function addRuns(
  miner: ChainMiner,
  count: number,
  change: (call: CallOptions, at: number) => CallOptions,
): void {
  for (let at = 0; at < count; at += 1) {
    const value = `value-${at}`;
    addCall(
      miner,
      change(
        {
          id: `a${at}`,
          tool: "a:get",
          args: { "/key": `key-${at}` },
          result: { "/structuredContent/id": value },
        },
        at,
      ),
    );
    addCall(
      miner,
      change(
        { id: `b${at}`, tool: "b:use", args: { "/of": value }, result: { "/content/0/text": `done-${at}` } },
        at,
      ),
    );
  }
}

const toolsOf = (miner: ChainMiner) => miner.suggest().suggestions.map(({ tools }) => tools.join(" "));

test("ChainMiner finds a sequence of two calls", () => {
  const miner = new ChainMiner();
  addRuns(miner, 5, (call) => call);
  const [found] = miner.suggest().suggestions;
  assert.deepEqual(found?.manifest["chain"], [
    { step: "get", tool: "a:get", inputMapping: { key: "$.input.key" }, outputKey: "get_result" },
    { step: "use", tool: "b:use", inputMapping: { of: "$.get_result.id" }, outputKey: "use_result" },
  ]);
  const fewer = new ChainMiner();
  addRuns(fewer, 4, (call) => call);
  assert.deepEqual(toolsOf(fewer), []);
});

test("ChainMiner maps an object that is passed on as a whole", () => {
  const miner = new ChainMiner();
  for (let at = 0; at < 10; at += 1) {
    const [id, total] = [`id-${at}`, `total-${at}`];
    const result = { "/structuredContent/rows/0/id": id, "/structuredContent/rows/0/total": total };
    addCall(miner, { id: `a${at}`, tool: "a:get", result });
    addCall(miner, {
      id: `b${at}`,
      tool: "b:use",
      args: { "/row/id": id, "/row/total": total, "/other/deep": id },
    });
  }
  const [found] = miner.suggest().suggestions;
  const chain = found?.manifest["chain"] as readonly { readonly inputMapping: object }[];
  assert.deepEqual(chain[1]?.inputMapping, { row: "$.get_result.rows[0]", other: "$.input.other" });
  assert.match(found?.remarks[0]?.remark ?? "", /cannot refer to/);
});

for (const [title, change] of [
  [
    "of different clients",
    (call, at) => ({ ...call, client: { issuer: "i", subject: `${call.tool}${at}`, name: "n" } }),
  ],
  ["whose results failed", (call) => ({ ...call, outcome: "tool_error" })],
  [
    "of one constant",
    (call) => ({
      ...call,
      args: call.tool === "b:use" ? { "/of": "success" } : {},
      result: { "/structuredContent/id": "success" },
    }),
  ],
  [
    "that pass on what they are given",
    (call, at) => ({
      ...call,
      args: { "/key": `value-${at}` },
      result: { "/structuredContent/id": `value-${at}` },
    }),
  ],
  ["of one tool, such as pages", (call) => ({ ...call, tool: "a:get" })],
  ["within a saved tool", (call) => ({ ...call, parentId: "saved" })],
  ["of the gateway's own tools", (call) => ({ ...call, origin: "meta" })],
] as readonly [string, (call: CallOptions, at: number) => CallOptions][]) {
  test(`ChainMiner suggests no chain for calls ${title}`, () => {
    const miner = new ChainMiner();
    miner.add(intent({ id: "saved", tool: "saved:report", origin: "saved" }));
    addRuns(miner, 50, change);
    assert.deepEqual(toolsOf(miner), []);
  });
}

test("ChainMiner ignores records that no gateway writes", () => {
  const miner = new ChainMiner();
  const odd: unknown[] = [null, 1, "text", [], {}, { length: 1e9 }, { __proto__: null }];
  for (const value of odd) {
    for (const type of ["call.intent", "call.completed", "other"]) {
      miner.add({ type, time, data: value });
      miner.add({ type, time: "no time", data: value });
      const { data } = intent({ id: "x", tool: "a:get" });
      for (const name of Object.keys(data)) miner.add({ type, time, data: { ...data, [name]: value } });
      miner.add({
        type,
        time,
        data: {
          ...data,
          fingerprints: { "/a": value, [`/${"x".repeat(1e5)}`]: "0".repeat(16), "/…": "0".repeat(16) },
        },
      });
    }
  }
  // The ends of calls of another tool, of another client, and of none; an intent that is repeated.
  addRuns(miner, 20, (call) => call);
  const before = miner.suggest();
  for (let at = 0; at < 20; at += 1) {
    miner.add(intent({ id: `forged${at}`, tool: "c:get" }));
    miner.add(
      completion({ id: `forged${at}`, tool: "d:get", result: { "/structuredContent/id": `forged-${at}` } }),
    );
    miner.add(
      completion({ id: `none${at}`, tool: "c:get", result: { "/structuredContent/id": `forged-${at}` } }),
    );
    addCall(miner, { id: `used${at}`, tool: "e:use", args: { "/of": `forged-${at}` } });
  }
  assert.deepEqual(
    miner.suggest().suggestions.map(({ toolId }) => toolId),
    before.suggestions.map(({ toolId }) => toolId),
  );
});

test("ChainMiner writes names that a client chose as data", () => {
  const miner = new ChainMiner();
  const places = [
    "/__proto__",
    "/constructor",
    "/a~1b~0c",
    "/quote'\"\\",
    "/line\u0001",
    "/0",
    "/input",
    "/ключ",
  ];
  for (let at = 0; at < 10; at += 1) {
    const value = (place: string) => `${place}-${at}`;
    const result = Object.fromEntries(places.map((place) => [`/structuredContent${place}`, value(place)]));
    addCall(miner, { id: `a${at}`, tool: "a:get", result });
    addCall(miner, {
      id: `b${at}`,
      tool: "b:use",
      args: Object.fromEntries(places.map((place) => [place, value(place)])),
    });
  }
  const [found] = miner.suggest().suggestions;
  const chain = found?.manifest["chain"] as readonly { readonly inputMapping: object }[];
  assert.deepEqual(Object.entries(chain[1]?.inputMapping ?? {}).toSorted(), [
    ["0", "$.get_result[0]"],
    ["__proto__", "$.get_result.__proto__"],
    ["a/b~c", "$.get_result['a/b~c']"],
    ["constructor", "$.get_result.constructor"],
    ["input", "$.get_result.input"],
    ["line\u0001", "$.get_result['line\\u0001']"],
    ["quote'\"\\", "$.get_result['quote\\'\"\\\\']"],
    ["ключ", "$.get_result['ключ']"],
  ]);
  assert.deepEqual(Object.keys(Object.prototype), []);
});

test("ChainMiner ends with cycles of parents and of tools", () => {
  const miner = new ChainMiner({ stepsMax: 6 });
  miner.add(intent({ id: "p", tool: "saved:p", origin: "saved", parentId: "q" }));
  miner.add(intent({ id: "q", tool: "saved:q", origin: "saved", parentId: "p" }));
  let value = "start";
  for (let at = 0; at < 2000; at += 1) {
    const next = `next-${at}`;
    addCall(miner, {
      id: `c${at}`,
      tool: `t:${at % 9}`,
      args: { "/of": value },
      result: { "/structuredContent/id": next },
    });
    value = next;
  }
  const { suggestions } = miner.suggest();
  assert.ok(suggestions.length > 0 && suggestions.length <= 9);
  for (const { tools } of suggestions) assert.equal(new Set(tools).size, 6);
});

test("ChainMiner keeps the newest calls of a trail beyond its limits", slowTest, () => {
  const miner = new ChainMiner({ limits: { calls: 500, values: 20_000, clients: 4 } });
  const count = runsAll ? 20_000 : 4000;
  for (let at = 0; at < count; at += 1) {
    const many = Object.fromEntries(
      Array.from({ length: 80 }, (_one, index) => [`/p${index}`, `v-${at}-${index % 40}`]),
    );
    addCall(miner, {
      id: `n${at}`,
      tool: `t:${at}`,
      args: many,
      result: many,
      client: { issuer: "i", subject: `${at % 9}`, name: "n" },
    });
  }
  addRuns(miner, 10, (call) => call);
  const found = miner.suggest();
  assert.deepEqual(
    found.suggestions.map(({ tools }) => tools.join(" ")),
    ["a:get b:use"],
  );
  assert.ok(found.calls <= 500 && found.calls + found.droppedCalls === count + 20);
});
