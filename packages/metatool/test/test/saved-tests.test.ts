import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { CodedError } from "@toolcrib/diagnostics";
import { type JsonObject, type JsonValue, SchemaValidator } from "@toolcrib/json";
import {
  createDryRun,
  openSavedToolStore,
  parseTestCases,
  recordTestCase,
  replayTestCase,
  runTestCase,
  takeDryRun,
  testSavedTool,
} from "@toolcrib/metatool";
import type { SavedTool } from "@toolcrib/store";
import { clientCall, makeTemporaryDirectory } from "@toolcrib/testing";
import { type CompositeOutcome, defaultOptions, setUpWorkshop, type Workshop } from "../run/workshop.ts";

type TestCase = Parameters<typeof runTestCase>[0];

type RecordedReply = TestCase["replies"][number];

type SavedTestDeps = Parameters<typeof testSavedTool>[2];

const validator = new SchemaValidator();

const code = `
issue = github.searchIssues({"query": params.title})[0]
data = zenhub.getIssue(issueId = issue.id)
print("found", issue.id)
return {"url": issue.url, "estimate": data.estimate}
`;

const inputSchema: JsonObject = {
  type: "object",
  properties: { title: { type: "string", default: "first" } },
};

const replies: readonly RecordedReply[] = [
  { tool: "github.searchIssues", params: { query: "crash" }, result: [{ id: 7, url: "u7" }] },
  { tool: "zenhub.getIssue", params: { issueId: 7 }, result: { estimate: 5 } },
];

const sample: TestCase = {
  name: "finds the estimate",
  params: { title: "crash" },
  replies,
  expect: { result: { url: "u7", estimate: 5 } },
};

function setUp(): Workshop {
  return setUpWorkshop({
    "github.searchIssues": ({ query }) => [{ id: 1, url: `https://x/${String(query)}` }],
    "zenhub.getIssue": () => ({ estimate: 3 }),
  });
}

function requestFor(shop: Workshop, program = code) {
  const tool = { name: "estimate", code: program, inputSchema };
  return { tool, catalog: shop.catalog, context: clientCall(), options: defaultOptions };
}

async function check(
  changes: Partial<TestCase>,
  expected: readonly string[],
  program = code,
  shop = setUp(),
): Promise<void> {
  const request = requestFor(shop, program);
  const report = await runTestCase({ ...sample, ...changes }, request, { composite: shop.deps, validator });
  assert.deepEqual(report.problems, expected);
  assert.equal(report.passed, expected.length === 0);
  assert.deepEqual(shop.called, [], "a test touches no tool");
}

test("runTestCase() compares the outcome of a program with recorded replies, and calls no tool", async () => {
  await check({}, []);
  await check({ expect: { result: { url: "u7", estimate: 8 } } }, ["$.estimate: expected 8, got 5"]);
  await check({ expect: { result: { url: "u7" } } }, ["$.estimate: expected nothing, got 5"]);
  await check({ params: { title: 5 as JsonValue } }, [
    'github.searchIssues({"query":"5"}) was called, and the next reply is for other arguments ($.query: "crash", and not "5")',
  ]);
  await check({ replies: [] }, [
    'github.searchIssues({"query":"crash"}) was called, and there are no replies',
  ]);
  await check({ replies: replies.slice(0, 1) }, [
    'zenhub.getIssue({"issueId":7}) was called, and there are replies of github.searchIssues only',
  ]);
  await check({ expect: { error: { type: "tool_error" } } }, ["it gave a result and should have failed"]);
  const failing = [replies[0]!, { tool: "zenhub.getIssue", error: { message: "gone" } }];
  await check({ replies: failing }, ["it failed with tool_error: gone (line 3)"]);
  await check({ replies: failing, expect: { error: { type: "tool_error" } } }, []);
  await check({ replies: failing, expect: { error: { type: "tool_error", message: "lost" } } }, [
    '$.message: expected "lost", got "gone"',
  ]);
  await check({ params: { title: [] as JsonValue }, expect: { error: { type: "validation_error" } } }, []);
});

test("replies match by tool and arguments, once each, in order", async () => {
  const program = `return [a.get(n = n) for n in params.order] + [a.get(n = 0)]`;
  const shop = setUpWorkshop({ "a.get": () => 0 });
  const answers: readonly RecordedReply[] = [
    { tool: "a:get", params: { n: 2 }, result: "two" },
    { tool: "a__get", params: { n: 1 }, result: "one" },
    { tool: "a.get", result: "any" },
  ];
  const of = (order: readonly number[], result: readonly string[]) => ({
    params: { order },
    replies: answers,
    expect: { result },
  });
  await check(of([1, 2], ["one", "two", "any"]), [], program, shop);
  await check(of([2, 1], ["two", "one", "any"]), [], program, shop);
  await check(
    of([1, 1], []),
    ['a.get({"n":0}) was called, and the next reply is for other arguments ($.n: 2, and not 0)'],
    program,
    shop,
  );
});

test("no program can hide a call without a reply", async () => {
  const program = `
try:
    a.get()
except:
    pass
return 1
`;
  const problems = ["a.get({}) was called, and there are no replies"];
  const shop = setUpWorkshop({ "a.get": () => 0 });
  await check({ params: {}, replies: [], expect: { result: 1 } }, problems, program, shop);
});

test("a denied call stays denied in a test, and expected values are not disclosed", async () => {
  const shop = setUp();
  const allowed = shop.catalog.tools.filter(({ namespace }) => namespace !== "zenhub");
  const host = { ...shop.deps.host, catalog: () => ({ generation: 2, tools: allowed }) };
  const deps = { composite: { ...shop.deps, host }, validator };
  const check = async (program: string, changes: Partial<TestCase>, expected: readonly string[]) => {
    const report = await runTestCase({ ...sample, ...changes }, requestFor(shop, program), deps);
    assert.deepEqual([report.problems, report.differences], [expected, []]);
  };
  const denied = ["zenhub.getIssue may not be called by this caller"];
  await check(code, {}, denied);
  const catching = `
try:
    return zenhub.getIssue(issueId = 7)
except Error as e:
    return "nothing"
`;
  await check(catching, { expect: { result: { estimate: 5 } } }, denied);
  await check(catching, { expect: { result: "nothing" } }, []);
  const recorded = [{ tool: "zenhub.getIssue", error: { message: "not you", kind: "denied" as const } }];
  await check("zenhub.getIssue()", { replies: recorded, expect: { error: { type: "policy_error" } } }, []);
});

async function checkReplay(
  program: string,
  shop: Workshop,
  params: JsonObject = {},
): Promise<CompositeOutcome> {
  const deps = { composite: shop.deps, validator };
  const tool = { name: "t", code: program, inputSchema: { type: "object" } };
  const request = { tool, catalog: shop.catalog, context: clientCall(), options: defaultOptions };
  const { testCase, outcome } = await recordTestCase("r", params, params, request, deps);
  const calls = shop.called.length;
  // As after a round trip through a file.
  const again = await replayTestCase(JSON.parse(JSON.stringify(testCase)), request, deps);
  const { executionTime: _first, ...first } = outcome;
  const { executionTime: _second, ...second } = again;
  assert.deepEqual(second, first);
  assert.equal(shop.called.length, calls);
  return outcome;
}

test("a recorded run replays exactly: result, logs and calls, in order", async () => {
  let calls = 0;
  const shop = setUpWorkshop({
    "a.slow": async ({ n }) => {
      await delay(((Number(n) * 7) % 5) * 4);
      calls += 1;
      return { n: n ?? null, at: calls };
    },
    "a.fail": ({ n }) => {
      throw new CodedError("SOME_CODE", `failed ${String(n)}`, { hint: "do not" });
    },
    "a.deny": () => {
      throw new CodedError("POLICY_DENIED", "not you");
    },
  });
  await checkReplay(`return [a.slow(n = i) for i in range(5)]`, shop);
  await checkReplay(`return time.now().unix_nano`, shop);
  await checkReplay(
    `
def work(i):
    first = a.slow(n = i)
    print(i, first.at)
    return [first, a.slow(n = i * 10 + first.at)]
return parallel([lambda i = i: work(i) for i in range(8)])
`,
    shop,
  );
  const failed = await checkReplay(
    `
seen = []
for f in [a.fail, a.deny]:
    try:
        f(n = 1)
    except Error as e:
        seen.append([e.type, e.message, e.details])
print(seen)
a.deny()
`,
    shop,
  );
  assert.equal(failed.kind === "error" && failed.error.type, "policy_error");
  // The concurrent calls are cancelled when one fails.
  await checkReplay(
    `return parallel([lambda: a.slow(n = 2), lambda: a.fail(n = 1), lambda: a.slow(n = 4)])`,
    shop,
  );
});

test("a run whose replay differs, or that is too large, is not recorded", async () => {
  const shop = setUpWorkshop({ "a.hang": () => new Promise(() => {}), "a.big": () => "x".repeat(200_000) });
  const record = (program: string, timeoutMs: number) => {
    const tool = { name: "t", code: program, inputSchema: { type: "object" } };
    const options = { ...defaultOptions, timeoutMs };
    const request = { tool, catalog: shop.catalog, context: clientCall(), options };
    return recordTestCase("r", {}, {}, request, { composite: shop.deps, validator });
  };
  await assert.rejects(record("a.hang()", 50), { code: "METATOOL_TEST_NOT_REPEATABLE" });
  await assert.rejects(record("return len(a.big())", 30_000), { code: "METATOOL_TEST_TOO_LARGE" });
});

test("takeDryRun() accepts the argument only when it cannot be a parameter of the tool", () => {
  const check = (schema: JsonObject, args: JsonObject, meta: JsonObject | undefined, expected: boolean) =>
    assert.deepEqual(takeDryRun(schema, args, meta), {
      isDryRun: expected,
      args: expected && meta === undefined ? {} : args,
    });
  const plain = { type: "object", properties: { a: {} } };
  check(plain, { dry_run: true }, undefined, true);
  check({ ...plain, additionalProperties: false }, { dry_run: true }, undefined, true);
  check(plain, { dry_run: false }, undefined, false);
  check(plain, { dry_run: "true" }, undefined, false);
  check(plain, { a: 1 }, { "toolcrib/dryRun": true }, true);
  check(plain, { a: 1 }, { "toolcrib/dryRun": "yes" }, false);
  check(
    { type: "object", properties: { dry_run: { type: "boolean" } } },
    { dry_run: true },
    undefined,
    false,
  );
  check({ ...plain, additionalProperties: { type: "boolean" } }, { dry_run: true }, undefined, false);
  check({ ...plain, patternProperties: { "^d": {} } }, { dry_run: true }, undefined, false);
  check({ allOf: [{ properties: { dry_run: {} } }] }, { dry_run: true }, undefined, false);
});

test("a dry run uses the recordings and calls no tool", async () => {
  const shop = setUp();
  const tool = { inputSchema, toolcrib: { tests: [sample as unknown as JsonValue] } };
  const run = async (title: string, program = code) => {
    const context = clientCall();
    const { replies } = createDryRun(tool, { title }, context, { ...shop.deps, validator });
    const outcome = await shop.run(program, { params: { title }, replies, context });
    assert.deepEqual(shop.called, []);
    const reported = outcome.kind === "result" ? outcome.result : outcome.error.message;
    return JSON.parse(JSON.stringify(reported));
  };
  assert.deepEqual(await run("crash"), { url: "u7", estimate: 5 });
  // Other parameters: recorded replies to calls with the same arguments, any number of times.
  const twice = `return [zenhub.getIssue(issueId = 7).estimate for i in range(2)]`;
  assert.deepEqual(await run("other", twice), [5, 5]);
  assert.match(
    String(await run("other")),
    /^The recording has no reply for this call of github.searchIssues: /,
  );
});

test("runTestCase() names the places that differ, and none in equal JSON", async () => {
  const places = async (expected: JsonValue, got: JsonValue) => {
    const shop = setUp();
    const request = requestFor(shop, "return params.got");
    const testCase = { ...sample, params: { title: "t", got }, replies: [], expect: { result: expected } };
    const report = await runTestCase(testCase, request, { composite: shop.deps, validator });
    return report.differences.map(({ path }) => path);
  };
  assert.deepEqual(await places({ a: [1, { "b c": 2 }] }, { a: [1, { "b c": 3 }] }), ['$.a[1]["b c"]']);
  assert.deepEqual(await places({ a: 1, b: 2 }, { b: 2, a: 1 }), []);
  assert.deepEqual(await places([1, 2], [1]), ["$[1]"]);
  assert.deepEqual(await places([], {}), ["$"]);
  assert.deepEqual(await places(0, -0), []);
  assert.deepEqual(await places(JSON.parse('{"__proto__": 1}'), {}), ["$.__proto__"]);
  assert.equal((await places(Array(100).fill(0), Array(100).fill(1))).length, 20);
});

test("parseTestCases() reports everything that is invalid", () => {
  const problems = (tests: JsonValue) => parseTestCases({ tests }).diagnostics.map(({ path }) => path);
  assert.deepEqual(problems([sample as unknown as JsonValue]), []);
  assert.deepEqual(problems("none"), ["toolcrib.tests"]);
  assert.deepEqual(
    problems([{ name: "", params: 1, replies: [{ tool: "a.b" }], expect: { error: {} }, extra: 1 }]),
    [
      "toolcrib.tests[0].name",
      "toolcrib.tests[0].params",
      "toolcrib.tests[0].replies[0]",
      "toolcrib.tests[0].expect.error.type",
      "toolcrib.tests[0].extra",
    ],
  );
  assert.deepEqual(problems([sample, sample] as unknown as JsonValue), ["toolcrib.tests[1].name"]);
  assert.deepEqual(
    problems([{ ...sample, expect: { result: "x".repeat(200_000) } } as unknown as JsonValue]),
    ["toolcrib.tests[0]"],
  );
});

test("test_saved_tool records a case in the file of the tool, adds cases, and runs all of them", async () => {
  await using directory = await makeTemporaryDirectory();
  const shop = setUp();
  await using saved = await openSavedToolStore({ now: Date.now, randomBytes }, { directory: directory.path });
  await saved.save({ name: "estimate", description: "d", inputSchema, code, toolcrib: { kept: true } });
  let refusal: Awaited<ReturnType<SavedTestDeps["refusal"]>>;
  const deps: SavedTestDeps = {
    composite: shop.deps,
    validator,
    saved,
    options: defaultOptions,
    now: Date.now,
    catalogFor: () => shop.catalog,
    contextFor: async (_tool, context) => context,
    refusal: async () => refusal,
  };
  const run = async (args: JsonObject) => {
    const outcome = await testSavedTool({ name: "estimate", ...args }, clientCall(), deps);
    if (outcome.kind === "refused") return outcome.error.type;
    const passed = outcome.reports.filter((report) => report.passed).length;
    const failed = outcome.reports.length - passed + outcome.diagnostics.length;
    return { passed, failed, recorded: outcome.recorded, names: outcome.reports.map(({ name }) => name) };
  };
  assert.deepEqual(await run({}), { passed: 0, failed: 0, recorded: undefined, names: [] });
  assert.deepEqual(await run({ record: true, params: {} }), {
    passed: 1,
    failed: 0,
    recorded: "recorded 1",
    names: ["recorded 1"],
  });
  assert.deepEqual(shop.called, ["github:searchIssues", "zenhub:getIssue"]);
  const wrong = { ...sample, name: "wrong", expect: { result: 1 } } as unknown as JsonValue;
  const both = { passed: 2, failed: 1, recorded: undefined, names: ["recorded 1", sample.name, "wrong"] };
  assert.deepEqual(await run({ cases: [sample as unknown as JsonValue, wrong] }), both);
  assert.deepEqual(await run({}), both);
  assert.equal(shop.called.length, 2);
  const kept = (await saved.get("estimate")) as SavedTool;
  assert.equal(kept.toolcrib?.["kept"], true);
  assert.equal(kept.metadata.executionCount, 1);
  await assert.rejects(run({ cases: [{ name: "x" }] }), { code: "METATOOL_TEST_INVALID" });
  refusal = { type: "policy_error", message: "not approved" };
  assert.equal(await run({ record: true }), "policy_error");
  assert.deepEqual(await run({}), both, "testing touches nothing, so it needs no approval");
  await assert.rejects(testSavedTool({ name: "nope" }, clientCall(), deps), { code: "METATOOL_NOT_FOUND" });
});
