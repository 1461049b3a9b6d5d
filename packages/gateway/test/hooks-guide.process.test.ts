/** The example of docs/guides/hooks.md does what the page says. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "@toolcrib/config";
import { readRegularFile } from "@toolcrib/files";
import { startGateway } from "@toolcrib/gateway";
import { makeTemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { createTestLogger, somebody, startScriptedServer, textOf, toolNamed } from "./gateway-harness.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/guides/hooks.md"), "utf8");

/** Returns the code blocks of the page that have the name of a file. */
function filesOfPage(): { [path: string]: string } {
  const blocks = page.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm);
  return Object.fromEntries([...blocks].map(([, path = "", text = ""]) => [path, text]));
}

test("the example of the guide denies, replaces and redacts", async () => {
  await using server = await startScriptedServer({
    tools: () => [toolNamed("write"), toolNamed("read"), toolNamed("other")],
    call: (_request, name, args) => ({
      content: [{ type: "text", text: `${name} ${JSON.stringify(args)} 4111 1111 1111 1111` }],
      structuredContent: { card: "4111-1111-1111-1111" },
    }),
  });
  await using folder = await makeTemporaryDirectory();
  const files = filesOfPage();
  assert.deepEqual(Object.keys(files).length, 4);
  const servers = `tool_servers:\n  - { id: files, trust_state: certified, transport: { kind: streamable_http, url: "${server.url}" } }\n`;
  writeFiles(folder.path, { ...files, "toolcrib.yaml": `${servers}${files["toolcrib.yaml"]}` });
  const path = join(folder.path, "toolcrib.yaml");
  const { value, diagnostics } = await loadConfig([path], {
    readFile: readRegularFile,
    catalogFolder: join(folder.path, "catalog"),
  });
  assert.deepEqual(diagnostics, []);
  assert.ok(value);
  // On a loaded machine, a program of Node can take longer to start than a hook has by default.
  const slower = (hooks: typeof value.hooks.before) => hooks.map((hook) => ({ ...hook, timeoutSeconds: 60 }));
  const { before, after } = value.hooks;
  const hooks = { ...value.hooks, before: slower(before), after: slower(after) };
  await using gateway = await startGateway(
    { ...value, hooks },
    {
      home: join(folder.path, "home"),
      env: { PATH: process.env["PATH"] },
      directory: folder.path,
      logger: createTestLogger(),
      version: "0.0.1",
      configFiles: [path],
    },
  );
  await gateway.ready();
  const denied = await gateway.call(somebody, "files:other", { host: "10.1.2.3" });
  assert.ok(denied.kind === "failed");
  assert.equal(
    (denied.error as Error).message,
    '"files__other" was not called: the hook "no-addresses" refused it: 10.1.2.3 is an address of our network; use its name',
  );
  const moved = await gateway.call(somebody, "files:write", { path: "../../etc/passwd", text: "x" });
  assert.ok(moved.kind === "result", JSON.stringify(moved));
  assert.equal(textOf(moved.result), 'write {"path":"/srv/agents/etc/passwd","text":"x"} [card]');
  assert.deepEqual(moved.result.structuredContent, { card: "[card]" });
});
