/** The primer is short, and its examples run. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { SchemaValidator } from "@toolcrib/json";
import { analyseComposite, createMetatool, languagePrimer, openSavedToolStore } from "@toolcrib/metatool";
import { openApprovalStore } from "@toolcrib/store";
import { clientCall, makeTemporaryDirectory } from "@toolcrib/testing";
import { textResult } from "@toolcrib/tool";
import { defaultOptions, setUpWorkshop } from "./workshop.ts";

const issue = (number: number) => ({
  number,
  title: `Issue ${number}`,
  html_url: `https://github.test/${number}`,
  labels: [{ name: "bug" }],
});

const workshop = setUpWorkshop({
  "github.searchIssues": ({ query }) => (query === "none" ? [] : [issue(7), issue(8)]),
  "github.getIssue": ({ number }) => issue(Number(number)),
  "wiki.getPage": ({ title }) =>
    title === "Home"
      ? { text: "Welcome" }
      : title === "Long"
        ? { text: "x".repeat(20_000) }
        : textResult("no such page", true),
});

const examples = [...languagePrimer.matchAll(/```python\n(.*?)```/gs)].map(([, code]) => code as string);

async function check(
  example: number,
  params: Record<string, never> | object,
  expected: unknown,
): Promise<void> {
  const code = examples[example] as string;
  assert.deepEqual(analyseComposite(code, workshop.catalog).diagnostics, [], code);
  const outcome = await workshop.run(code, { params: params as Record<string, never> });
  const got = outcome.kind === "result" ? outcome.result : outcome.error.message;
  assert.deepEqual(JSON.parse(JSON.stringify(got)), expected, code);
}

test("the primer takes 1,500 tokens at most", () => {
  // 3.5 characters per token; such texts have about four.
  assert.ok(languagePrimer.length / 3.5 <= 1500, `${languagePrimer.length / 3.5} tokens`);
});

test("the examples of the primer run unchanged", async () => {
  assert.equal(examples.length, 4);
  await check(0, { title: "crash" }, { found: 2, url: "https://github.test/7", labels: ["bug"] });
  await check(0, { title: "none" }, { found: 0 });
  await check(1, {}, ["Issue 7", "Issue 8", "Issue 1", "Issue 2"]);
  await check(2, { rows: [{ team: "a" }, { team: "b" }, { team: "b" }] }, [
    { team: "b", count: 2 },
    { team: "a", count: 1 },
  ]);
  await check(3, { title: "Home" }, { text: "Welcome" });
  await check(3, { title: "Nowhere" }, { text: "", note: "no such page" });
  await check(3, { title: "Long" }, "fail: the page is too long");
});

test("the statements of the primer are true", async () => {
  const rows: readonly [code: string, expected: unknown][] = [
    [
      'x = {"a": {"b": 1}}\nx["c"] = x.a.b\nreturn [x.c, x.get("z"), x.get("z", 0), x["a"]["b"], x.pop("c")]',
      [1, null, 0, 1, 1],
    ],
    [
      'n = 1.5\nname = "x"\nreturn [f"{n:.2f} of {name}", "{}".format(n), str(n)]',
      ["1.50 of x", "1.5", "1.5"],
    ],
    [
      'return [list("ab".elems()), "a-b".split("-"), "a\\nb".splitlines(), "A".lower(), "ab".find("b"), ",".join(["a"])]',
      [["a", "b"], ["a", "b"], ["a", "b"], "a", 1, "a"],
    ],
    ['return [json.decode(json.encode({"a": [1]})), math.floor(1.5), math.round(2.5)]', [{ a: [1] }, 1, 3]],
    [
      'd = time.now() - time.parse_time("2023-11-14T10:00:00Z")\nreturn [d > time.parse_duration("1h"), (time.now() + time.parse_duration("36h")) > time.now()]',
      [true, true],
    ],
    [
      'return [type(x) for x in ["", 1, 1.5, True, [], {}, None]]',
      ["string", "int", "float", "bool", "list", "dict", "NoneType"],
    ],
    [
      'return [sorted(set([2, 1])), any([x > 1 for x in [1, 2]]), [1] + [2], {"a": 1} | {"b": 2}]',
      [[1, 2], true, [1, 2], { a: 1, b: 2 }],
    ],
    [
      "def f(n, *args, k=1, **kwargs):\n  return n if n < 2 else f(n - 1) + k\nn = 0\nwhile n < 3:\n  n += 1\nreturn [f(4), n]",
      [4, 3],
    ],
    [
      "return [list(enumerate([5])), list(zip([1], [2])), min(1, 2), max([1, 2]), sum([1, 2]), all([]), list(reversed([1, 2]))]",
      [[[0, 5]], [[1, 2]], 1, 2, 3, true, [2, 1]],
    ],
    ['load("json.star", "json")\nreturn json.encode(1)', "1"],
  ];
  for (const [code, expected] of rows) {
    const outcome = await workshop.run(code);
    const got = outcome.kind === "result" ? outcome.result : outcome.error;
    assert.deepEqual(JSON.parse(JSON.stringify(got)), expected, code);
  }
  const refused = [
    "import json",
    "class A:\n  pass",
    "with x:\n  pass",
    'raise Error("x")',
    "assert True",
    "x = {}\ndel x['a']",
    "def f():\n  global x",
    "1 is None",
    "2 ** 3",
    "(y := 1)",
    "isinstance(1, int)",
    "{1, 2}",
    "any(x for x in [])",
    "1 < 2 < 3",
    "[*[1]]",
    "x: int = 1",
    "map(len, [])",
    "for c in 'abc':\n  pass",
    "[2, 1].sort()",
    '"a" + 1',
    "[1][0].x",
    "n = 0\ndef f():\n  n += 1\nf()",
    "x = []\nparallel([lambda: x.append(1)])",
  ];
  for (const code of refused) {
    const outcome = await workshop.run(code);
    assert.equal(outcome.kind, "error", code);
  }
});

test("describe_language writes tools as programs call them", async () => {
  const { catalog, deps } = setUpWorkshop({
    "my-server.list-all": () => 1,
    "time.zone": () => 2,
    "x-y.one": () => 3,
    "x+y.one": () => 4,
    plain: () => 5,
  });
  await using directory = await makeTemporaryDirectory();
  await using saved = await openSavedToolStore({ now: () => 0, randomBytes }, { directory: directory.path });
  await using approvals = await openApprovalStore(directory.join("home"), { randomBytes });
  using metatool = createMetatool(
    {
      ...deps,
      saved,
      approvals,
      wholeCatalog: () => catalog,
      mayUse: () => true,
      validator: new SchemaValidator(),
      now: () => 0,
      onEvent() {},
      onWarning() {},
      wireNameOf: (id: string) => id,
    },
    { execution: defaultOptions },
  );
  const tool = metatool.coreTools.tools().find(({ definition }) => definition.name === "describe_language");
  assert.ok(tool);
  const { content } = await metatool.coreTools.call(tool, {}, clientCall());
  const text = content.map((block) => String(block["text"])).join("");
  assert.ok(text.startsWith(languagePrimer));
  const calls = [...text.matchAll(/^([\w.]+|tools\["[^"]+"\])\(\)$/gm)].map(([call]) => call);
  assert.deepEqual(calls.sort(), [
    "my_server.list_all()",
    "time_.zone()",
    'tools["plain"]()',
    'tools["x+y__one"]()',
    'tools["x-y__one"]()',
  ]);
});
