/** The tool that a client saved, as the operator and another client see it, over a running gateway. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { JsonObject } from "@toolcrib/json";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { echoServer, runToolcrib, startServe } from "./transcript.ts";

test("saved list, show and approve tell the operator about the tool of a client", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const policy = { clients: { restricted: { deny: ["echo:echo"] } }, waive_approval: ["*"] };
  const document = { tool_servers: [echoServer("echo")], policy, serve: { listen: "127.0.0.1:0" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(document));
  const tokens = new Map<string, string>();
  for (const name of ["restricted", "privileged"]) {
    const { stdout } = await runToolcrib(["token", "create", name, "--json"], setting);
    tokens.set(name, readFileSync(JSON.parse(stdout).file, "utf8").trim());
  }
  await using gateway = await startServe([], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  await using clients = new AsyncDisposableStack();
  const connect = async (name: string) => {
    const client = new Client({ name, version: "1.0.0" });
    const headers = { authorization: `Bearer ${tokens.get(name)}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers } }),
    );
    clients.defer(() => client.close());
    return client;
  };
  const restricted = await connect("restricted");
  const privileged = await connect("privileged");
  const call = async (client: Client, name: string, given: object = {}) =>
    (await client.callTool({ name, arguments: { ...given } })).structuredContent as JsonObject;
  const code = 'return tools["echo__" + "echo"](text="a")';
  const helper = { name: "helper", description: "Helps.", inputSchema: {}, code };
  assert.equal((await call(restricted, "save_tool", helper))["status"], "created");

  const run = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await runToolcrib(words, setting);
    return { code, text: stdout + stderr };
  };
  assert.match((await run("saved", "list")).text, /^helper .*\(not approved\) Helps\.$/m);
  const shown = await run("saved", "show", "helper");
  assert.match(shown.text, /^helper +\(not approved\)$/m);
  assert.match(
    shown.text,
    /^owner +restricted \(token\); runs with its permissions and those of the caller/m,
  );
  const [listed] = JSON.parse((await run("saved", "list", "--json")).text);
  assert.deepEqual([listed.isApproved, listed.owner.name], [false, "restricted"]);
  assert.equal((await run("saved", "run", "helper")).code, 1);
  await assert.rejects(call(privileged, "helper"), /Unknown tool: "helper"/);

  // Only the version that the operator read is approved.
  const commandIn = (text: string) => /^Approve exactly this version: toolcrib (.+)$/m.exec(text)?.[1] ?? "";
  await call(restricted, "save_tool", { ...helper, description: "Helps more." });
  const outdated = await run(...commandIn(shown.text).split(" "));
  assert.equal(outdated.code, 1);
  assert.match(outdated.text, /METATOOL_CHANGED_MEANWHILE.*\n.*toolcrib saved show helper/);
  await assert.rejects(call(privileged, "helper"), /Unknown tool: "helper"/);
  const current = commandIn((await run("saved", "show", "helper")).text);
  const approved = await run(...current.split(" "));
  assert.equal(approved.text, "Approved helper: it may call any tool, with the permissions of its caller.\n");
  assert.equal((await call(privileged, "helper"))["error"], undefined);
  assert.equal((await run("saved", "run", "helper")).code, 0);
  assert.match((await run("saved", "show", "helper")).text, /^owner +restricted \(token\)$/m);
  assert.equal((await run("saved", "approve", "helper")).text, "helper needs no approval.\n");

  // The next save of the owner ends the approval.
  assert.equal((await call(restricted, "save_tool", helper))["status"], "updated");
  await assert.rejects(call(privileged, "helper"), /Unknown tool: "helper"/);
  assert.match((await run("saved", "list")).text, /\(not approved\)/);

  const { text } = await run("audit", "list", "--json", "--tool", "saved:helper");
  const granted = (JSON.parse(text) as readonly { type: string; data: JsonObject }[]).filter(({ type }) =>
    type.endsWith("approval.granted"),
  );
  assert.deepEqual(
    granted.map(({ data }) => [(data["owner"] as JsonObject)["name"], data["reach"]]),
    [["restricted", ["*"]]],
  );
});
