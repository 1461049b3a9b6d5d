/** Runs of composites: results, inner calls, and records. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError } from "@toolcrib/diagnostics";
import type { JsonValue } from "@toolcrib/json";
import { clientCall, trackerExample } from "@toolcrib/testing";
import { textResult } from "@toolcrib/tool";
import { type RunRequest, setUpWorkshop } from "./workshop.ts";

const workshop = setUpWorkshop({
  "github.searchIssues": ({ query }) => [
    { id: 7, title: String(query), html_url: "https://github.test/7", repository: { id: 42 } },
  ],
  "zenhub.getIssueDetails": ({ issueId, repoId }) => ({
    estimate: 5,
    pipeline: { name: `of ${issueId} in ${repoId}` },
    dependencies: [1, 2],
  }),
  "my-server.list-all": () => ({ items: [1], count: 1 }),
  "time.zone": () => "UTC",
  "text.plain": () => textResult("just text"),
  "text.json": () => textResult('{"n": 12, "x": 1.5}'),
  "text.long": () => textResult("123456789012345678901"),
  "text.many": () => ({
    content: [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ],
  }),
  "tools.echo": (args) => args,
  "sad.fail": () => textResult("no such issue", true),
  "sad.throw": () => {
    throw new CodedError("UPSTREAM_UNREACHABLE", "The server is down", { hint: "start it" });
  },
  "sad.denied": () => {
    throw new CodedError("POLICY_DENIED", "You may not");
  },
  "saved.double": {
    isComposite: true,
    work: ({ n }) => ({ result: Number(n) * 2, logs: [], executionTime: 1, toolCalls: [] }),
  },
  "saved.broken": {
    isComposite: true,
    work: () => ({
      ...textResult("{}", true),
      structuredContent: { error: { type: "runtime_error", message: "it broke", details: { line: 3 } } },
    }),
  },
  echo: (args) => args,
});

/** Runs `code`; returns its result, or type and message of the error. */
async function check(code: string, expected: JsonValue, request?: RunRequest): Promise<void> {
  const outcome = await workshop.run(code, request);
  const got = outcome.kind === "result" ? outcome.result : `${outcome.error.type}: ${outcome.error.message}`;
  assert.deepEqual(JSON.parse(JSON.stringify(got)), expected, code);
}

test("the example of the design document runs word for word", async () => {
  const outcome = await workshop.run(trackerExample, { params: { issueTitle: "Broken login" } });
  assert.equal(outcome.kind, "result");
  assert.deepEqual(JSON.parse(JSON.stringify(outcome.result)), {
    githubUrl: "https://github.test/7",
    zenhubEstimate: 5,
    pipeline: "of 7 in 42",
    blockedBy: [1, 2],
  });
  assert.deepEqual(
    outcome.toolCalls.map(({ tool }) => tool),
    ["github.searchIssues", "zenhub.getIssueDetails"],
  );
  assert.deepEqual({ ...(outcome.toolCalls[0]?.params as object) }, { query: "Broken login" });
  assert.deepEqual(outcome.logs, []);
  assert.ok(outcome.steps > 0);
});

test("executionTime is the time of the clock from the start of a run to its end", async () => {
  let nowMs = 1000;
  const clocked = setUpWorkshop({
    "a.take": ({ ms }) => {
      nowMs += Number(ms);
      return null;
    },
  });
  const outcome = await clocked.run("a.take(ms = 250)\na.take(ms = 1.5)", {}, { monotonicMs: () => nowMs });
  assert.equal(outcome.kind, "result");
  assert.equal(outcome.executionTime, 251.5);
  const failed = await clocked.run("a.take(ms = 40)\nfail('x')", {}, { monotonicMs: () => nowMs });
  assert.equal(failed.kind, "error");
  assert.equal(failed.executionTime, 40);
});

test("runComposite() provides tools by every name", async () => {
  await check('return github.searchIssues(query="x")[0].title', "x");
  await check('return tools["github__searchIssues"](query="x")[0].id', 7);
  await check('return tools["github:searchIssues"]({"query": "x"})[0].id', 7);
  await check('return tools["github.searchIssues"]({"query": "x"})[0].id', 7);
  await check("return tools.echo(a=1)", { a: 1 });
  await check('return tools["echo"]()', {});
  await check("return my_server.list_all().items", [1]);
  await check('return tools["my-server.list-all"]().count', 1);
  await check("return time_.zone()", "UTC");
  await check("return saved.double(n=4)", 8);
  await check('return tools["double"](n=4)', 8);
  await check('return tools["saved__double"](n=4)', 8);
  await check('return ["echo" in tools, "eccho" in tools, 1 in tools]', [true, false, false]);
  await check('return [hasattr(github, "searchIssues"), hasattr(github, "x")]', [true, false]);
  await check('return len([n for n in tools if n.startswith("text__")])', 4);
  await check("return [str(github), str(github.searchIssues), type(github.searchIssues)]", [
    "<namespace github>",
    "<tool github.searchIssues>",
    "tool",
  ]);
  await check('f = github.searchIssues\nreturn [f == github.searchIssues, f(query="y")[0].title]', [
    true,
    "y",
  ]);
});

test("runComposite() suggests a similar tool", async () => {
  await check(
    "return github.serchIssues()",
    "runtime_error: namespace github has no .serchIssues field or method (did you mean .searchIssues?)",
  );
  await check(
    'return tools["github.serchIssues"]()',
    'runtime_error: No tool is named "github.serchIssues" (did you mean "github.searchIssues"?)',
  );
  await check("return tools[1]", "runtime_error: tools index: got int, want the name of a tool");
  await check(
    "return githb.searchIssues()",
    "validation_error: The code has an error in line 1: undefined: githb (did you mean github?)",
  );
});

test("a tool takes one dict, or arguments by name", async () => {
  await check('return tools.echo({"a": [1, 2.5, None, True, "s"]})', {
    a: [1, 2.5, null, true, "s"],
  });
  await check(
    'return github.searchIssues("x")',
    "runtime_error: github.searchIssues: got string, want one dict or arguments by name",
  );
  await check(
    "return github.searchIssues({}, {})",
    "runtime_error: github.searchIssues: got 2 arguments, want one dict or arguments by name",
  );
  await check(
    'return github.searchIssues({"query": 1}, query=2)',
    "runtime_error: github.searchIssues: got a dict and arguments by name, want one or the other",
  );
  await check(
    "return tools.echo(f=len)",
    "runtime_error: echo: f: cannot convert the value: got builtin_function_or_method, want a value that JSON can represent",
  );
  await check(
    'return tools.echo({"deep": [{"n": 1 << 60}]})',
    "runtime_error: cannot send the arguments of echo.deep[0].n: 1152921504606846976 is beyond the range of JSON numbers",
  );
});

test("the value of an inner call is the result of the tool", async () => {
  await check("return text.plain()", "just text");
  await check("return text.json().n + text.json().x", 13.5);
  await check("return text.long()", "123456789012345678901");
  await check("return text.many()", [
    { type: "text", text: "a" },
    { type: "text", text: "b" },
  ]);
});

test("a tool that fails is a ToolError, and a denied call is an Error", async () => {
  await check("sad.fail()", "tool_error: no such issue");
  await check("try:\n  sad.fail()\nexcept ToolError as e:\n  return [e.type, e.message, e.tool]", [
    "ToolError",
    "no such issue",
    "sad.fail",
  ]);
  await check("sad.throw()", "tool_error: The server is down");
  await check("return attempt(sad.throw).error.details", { code: "UPSTREAM_UNREACHABLE", hint: "start it" });
  await check("sad.denied()", "policy_error: You may not");
  await check(
    "try:\n  sad.denied()\nexcept ToolError:\n  return 1\nexcept Error as e:\n  return e.message",
    "You may not",
  );
  await check("saved.broken()", "tool_error: it broke");
  await check("return attempt(saved.broken).error.details.details.line", 3);
});

test("an error has its place and a hint", async () => {
  const outcome = await workshop.run("x = 1\ndef f(y):\n  return sad.fail(id=y)\nreturn f(x)\n", {
    options: { debug: true },
  });
  assert.equal(outcome.kind, "error");
  assert.deepEqual(outcome.error.details, {
    line: 3,
    column: 18,
    snippet: "return sad.fail(id=y)",
    tool: "sad.fail",
  });
  assert.match(outcome.error.stack ?? "", /test\.star:4:\d+: in <toplevel>\n {2}test\.star:3:18: in f\n/);
  assert.deepEqual(JSON.parse(JSON.stringify(outcome.toolCalls)), [
    { tool: "sad.fail", params: { id: 1 }, result: { error: "no such issue" } },
  ]);
  const quiet = await workshop.run("fail(1)");
  assert.equal(quiet.kind === "error" && quiet.error.stack, undefined);
});

test("code that does not compile reports all errors", async () => {
  const outcome = await workshop.run("x = = 1\ny = 2 +\n");
  assert.equal(outcome.kind, "error");
  assert.equal(outcome.error.type, "validation_error");
  assert.match(outcome.error.message, /^The code has 2 errors; the first is in line 1: /);
  const { problems, line } = outcome.error.details as {
    problems: { line: number; snippet: string }[];
    line: number;
  };
  assert.equal(line, 1);
  assert.deepEqual(
    problems.map(({ line, snippet }) => [line, snippet]),
    [
      [1, "x = = 1"],
      [2, "y = 2 +"],
    ],
  );
});

test("the output of print is part of the outcome, also of a failure", async () => {
  const outcome = await workshop.run('print("one", 2)\nprint("three")\nfail("done")');
  assert.deepEqual([outcome.kind, outcome.logs], ["error", ["one 2", "three"]]);
});

test("the time is constant during an execution", async () => {
  await check("return time.now().unix", 1_700_000_000);
  await check("return time.now() == time.now()", true);
});

test("every limit ends an execution with its own error", async () => {
  const kinds: readonly [code: string, options: RunRequest["options"], expected: string][] = [
    ["while True:\n  pass", { steps: 1000 }, "resource_error: out of steps: the limit is 1000"],
    ["while True:\n  pass", { timeoutMs: 20 }, "timeout_error: out of time: the limit is 20 ms"],
    [
      'x = "a" * 5000000',
      { memoryBytes: 1_000_000 },
      "resource_error: out of memory: the limit is 1000000 bytes",
    ],
    [
      "def f():\n  return f()\nf()",
      { callDepth: 50 },
      "resource_error: Starlark stack overflow: the limit is 50 nested calls",
    ],
    ['print("x" * 100)', { logBytes: 50 }, "resource_error: print wrote more than 50 characters"],
    ['return "x" * 100', { resultBytes: 50 }, "resource_error: the result is larger than 50 bytes of JSON"],
    ['return "\\n" * 30', { resultBytes: 50 }, "resource_error: the result is larger than 50 bytes of JSON"],
    [
      "for i in range(9):\n  attempt(tools.echo)",
      { toolCalls: 3 },
      "resource_error: too many tool calls: the limit is 3",
    ],
  ];
  for (const [code, options, expected] of kinds) await check(code, expected, { options });
});

test("a result that is not representable as JSON is an error with its place", async () => {
  await check(
    'return {"f": [len]}',
    "runtime_error: cannot convert the value at f[0]: got builtin_function_or_method, want a value that JSON can represent",
  );
  await check(
    "return 1 << 70",
    "runtime_error: cannot send the result: 1180591620717411303424 is beyond the range of JSON numbers",
  );
  await check('return json.decode(\'{"__proto__": 1}\')["__proto__"]', 1);
});

test("executions share nothing", async () => {
  const code = "x = [1]\nx.append(len(x))\nreturn x";
  await check(code, [1, 1]);
  await check(code, [1, 1]);
  const [a, b] = await Promise.all(
    [1, 2].map((n) => workshop.run("return tools.echo(n=params.n).n", { params: { n } })),
  );
  assert.deepEqual([a?.kind === "result" && a.result, b?.kind === "result" && b.result], [1, 2]);
});

test("clientCall() is the context of inner calls", async () => {
  const seen: unknown[] = [];
  const crew = setUpWorkshop({
    "a.look": (_args, context) => {
      seen.push(context.parentId, context.depth, context.identity.name, context.session);
      return null;
    },
  });
  await crew.run("a.look()", { context: clientCall({ callId: "outer", depth: 2 }) });
  assert.deepEqual(seen, ["outer", 3, "test", undefined]);
});
