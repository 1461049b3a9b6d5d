/**
 * Long real names on a terminal of 80 columns: no line is wider than it, except for what cannot be broken or is copied,
 * and ids, names and commands stay whole. Where there is no terminal, nothing is cut.
 */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { makeTemporaryDirectory, NpmRegistry, notesServer, waitUntil } from "@toolcrib/testing";
import { skipWithoutNpxAndSandbox } from "./skip-without-sandbox.ts";
import { shellLine, skipWithoutTerminal, Terminal } from "./terminal.ts";
import { runToolcrib, startServe } from "./transcript.ts";

const columns = 80;
const name = "@modelcontextprotocol/server-filesystem";
const version = "2026.1.14";
const tool = "list_directory_with_sizes_and_permissions";
const client = "desktop-of-the-quality-assurance-team-40";
const secret = "customer-relationship-management-token";
const remote = "customer-relationship-management-reports";
/** A path of 70 characters below the folder of the test. */
const folder = "documents-of-the-year-2026/quarterly-reports-and-presentations-of-all";

const path = process.env["PATH"] ?? "";
const skip = (await skipWithoutNpxAndSandbox()) || skipWithoutTerminal;

/** Whether a line is one word, perhaps after a label, a command line, or a line of a file. */
function mayBeWide(line: string): boolean {
  const text = line.trim();
  return (
    /^(?:[\w-]+:? +)?\S+$/.test(text) ||
    /^(?:\$ )?(?:npx|toolcrib|\S+\/node \S+\/toolcrib\.js) /.test(text) ||
    /^[-+] /.test(text)
  );
}

function linesOf(text: string): readonly string[] {
  return stripVTControlCharacters(text)
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((one) => one.split("\r").at(-1) ?? "");
}

/** Makes a call that waits for an approval. */
async function callOnce(url: string, token: string, args: object): Promise<string> {
  let session: string | undefined;
  const post = async (message: object) => {
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${token}`,
        ...(session === undefined ? {} : { "mcp-session-id": session }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
    session ??= answer.headers.get("mcp-session-id") ?? undefined;
    return await answer.text();
  };
  const clientInfo = { name: "test", version: "1" };
  await post({
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
  });
  await post({ method: "notifications/initialized" });
  return await post({
    id: 2,
    method: "tools/call",
    params: { name: `server-filesystem__${tool}`, arguments: args },
  });
}

describe("long names on a terminal of 80 columns", { skip }, () => {
  let registry: NpmRegistry;
  before(async () => {
    registry = await new NpmRegistry().listen();
    const manifest = { name, version, bin: { "mcp-server-filesystem": "server.js" } };
    const description = "Returns a detailed listing of all files and folders at a path, with sizes.";
    const server = notesServer([{ name: tool, description }]);
    const instructions = server.replace(
      "capabilities: { tools: {} }",
      'capabilities: { tools: {} }, instructions: "List first"',
    );
    registry.publish(manifest, { "server.js": instructions });
  });
  after(async () => {
    await registry[Symbol.asyncDispose]();
  });

  it("are not cut, and no line is wider than the terminal", async () => {
    await using directory = await makeTemporaryDirectory();
    const place = directory.join(folder);
    mkdirSync(place, { recursive: true });
    const env = { PATH: path, npm_config_registry: registry.url, npm_config_fetch_retries: "0" };
    const setting = { directory: directory.path, env, timeoutMs: 90_000 };
    const shown = new Map<string, readonly string[]>();
    const wide: string[] = [];
    const note = (line: string, text: string) => {
      shown.set(line, linesOf(text));
      for (const one of linesOf(text))
        if (one.length > columns && !mayBeWide(one)) wide.push(`${line}\n    ${one}`);
    };
    const run = async (line: string, args = line.split(" "), stdin = "") => {
      const { stdout, stderr } = await runToolcrib(args, { ...setting, columns, isHere: true, stdin });
      note(line, `${stdout}\n${stderr}`);
      return stdout;
    };
    const has = (line: string, text: string) =>
      assert.ok(
        (shown.get(line) ?? []).some((one) => one.includes(text)),
        `${line} shows ${text} in one line:\n${shown.get(line)?.join("\n")}`,
      );

    const headers = { Authorization: { prefix: "Bearer ", secret_key_ref: secret } };
    const transport = { kind: "streamable_http", url: "http://127.0.0.1:9/mcp", headers };
    const servers = [{ id: remote, transport }];
    writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: servers }, undefined, 2));
    mkdirSync(directory.join(".cursor"));
    const mcpServers = { thinking: { command: "npx", args: ["-y", name, place, `${place}/second`] } };
    writeFileSync(directory.join(".cursor/mcp.json"), JSON.stringify({ mcpServers }));

    await run("add", ["add", "--yes", "--", "npx", "-y", `${name}@${version}`, place]);
    has("add", `✓ added server-filesystem to toolcrib.json`);
    has("add", " tokens in a list, and 1 other definition");
    await run("update server-filesystem");
    has("update server-filesystem", `server-filesystem: ${name} ${version} is the`);
    await run("fetched list");
    const key = (shown.get("fetched list") ?? []).find((one) => one.startsWith("npm-")) ?? "";
    assert.match(key, /^npm-modelcontextprotocol-server-filesystem-2026\.1\.14-[0-9a-f]{10}$/);
    has("fetched list", `${name} ${version}`);
    await run("secret set", ["secret", "set", `${secret}-of-the-organization`], "value-of-it");
    await run("secret list");
    has("secret list", `${secret}-of-the-organization`);
    await run("token create", ["token", "create", client]);
    const token = readFileSync(directory.join(".toolcrib/tokens", client), "utf8").trim();
    await run("import --dry-run");
    has("import --dry-run", `npx -y ${name} ${place} ${place}/second`.slice(0, 40));
    await run("remove server-filesystem --dry-run");
    await run(`remove ${remote} --dry-run`);

    await using gateway = await startServe(["--listen", "127.0.0.1:0"], setting);
    const status = async () => (await runToolcrib(["status", "--json"], setting)).stdout;
    await waitUntil(async () => /"state": "ready"/.test(await status()), { timeoutMs: 60_000 });
    const answer = await callOnce(`${gateway.url}/mcp`, token, { path: place });
    const id = /call:[0-9a-f]{16}/.exec(answer)?.[0] ?? "";
    assert.notEqual(id, "", answer);
    await run("status");
    has("status", id);
    has("status", `toolcrib secret set ${secret}`);
    // The reason is not cut in the middle.
    assert.ok(
      !(shown.get("status") ?? []).some((one) => one.includes(" … ")),
      (shown.get("status") ?? []).join("\n"),
    );
    await run("approve");
    has("approve", client);
    has("approve", `server-filesystem:${tool}`);
    has("approve", ` approve ${id}`);
    await run(`approve ${id}`);
    await run("audit list");
    has("audit list", `server-filesystem:${tool}`);
    has("audit list", "definition.approved");
    await using guide = new Terminal(`stty cols ${columns} rows 40; ${shellLine([])}`, setting);
    await guide.end();
    note("guide", guide.text);
    has("guide", remote);
    assert.deepEqual(wide, []);

    // Without a terminal, nothing is cut.
    const piped = (await runToolcrib(["audit", "list"], setting)).stdout;
    assert.match(piped, new RegExp(`denied +server-filesystem:${tool} +${client} `));
    const imported = (await runToolcrib(["import", "--dry-run"], setting)).stdout;
    assert.ok(imported.includes(`npx -y ${name} ${place} ${place}/second`), imported);
    for (const text of [piped, imported]) assert.doesNotMatch(text, /…/);
  });
});
