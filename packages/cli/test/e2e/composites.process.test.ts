/**
 * The twenty tasks of examples/composites. A client saves and calls a tool for each of
 * them, over stdio, with the real servers of the quickstart. Checks the results and the
 * written files. Every repeatable run becomes a test that passes and answers dry runs.
 */

import assert from "node:assert/strict";
import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { makeTemporaryDirectory, type TemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { commandLine } from "../transcript.ts";
import { quickstartConfig } from "./gateway-process.ts";

const examples = join(import.meta.dirname, "../../../../examples/composites");

/** A task from examples/composites/tasks. */
interface Task {
  readonly task: string;
  readonly inputSchema: JsonObject;
  readonly runs: readonly {
    readonly params: JsonObject;
    readonly result?: JsonValue;
    /** Type of the expected error, if any. */
    readonly error?: string;
    /** Files with their content after the run. */
    readonly files?: Readonly<Record<string, string>>;
    /** Whether a second run has the same result. @default true */
    readonly repeats?: boolean;
  }[];
}

const tasks = globSync("tasks/*.json", { cwd: examples })
  .sort()
  .map((path) => ({
    name: basename(path, ".json").replace(/^\d+-/, ""),
    code: readFileSync(join(examples, path.replace(/json$/, "star")), "utf8"),
    ...(JSON.parse(readFileSync(join(examples, path), "utf8")) as Task),
  }));

describe("the tasks of examples/composites", () => {
  let directory: TemporaryDirectory;
  let client: Client;

  before(async () => {
    directory = await makeTemporaryDirectory();
    cpSync(join(examples, "files"), directory.join("files"), { recursive: true });
    const config = readFileSync(quickstartConfig, "utf8");
    const path = directory.join("toolcrib.yaml");
    writeFileSync(path, config.replaceAll("/tmp/toolcrib-quickstart", directory.join("memory")));
    client = new Client({ name: "composites", version: "1" });
    const args = [...commandLine, "serve", "--stdio", "--config", path, "--home", directory.join("home")];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
    const servers = ["everything__", "filesystem__", "memory__"];
    await waitUntil(async () => {
      const { tools } = await client.listTools();
      return servers.every((server) => tools.some(({ name }) => name.startsWith(server)));
    });
  });
  after(async () => {
    await client.close();
    await directory[Symbol.asyncDispose]();
  });

  async function call(name: string, args: JsonObject): Promise<JsonObject> {
    const { structuredContent, content } = await client.callTool({ name, arguments: args });
    assert.ok(structuredContent, JSON.stringify(content));
    return structuredContent as JsonObject;
  }

  it("cover twenty cases", () => assert.equal(tasks.length, 20));

  for (const { name, code, inputSchema, task, runs } of tasks) {
    it(`${name}: ${task}`, async () => {
      const description = code.split("\n")[0]?.replace(/^# /, "");
      const saved = await call("save_tool", { name, description: description ?? "", inputSchema, code });
      assert.deepEqual([saved["status"], saved["needsApproval"]], ["created", false], JSON.stringify(saved));
      const repeatable = runs.filter(({ repeats }) => repeats !== false);
      for (const { params, result, error, files = {} } of runs) {
        const answer = await call(name, params);
        const failure = answer["error"] as JsonObject | undefined;
        if (error !== undefined) assert.equal(failure?.["type"], error);
        else assert.deepEqual(answer["result"], result, JSON.stringify(answer));
        for (const [file, text] of Object.entries(files)) {
          assert.equal(readFileSync(directory.join("files", file), "utf8"), text);
        }
      }
      for (const { params } of repeatable) await call("test_saved_tool", { name, record: true, params });
      for (const { params, result } of repeatable.filter(({ error }) => error === undefined)) {
        const asked = { name, arguments: params, _meta: { "toolcrib/dryRun": true } };
        const byMeta = (await client.callTool(asked)).structuredContent as JsonObject;
        const byArgument = await call(name, { ...params, dry_run: true });
        assert.deepEqual([byMeta["result"], byArgument["result"]], [result, result]);
      }
      const tested = await call("test_saved_tool", { name });
      assert.deepEqual([tested["passed"], tested["failed"]], [repeatable.length, 0], JSON.stringify(tested));
    });
  }

  it("make no calls in a dry run", async () => {
    const file = directory.join("files/todo.txt");
    writeFileSync(file, "mine");
    const answer = await call("collect_todos", { folder: "notes", dry_run: true });
    assert.deepEqual(answer["result"], { written: "todo.txt", todos: 3 });
    assert.equal(readFileSync(file, "utf8"), "mine");
  });

  it("save twenty tools that can be listed, and found by their purpose", async () => {
    const { tools } = await client.listTools();
    const listed = new Map(tools.map((tool) => [tool.name, tool]));
    for (const { name } of tasks) assert.ok(listed.has(name), name);
    // Its servers are unverified, so that nothing that they declare is believed.
    assert.equal(listed.get("word_count")?.annotations?.readOnlyHint, false);
    assert.equal(listed.get("forget")?.annotations?.destructiveHint, true);
    const found = await call("search_tools", { query: "broken links between notes", limit: 1 });
    assert.equal(((found["tools"] as readonly JsonObject[])[0] as JsonObject)["name"], "check_links");
  });
});
