/**
 * The Metatool document over stdio, with a real client and two real servers: its literal
 * example, each tool, each error type, the storage format, restarts, and a second client.
 */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "@toolcrib/json";
import {
  fixtureCommand,
  makeTemporaryDirectory,
  runProcess,
  type TemporaryDirectory,
  trackerExample,
  trackerStdioPath,
  waitUntil,
} from "@toolcrib/testing";
import { commandLine } from "../transcript.ts";

const example = {
  name: "issue_overview",
  description: "Where an issue is and what it waits for",
  inputSchema: { type: "object", properties: { issueTitle: { type: "string" } }, required: ["issueTitle"] },
  code: trackerExample,
};

interface Answer {
  readonly isError: boolean;
  readonly text: string;
  readonly data: JsonObject & {
    readonly error?: { readonly type: string; readonly message: string; readonly details: JsonObject };
  };
}

function problemsOf({ error }: Answer["data"]): readonly JsonObject[] {
  return (error?.details["problems"] ?? []) as readonly JsonObject[];
}

/** A client with its own metatool process. */
interface Session extends AsyncDisposable {
  readonly client: Client;
  /** Number of notifications about a changed list. */
  readonly heard: { count: number };
  call(name: string, given?: object): Promise<Answer>;
  names(): Promise<readonly string[]>;
}

describe("toolcrib metatool", () => {
  let directory: TemporaryDirectory;
  let configPath: string;

  before(async () => {
    directory = await makeTemporaryDirectory();
    configPath = join(directory.path, "config.json");
    const server = (name: string, ...more: string[]) => ({
      name,
      ...fixtureCommand(trackerStdioPath, name, ...more),
    });
    const document = {
      upstreamServers: [server("github", "--token", `\${GITHUB_TOKEN}`), server("zenhub")],
      execution: { timeout: 30000, maxMemory: "128MB", enableDebug: false, maxSteps: 1_000_000_000 },
    };
    writeFileSync(configPath, JSON.stringify(document));
  });

  after(() => directory[Symbol.asyncDispose]());

  /** @param home below the temporary folder; `undefined` for the default home */
  async function connect(
    home: string | undefined,
    environment: Record<string, string> = {},
  ): Promise<Session> {
    const client = new Client({ name: "metatool-test", version: "1" });
    const heard = { count: 0 };
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      heard.count += 1;
    });
    const path = process.env["PATH"] ?? "";
    const homeArguments = home === undefined ? [] : ["--home", join(directory.path, home)];
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [...commandLine, "metatool", "--config", configPath, ...homeArguments],
        env: { PATH: path, HOME: directory.path, GITHUB_TOKEN: "ghp_none", ...environment },
        stderr: "ignore",
      }),
    );
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    await waitUntil(async () => {
      const listed = await names();
      return listed.includes("github__searchIssues") && listed.includes("zenhub__getIssueDetails");
    });
    return {
      client,
      heard,
      names,
      async call(name, given = {}) {
        const result = await client.callTool({ name, arguments: { ...given } });
        const [block] = result.content as readonly { readonly text: string }[];
        return {
          isError: result.isError === true,
          text: block?.text ?? "",
          data: result.structuredContent as Answer["data"],
        };
      },
      [Symbol.asyncDispose]: () => client.close(),
    };
  }

  const fileOf = (home: string, name: string) => join(directory.path, home, "tools", `${name}.json`);
  const readTool = (home: string, name: string) =>
    JSON.parse(readFileSync(fileOf(home, name), "utf8")) as JsonObject;

  it("runs the document's example unchanged, and responds in its format", async () => {
    await using session = await connect("example");
    const saved = await session.call("save_tool", example);
    assert.equal(saved.isError, false, saved.text);
    const { warnings, ...facts } = saved.data;
    assert.deepEqual(warnings, []);
    assert.deepEqual(facts, {
      name: "issue_overview",
      status: "created",
      reach: ["github:searchIssues", "zenhub:getIssueDetails"],
      dynamic: false,
      // The servers are unverified: nothing that they declare is believed.
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
      labels: {},
      egressHosts: [],
      needsApproval: false,
      permissions: "caller and owner",
    });
    const { data, text } = await session.call("issue_overview", { issueTitle: "Safari" });
    assert.deepEqual(Object.keys(data).sort(), ["executionTime", "logs", "result", "toolCalls"]);
    assert.deepEqual(JSON.parse(text), data);
    const blockedBy = [{ id: 1003, title: "Login page is slow" }];
    assert.deepEqual(data["result"], {
      githubUrl: "https://github.com/acme/crib/issues/1",
      zenhubEstimate: 3,
      pipeline: "In Progress",
      blockedBy,
    });
    assert.deepEqual(data["logs"], []);
    assert.equal(typeof data["executionTime"], "number");
    const [search, details] = data["toolCalls"] as readonly JsonObject[];
    assert.deepEqual([search?.["tool"], search?.["params"]], ["github.searchIssues", { query: "Safari" }]);
    assert.deepEqual(details, {
      tool: "zenhub.getIssueDetails",
      params: { issueId: 1001, repoId: 77 },
      result: { estimate: 3, pipeline: { name: "In Progress" }, dependencies: blockedBy },
    });
  });

  it("saves, lists, shows and deletes tools, and notifies clients of each new list", async () => {
    await using session = await connect("tools");
    assert.equal((await session.call("list_saved_tools")).text, "[]");
    await session.call("save_tool", example);
    await waitUntil(() => session.heard.count > 0);
    const { tools } = await session.client.listTools();
    const listed = tools.find(({ name }) => name === "issue_overview");
    assert.equal(listed?.description, example.description);
    assert.deepEqual(listed?.inputSchema, example.inputSchema);
    assert.equal(listed?.annotations?.readOnlyHint, false);
    assert.match(
      (await session.call("search_tools", { query: "overview of an issue" })).text,
      /^issue_overview/,
    );

    const list = await session.call("list_saved_tools");
    const [summary] = JSON.parse(list.text) as readonly JsonObject[];
    assert.deepEqual(list.data, { tools: [summary] });
    const { created, modified, ...rest } = summary as JsonObject;
    const { code: _code, ...described } = example;
    assert.deepEqual(rest, described);
    for (const time of [created, modified]) assert.equal(new Date(String(time)).toISOString(), time);

    const shown = await session.call("show_saved_tool", { name: "issue_overview" });
    for (const [field, value] of Object.entries({ version: "1.0", ...example })) {
      assert.deepEqual(shown.data[field], value);
    }

    const heardBefore = session.heard.count;
    const description = "Where an issue is";
    const updated = await session.call("save_tool", { ...example, description });
    assert.deepEqual([updated.data["status"], updated.data["needsApproval"]], ["updated", false]);
    await waitUntil(() => session.heard.count > heardBefore);
    const again = JSON.parse((await session.call("list_saved_tools")).text) as readonly JsonObject[];
    assert.equal(again[0]?.["description"], description);
    assert.equal(again[0]?.["created"], created);

    assert.deepEqual((await session.call("delete_saved_tool", { name: "issue_overview" })).data, {
      name: "issue_overview",
      deleted: true,
    });
    assert.equal((await session.names()).includes("issue_overview"), false);
    await assert.rejects(session.call("issue_overview", { issueTitle: "x" }), /Unknown tool/);
    const gone = await session.call("show_saved_tool", { name: "issue_overview" });
    assert.equal(gone.data.error?.type, "validation_error");
  });

  it("stores tools in the document's format, counts executions, and loads them after a restart", async () => {
    {
      await using session = await connect("storage");
      await session.call("save_tool", example);
      for (const issueTitle of ["Safari", "Dark"]) await session.call("issue_overview", { issueTitle });
    }
    const { version, metadata, toolcrib, ...definition } = readTool("storage", "issue_overview");
    assert.equal(version, "1.0");
    assert.deepEqual(definition, example);
    assert.deepEqual(Object.keys(metadata as JsonObject).sort(), [
      "created",
      "executionCount",
      "lastExecuted",
      "modified",
    ]);
    assert.equal((metadata as JsonObject)["executionCount"], 2);
    assert.equal(JSON.stringify(toolcrib).includes("ghp_none"), false);

    await using session = await connect("storage");
    assert.ok((await session.names()).includes("issue_overview"));
    const { data } = await session.call("issue_overview", { issueTitle: "Dark mode" });
    assert.equal((data["result"] as JsonObject)["zenhubEstimate"], 4);
  });

  it("reloads files that are added, changed or removed, and reports invalid files", async () => {
    mkdirSync(join(directory.path, "edits", "tools"), { recursive: true });
    writeFileSync(fileOf("edits", "broken"), "{");
    await using session = await connect("edits");
    const time = "2026-01-31T12:00:00.000Z";
    const metadata = { created: time, modified: time, executionCount: 0 };
    const write = (code: string) =>
      writeFileSync(
        fileOf("edits", "by_hand"),
        JSON.stringify({
          version: "1.0",
          name: "by_hand",
          description: "Written by hand",
          inputSchema: {},
          code,
          metadata,
        }),
      );
    write("return 1");
    await waitUntil(async () => (await session.names()).includes("by_hand"));
    assert.equal((await session.call("by_hand")).data["result"], 1);
    write("return 2");
    await waitUntil(async () => (await session.call("by_hand")).data["result"] === 2);
    assert.deepEqual(readFileSync(fileOf("edits", "broken"), "utf8"), "{");
    const refused = await session.call("save_tool", { ...example, name: "broken" });
    assert.equal(refused.data.error?.type, "validation_error");
  });

  it("names its home where the operator must approve a tool", async () => {
    await using session = await connect(undefined);
    const save = (code: string) =>
      session.call("save_tool", { name: "job", description: "d", inputSchema: {}, code });
    await save("return github.searchIssues(query='Safari')");
    const grown =
      "github.searchIssues(query='Safari')\nreturn zenhub.getIssueDetails(issueId=1001, repoId=77)";
    assert.equal((await save(grown)).data["needsApproval"], true);
    const refused = (await session.call("job")).data.error;
    assert.equal(refused?.type, "policy_error");
    const approve = async (...words: readonly string[]) => {
      const env = { HOME: directory.path, TOOLCRIB_HOME: undefined, NO_COLOR: "1" };
      const { code, stdout, stderr } = await runProcess(process.execPath, [...commandLine, ...words], {
        env,
      });
      return { code, text: stdout + stderr };
    };
    // The default home of other commands is another one.
    const missed = await approve("saved", "approve", "job");
    assert.equal(missed.code, 4);
    assert.match(missed.text, /it is in the home of mcp-metatool: add --home \S+\.mcp-metatool$/m);
    const [, words] = /: toolcrib (.+)$/.exec(String(refused?.details["hint"])) ?? [];
    assert.equal(words, `--home ${join(directory.path, ".mcp-metatool")} saved approve job`);
    assert.equal((await approve(...(words ?? "").split(" "))).code, 0);
    assert.equal((await session.call("job")).isError, false);
  });

  it("gives each error the type and the details of the document", async () => {
    await using session = await connect("errors");
    const check = async (code: string, type: string, message: RegExp, details: object) => {
      const { isError, data, text } = await session.call("eval_starlark", { code });
      assert.deepEqual(JSON.parse(text), data);
      assert.equal(isError, true, code);
      assert.equal(data.error?.type, type, text);
      assert.match(data.error.message, message);
      for (const [field, value] of Object.entries(details)) {
        assert.deepEqual(data.error.details[field], value, `${field} of ${text}`);
      }
      assert.equal("stack" in data.error, false);
    };
    await check("x = 1\nreturn x +", "validation_error", /got end of file/, {
      line: 2,
      snippet: "return x +",
    });
    await check("return github.serchIssues({})", "validation_error", /did you mean searchIssues/, {
      line: 1,
      column: 15,
    });
    await check('x = {"a": 1}\nreturn x.b', "runtime_error", /b/, { line: 2, snippet: "return x.b" });
    await check("print('before')\nfail('enough')", "runtime_error", /enough/, { line: 2, logs: ["before"] });
    await check(
      "zenhub.getIssueDetails({'issueId': 1, 'repoId': 77})",
      "tool_error",
      /Issue 1 is not on any board/,
      { line: 1, tool: "zenhub.getIssueDetails" },
    );
    await check("def f(n):\n    return f(n + 1)\nf(0)", "resource_error", /depth|deep|overflow/i, {});
    await check("x = 'a'\nwhile True:\n    x += x", "resource_error", /memory/, { line: 3 });
    await check(
      "for i in range(200):\n    github.searchIssues(query='x')",
      "resource_error",
      /limit is 100/,
      {
        line: 2,
      },
    );

    await session.call("save_tool", example);
    const { data } = await session.call("issue_overview", { issueTitle: ["no", "text"] });
    assert.equal(data.error?.type, "validation_error");
    assert.deepEqual(problemsOf(data)[0]?.["path"], "/issueTitle");
    const coerced = await session.call("eval_starlark", { code: "return params.n + 1", params: { n: 1 } });
    assert.equal(coerced.data["result"], 2);
  });

  it("applies MCP_METATOOL_TIMEOUT, and returns a stack with MCP_METATOOL_DEBUG", async () => {
    const limits = { MCP_METATOOL_TIMEOUT: "300", MCP_METATOOL_DEBUG: "true" };
    await using session = await connect("limits", limits);
    for (const code of ["while True:\n    pass", "zenhub.waitForBoard(ms=60000)"]) {
      const { data } = await session.call("eval_starlark", { code });
      assert.equal(data.error?.type, "timeout_error");
      assert.match(data.error.message, /300 ms/);
    }
    await session.call("save_tool", {
      ...example,
      name: "waits",
      inputSchema: {},
      code: "zenhub.waitForBoard(ms=60000)",
    });
    assert.equal((await session.call("waits")).data.error?.type, "timeout_error");
    const { data } = await session.call("eval_starlark", { code: "def f():\n    return 1 // 0\nreturn f()" });
    const { stack } = data.error as unknown as { readonly stack: string };
    assert.match(stack, /^Traceback[\s\S]*eval\.star:3:\d+: in <toplevel>[\s\S]*eval\.star:2:\d+: in f/);
  });

  it("refuses a definition and reports all its problems", async () => {
    await using session = await connect("refusals");
    const { data, isError } = await session.call("save_tool", {
      name: "../escape",
      description: 7,
      inputSchema: { type: "array" },
      code: "a = github.nothing({})\nb = gihub.searchIssues({})\nreturn [a, b",
      colour: "red",
    });
    assert.equal(isError, true);
    assert.deepEqual(
      problemsOf(data).map(({ path, line }) => [path, line]),
      [
        ["name", undefined],
        ["description", undefined],
        ["colour", undefined],
        ["inputSchema.type", undefined],
        ["code", 3],
      ],
    );
    const names = await session.call("save_tool", {
      ...example,
      code: "a = github.nothing({})\nreturn zenhub.getIsueDetails({})",
    });
    assert.deepEqual(
      problemsOf(names.data).map(({ line }) => line),
      [1, 2],
    );
    assert.match(names.text, /did you mean getIssueDetails/);
    assert.equal((await session.call("list_saved_tools")).text, "[]");
  });

  it("explains how to write programs, with the tools as functions", async () => {
    await using session = await connect("language");
    const { text } = await session.call("describe_language", { tools: "zenhub." });
    assert.match(text, /zenhub\.getIssueDetails\(issueId: integer, repoId: integer\)/);
    assert.equal(text.includes("github.searchIssues(query: string)"), false);
  });

  it("records a test of a real run, and answers a dry run from it without a server", async () => {
    await using session = await connect("recorded");
    const code = 'return github.createIssue({"title": params.issueTitle})';
    await session.call("save_tool", { ...example, name: "create", code });
    const recorded = await session.call("test_saved_tool", {
      name: "create",
      record: true,
      params: { issueTitle: "New" },
    });
    assert.deepEqual([recorded.data["passed"], recorded.data["failed"]], [1, 0], recorded.text);
    const count = async () => {
      const found = await session.call("eval_starlark", {
        code: "return len(github.searchIssues(query=''))",
      });
      return found.data["result"];
    };
    assert.equal(await count(), 4);
    const dry = await session.call("create", { issueTitle: "New", dry_run: true });
    assert.equal((dry.data["result"] as JsonObject)["title"], "New", dry.text);
    assert.equal((await session.call("test_saved_tool", { name: "create" })).data["passed"], 1);
    assert.equal(await count(), 4);
    await session.call("create", { issueTitle: "New" });
    assert.equal(await count(), 5);
  });

  it("has the name and the home of the document", async () => {
    const bin = fileURLToPath(new URL("../../bin/mcp-metatool.js", import.meta.url));
    const env = { HOME: directory.path, TOOLCRIB_HOME: "", NO_COLOR: "1" };
    const none = await runProcess(process.execPath, [bin], { env });
    assert.equal(none.code, 2, none.stderr);
    assert.match(none.stderr, /there is no config\.json in .*\.mcp-metatool/);
    mkdirSync(join(directory.path, ".mcp-metatool"), { recursive: true });
    writeFileSync(join(directory.path, ".mcp-metatool/config.json"), '{"upstreamServers": []}');
    const client = new Client({ name: "alias", version: "1" });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [bin],
        env: { PATH: process.env["PATH"] ?? "", ...env },
        stderr: "ignore",
      }),
    );
    const saved = await client.callTool({ name: "save_tool", arguments: { ...example, code: "return 1" } });
    assert.equal(saved.isError, undefined, JSON.stringify(saved));
    await client.close();
    assert.equal(readTool(".mcp-metatool", "issue_overview")["code"], "return 1");
  });
});
