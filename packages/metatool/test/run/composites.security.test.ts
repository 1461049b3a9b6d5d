/** Attacks by composites and tools. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { JsonValue } from "@toolcrib/json";
import { analyseComposite } from "@toolcrib/metatool";
import { slowTest } from "@toolcrib/testing";
import type { ToolResult } from "@toolcrib/tool";
import { type RunRequest, setUpWorkshop } from "./workshop.ts";

const late = Promise.withResolvers<never>();

const workshop = setUpWorkshop({
  "a.echo": (args) => args,
  "a.proto": () => JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}'),
  "a.deep": () => JSON.parse(`${"[".repeat(500)}${"]".repeat(500)}`),
  "a.huge": () => "x".repeat(50_000_000),
  "a.bare": () => ({ content: undefined, isError: false, x: 1 }) as unknown as JsonValue,
  "a.odd": () => ({ content: [] }) as unknown as ToolResult,
  "a.late": () => late.promise,
  "print.it": () => "not print",
  "params.it": () => "not params",
  "time.it": () => "not time",
  "len.it": () => "not len",
  "x-y.one": () => "x-y",
  "x.y.one": () => "x",
  "x_y.one": () => "x_y",
  "p-q.one": () => "p-q",
  "p.q": () => "p.q",
  "__proto__.one": () => "proto",
  "constructor.one": () => "constructor",
});

async function check(code: string, expected: unknown, request?: RunRequest): Promise<void> {
  const outcome = await workshop.run(code, request);
  const got = outcome.kind === "result" ? outcome.result : `${outcome.error.type}: ${outcome.error.message}`;
  if (expected instanceof RegExp) assert.match(String(got), expected, code);
  else assert.deepEqual(JSON.parse(JSON.stringify(got)), expected, code);
}

test("no attribute of a tool or namespace exposes JavaScript", async () => {
  for (const name of [
    "constructor",
    "__proto__",
    "prototype",
    "call",
    "toString",
    "hasOwnProperty",
    "attribute",
  ]) {
    await check(`return [hasattr(x, "${name}") for x in [a, a.echo, tools]]`, [false, false, false]);
    await check(`return "${name}" in tools`, false);
    await check(`return params.get("${name}")`, null);
  }
  await check("return constructor.one()", "constructor");
  await check("return __proto__.one()", "proto");
  await check("a.echo = 1", /^runtime_error: can't assign to \.echo field of namespace a$/);
  await check("a.proto().polluted", /^runtime_error: dict has no \.polluted field/);
  await check('return a.echo(a.proto())["constructor"]', 1);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

test("no server can hide a predeclared name", async () => {
  await check('print("x")\nreturn [len([1]), type(params), time.now().unix]', [1, "dict", 1_700_000_000]);
  await check("return [print_.it(), params_.it(), time_.it(), len_.it()]", [
    "not print",
    "not params",
    "not time",
    "not len",
  ]);
});

test("of names with the same identifier, only an exact match gets it", async () => {
  await check('return [x_y.one(), tools["x-y.one"]()]', ["x_y", "x-y"]);
  const { diagnostics, reach } = analyseComposite("x_y.one()", workshop.catalog);
  assert.deepEqual([diagnostics, reach.tools], [[], ["x_y:one"]]);
});

test("large and shared values end only the program", slowTest, async () => {
  const blowUp = "x = []\nfor i in range(40):\n  x = [x, x]\n";
  await check(`${blowUp}return x`, /^resource_error: /);
  await check(`${blowUp}a.echo(x=x)`, /^resource_error: /);
  await check(`${blowUp}print(x)`, /^resource_error: /);
  await check("return len(a.huge())", /^resource_error: out of memory/, {
    options: { memoryBytes: 10_000_000 },
  });
  await check("return a.deep()", /^runtime_error: cannot convert: the value nests more than 200 levels/);
  await check("x = []\nx.append(x)\na.echo(x=x)", /it contains itself/);
  await check("parallel([a.echo] * 1000)", /^resource_error: too many tool calls: the limit is 100/);
  await check("while True:\n  attempt(a.echo)", /^resource_error: too many tool calls/);
});

test("a malformed result of a tool is handled", async () => {
  await check("return a.bare()", { content: null, isError: false, x: 1 });
  await check("return a.odd()", []);
});

test("a tool that fails after the end has no effect", async () => {
  await check("a.late()", "timeout_error: out of time: the limit is 5 ms", { options: { timeoutMs: 5 } });
  late.reject(new Error("too late"));
  // An unhandled rejection would be reported by now, and fail this file.
  await nextTurn();
});
