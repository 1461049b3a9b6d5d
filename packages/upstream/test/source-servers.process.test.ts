import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { conformanceStdioPath, makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import {
  createAskableClient,
  createCall,
  createClient,
  failureOf,
  nodeStdio,
  type ResolvedTransport,
  startSource,
} from "./source-harness.ts";

const require = createRequire(import.meta.url);

function official(name: string, args: readonly string[] = [], env = {}): ResolvedTransport {
  const path = join(
    dirname(require.resolve(`@modelcontextprotocol/server-${name}/package.json`)),
    "dist",
    "index.js",
  );
  return nodeStdio(path, args, env);
}

test("the official memory server stores entities", async () => {
  await using directory = await makeTemporaryDirectory();
  const env = { MEMORY_FILE_PATH: directory.join("memory.json") };
  await using source = await startSource({ transport: official("memory", [], env) });
  const entities = [{ name: "Ada", entityType: "person", observations: ["wrote notes"] }];
  await source.call("create_entities", { entities });
  const graph = await source.call("read_graph");
  assert.deepEqual((graph.structuredContent as { entities: unknown }).entities, entities);
});

test("the official filesystem server reads only below its folder", async () => {
  await using directory = await makeTemporaryDirectory();
  await writeFile(directory.join("note.txt"), "a note");
  await using source = await startSource({ transport: official("filesystem", [directory.path]) });
  assert.equal(await source.text("read_text_file", { path: directory.join("note.txt") }), "a note");
  const denied = await source.call("read_text_file", { path: "/etc/hostname" });
  assert.equal(denied.isError, true);
});

test("the official filesystem server gets each client's roots for that client alone", async () => {
  await using own = await makeTemporaryDirectory();
  await using others = await makeTemporaryDirectory();
  await using source = await startSource({ transport: official("filesystem", [own.path]) });
  const client = createClient({
    capabilities: { roots: { listChanged: true } },
    answer: () => ({ roots: [{ uri: `file://${others.path}`, name: "others" }] }),
  });
  const call = createCall({ client });
  await waitUntil(async () =>
    (await source.text("list_allowed_directories", {}, call)).includes(others.path),
  );
  assert.ok((await source.text("list_allowed_directories")).includes(own.path));
});

test("the official 'everything' server lists, and sends requests to the client", async () => {
  await using source = await startSource({ transport: official("everything") });
  const names = source.server.tools().map(({ definition }) => definition.name);
  assert.ok(names.includes("trigger-sampling-request"), names.join());
  assert.ok(source.server.features.resources().length > 0 && source.server.features.prompts().length > 0);
  assert.match(await source.text("get-sum", { a: 2, b: 3 }), /5/);
  const call = createCall({ client: createAskableClient("ada"), wantsProgress: true });
  const sampled = await source.text("trigger-sampling-request", { prompt: "hello", maxTokens: 10 }, call);
  assert.match(sampled, /ada/);
  await source.call("trigger-long-running-operation", { duration: 0.1, steps: 3 }, call);
  assert.equal(call.progressed.length, 3);
});

test("all features of a server on the official SDK work", async () => {
  await using source = await startSource({
    transport: nodeStdio(conformanceStdioPath),
  });
  assert.match(await source.text("test_simple_text"), /simple text/);
  const call = createCall({ client: createAskableClient("ada"), wantsProgress: true });
  await source.call("test_tool_with_progress", {}, call);
  assert.ok(call.progressed.length >= 3);
  assert.match(await source.text("test_sampling", { prompt: "hello" }, call), /ada/);
  const failed = await source.call("test_error_handling");
  assert.equal(failed.isError, true);
  const heard: string[] = [];
  const [{ uri }] = source.server.features.resources() as unknown as [{ uri: string }];
  await source.server.features.watch(uri, { updated: (changed) => void heard.push(changed) });
  const missing = source.server.features.request("resources/read", { uri: "test://none" }, createCall());
  assert.equal((await failureOf(missing)).code, "UPSTREAM_ERROR");
});
