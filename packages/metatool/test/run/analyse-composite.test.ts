/** Analysis of composites before they run. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDiagnostic } from "@toolcrib/diagnostics";
import { analyseComposite, deriveFacts } from "@toolcrib/metatool";
import { setUpWorkshop, type WorkshopTool } from "./workshop.ts";

type AnalysisOptions = Parameters<typeof analyseComposite>[2];

const nothing = () => null;
const readOnly = { readOnlyHint: true, openWorldHint: false };

function tool(parts: Omit<WorkshopTool, "work"> = {}): WorkshopTool {
  return { work: nothing, ...parts };
}

const { catalog } = setUpWorkshop({
  "github.searchIssues": tool({
    annotations: readOnly,
    labels: { team: "web", area: "code" },
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "What to look for" },
        state: { enum: ["open", "closed"] },
        limit: { type: "integer" },
        labels: { type: "array", items: { type: "string" } },
        filter: { $ref: "#/$defs/filter" },
      },
      required: ["query"],
      $defs: {
        filter: {
          type: "object",
          properties: { author: { type: ["string", "null"] } },
          additionalProperties: false,
        },
      },
    },
  }),
  "github.createIssue": tool({ annotations: { destructiveHint: false }, labels: { team: "web" } }),
  "slack.postMessage": tool({ labels: { team: "ops" } }),
  "my-server.list": tool({ annotations: readOnly }),
  "saved.report": tool({
    isComposite: true,
    inputSchema: { type: "object", properties: { n: { type: "integer" } } },
  }),
  "saved.other": tool({ isComposite: true }),
  search_tools: tool({ annotations: readOnly }),
});

/** Analyses `code`; returns findings as `line:column severity message`. */
function check(code: string, expected: readonly string[], options?: AnalysisOptions): void {
  const { diagnostics } = analyseComposite(code, catalog, options);
  const got = diagnostics.map((diagnostic) => {
    const [, place, severity] = /:(\d+:\d+): (\w+) /.exec(formatDiagnostic(diagnostic)) ?? [];
    return `${place} ${severity} ${diagnostic.message}`;
  });
  assert.deepEqual(got, expected, code);
}

function checkReach(code: string, tools: readonly string[], dynamic = false): void {
  const { reach, diagnostics } = analyseComposite(code, catalog);
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === "error"),
    [],
    code,
  );
  assert.deepEqual(reach, { tools, dynamic }, code);
}

test("analyseComposite() reports all calls of unknown tools", () => {
  check("github.serchIssues(query=1)\nx = tools['slack.postMesage']()\ny = slack.createIssue()\n", [
    "1:8 error github has no tool serchIssues (did you mean searchIssues?)",
    '2:11 error No tool is named "slack.postMesage" (did you mean "slack.postMessage"?)',
    "3:11 error slack has no tool createIssue (did you mean github.createIssue?)",
  ]);
  check("githb.searchIssues()", ["1:1 error undefined: githb (did you mean github?)"]);
  const [finding] = analyseComposite("jira.search()", catalog).diagnostics;
  assert.match(finding?.hint ?? "", /the namespaces are github, my_server, saved, slack$/);
  const { diagnostics, reach } = analyseComposite("x = = 1\ny = 2 +\ngithub.searchIssues()", catalog);
  assert.deepEqual(
    diagnostics.map((one) => /:(\d+):\d+: error/.exec(formatDiagnostic(one))?.[1]),
    ["1", "2"],
  );
  assert.deepEqual(reach, { tools: [], dynamic: false });
});

test("analyseComposite() warns of mismatched literal arguments", () => {
  const rows: readonly [code: string, findings: readonly string[]][] = [
    ['github.searchIssues({"query": "x", "state": "open", "limit": 5})', []],
    ['n = len\ngithub.searchIssues({"query": params.q, "limit": n([])})', []],
    ["github.searchIssues()", ['1:1 warning github.searchIssues needs "query"']],
    ["github.searchIssues({})", ['1:21 warning github.searchIssues needs "query"']],
    ["github.searchIssues(**params)", []],
    [
      'github.searchIssues({"quer": "x"})',
      [
        '1:21 warning github.searchIssues needs "query"',
        '1:22 warning github.searchIssues has no "quer" (did you mean "query"?)',
      ],
    ],
    ['github.searchIssues({k: 1 for k in ["query"]})', []],
    [
      'github.searchIssues({"query": 5})',
      ['1:31 warning "query" of github.searchIssues is string, got integer'],
    ],
    [
      'github.searchIssues(query=f"{1}", limit=1.5)',
      ['1:41 warning "limit" of github.searchIssues is integer, got number'],
    ],
    [
      'github.searchIssues(query="", state="opened")',
      ['1:37 warning "state" of github.searchIssues is one of "open", "closed"'],
    ],
    [
      'github.searchIssues(query="", labels=["a", 1])',
      ['1:44 warning "labels" of github.searchIssues is string, got integer'],
    ],
    [
      'github.searchIssues(query="", filter={"author": None, "x": 1})',
      ['1:55 warning github.searchIssues has no "x"'],
    ],
    [
      'github.searchIssues(query="", filter={"author": True})',
      ['1:49 warning "author" of github.searchIssues is string or null, got boolean'],
    ],
    [
      'github.searchIssues("x")',
      ["1:21 error github.searchIssues takes one dict or arguments by name, got string"],
    ],
    ["github.searchIssues(params)", []],
    ["github.searchIssues({}, {})", ["1:25 error github.searchIssues takes one dict or arguments by name"]],
    [
      'github.searchIssues({}, query="x")',
      ["1:25 error github.searchIssues takes one dict or arguments by name"],
    ],
    ["github.createIssue(anything=1)", []],
    ['saved.report(n="5")', []],
    ['saved.report(n="five")', ['1:16 warning "n" of saved.report is integer, got string']],
    ['tools["github__searchIssues"]()', ['1:1 warning github.searchIssues needs "query"']],
  ];
  for (const [code, findings] of rows) check(code, findings);
});

test("analyseComposite() warns of names that hide tools and parameters", () => {
  check("params = 1\ndef tools():\n  return 1\ngithub = slack.postMessage()\nx = [json for json in []]", [
    '1:1 warning "params" hides the predeclared params from here on',
    '2:5 warning "tools" hides the predeclared tools from here on',
    '4:1 warning "github" hides the tools of github from here on',
  ]);
});

test("analyseComposite() checks parameters against the input schema of the composite", () => {
  const inputSchema = {
    type: "object",
    properties: {
      title: { type: "string" },
      limit: { type: "integer", default: 5 },
      label: { type: "string" },
    },
    required: ["title"],
  };
  const rows: readonly [code: string, findings: readonly string[]][] = [
    ["return [params.title, params.limit, params.get('label'), params.items()]", []],
    ["return params.titel", ['1:15 warning The input schema has no "titel" (did you mean "title"?)']],
    ['return params["titel"]', ['1:15 warning The input schema has no "titel" (did you mean "title"?)']],
    ["return params.label", ['1:15 warning "label" is not required and has no default, so it may be absent']],
    ['if "label" in params:\n  return params.label', []],
    ['return getattr(params, "label", None)', []],
  ];
  for (const [code, findings] of rows) check(code, findings, { inputSchema });
});

test("analyseComposite() returns the tools that the code can call", () => {
  checkReach("return 1", []);
  checkReach("github.searchIssues(query='')\ntools['slack__postMessage']()\ngithub.createIssue()", [
    "github:createIssue",
    "github:searchIssues",
    "slack:postMessage",
  ]);
  checkReach("f = github.createIssue\nparallel_map(my_server.list, [1])", [
    "github:createIssue",
    "my-server:list",
  ]);
  checkReach("tools.search_tools()\nsaved.report()", ["saved:report", "search_tools"]);
  checkReach('getattr(github, "createIssue")()\nhasattr(slack, "x")\ndir(github)\nx = "a" in tools', [
    "github:createIssue",
  ]);
  checkReach("tools[params.name]()", [], true);
  checkReach('tools["github." + params.name]()', [], true);
  checkReach("gh = github\ngh.createIssue()", [], true);
  checkReach("def f(server):\n  return server.list()\nf(my_server)", [], true);
  checkReach("[tools[n] for n in tools]", [], true);
  checkReach('x = f"{github.createIssue()}"\ny = lambda: slack.postMessage()', [
    "github:createIssue",
    "slack:postMessage",
  ]);
  checkReach("def github():\n  return 1\ngithub()", []);
  checkReach("try:\n  slack.postMessage()\nexcept:\n  github.createIssue()\nfinally:\n  pass", [
    "github:createIssue",
    "slack:postMessage",
  ]);
});

test("the facts of a composite follow from its reach", () => {
  const reaches: Record<string, { tools: string[]; dynamic: boolean }> = {
    "saved:report": { tools: ["github:searchIssues", "saved:other"], dynamic: false },
    "saved:other": { tools: ["slack:postMessage", "saved:report"], dynamic: false },
  };
  const facts = (code: string) =>
    analyseComposite(code, catalog, { savedReach: (tool) => reaches[tool.id] }).facts;
  assert.deepEqual(facts("return 1"), {
    reach: { tools: [], dynamic: false },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    labels: {},
  });
  assert.deepEqual(facts('github.searchIssues(query="x")').annotations, {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  });
  assert.deepEqual(facts("github.createIssue()").annotations, {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: true,
  });
  assert.deepEqual(facts("saved.report()"), {
    reach: {
      tools: ["github:searchIssues", "saved:other", "saved:report", "slack:postMessage"],
      dynamic: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    labels: { area: ["code"], team: ["ops", "web"] },
  });
  const unknown = deriveFacts({ tools: ["saved:report"], dynamic: false }, catalog);
  assert.deepEqual([unknown.reach.dynamic, unknown.annotations.destructiveHint], [true, true]);
});

test("a saved tool that calls itself is reported, also through other saved tools", () => {
  const savedReach = () => ({ tools: ["saved:mine"], dynamic: false });
  const direct = '"mine" calls itself, which ends at the limit of nested calls';
  const through = '"mine" calls itself through other saved tools, which ends at the limit of nested calls';
  check("saved.mine()", [`1:1 warning ${direct}`], { name: "mine", savedReach });
  check("saved.other()", [`1:1 warning ${through}`], { name: "mine", savedReach });
  check("saved.other()", [], { name: "yours", savedReach });
});

test("analyseComposite() finds common mistakes before the program runs, with the way to write it", () => {
  const hintOf = (code: string) => {
    const { diagnostics } = analyseComposite(code, catalog);
    assert.equal(diagnostics.length, 1, code);
    return diagnostics[0]?.hint;
  };
  assert.equal(hintOf("return github__createIssue(title='x')"), "write github.createIssue({…})");
  assert.equal(hintOf('github["createIssue"]({})'), 'write tools["github.createIssue"]({…})');
  assert.match(hintOf('load("github.star", "createIssue")') ?? "", /no other modules.*saved\.NAME/);
  assert.match(hintOf("import requests") ?? "", /no other modules/);
  assert.match(hintOf("from requests import get") ?? "", /no other modules/);
  check('load("json.star", "json")\nreturn json.encode(1)', []);
});

test("analyseComposite() names the tools of a server whose name is that of a module", () => {
  const { catalog: own } = setUpWorkshop({ "time.get_current_time": tool({ annotations: readOnly }) });
  const findings = (code: string) =>
    analyseComposite(code, own).diagnostics.map(({ message, hint }) => `${message}; ${hint}`);
  const hint = 'time is the module of the language; the tools of the server "time" are time_.NAME';
  assert.deepEqual(findings('return time.get_current_time(timezone="UTC")'), [
    `The module time has no get_current_time (did you mean time_.get_current_time?); ${hint}`,
  ]);
  assert.deepEqual(findings("x = time.tomorrow"), [
    `The module time has no tomorrow (did you mean time_?); ${hint}`,
  ]);
  assert.deepEqual(findings("return [time.now(), time_.get_current_time()]"), []);
  // Without such a server, the language explains it.
  assert.deepEqual(
    analyseComposite("return time.get_current_time()", catalog).diagnostics.map(({ message }) => message),
    [],
  );
});
