/**
 * A script server reads the folder or project of its script: `add` and `import` name it, and the files of the gateway
 * in it stay invisible, in the trial and afterwards.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { makeTemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { skipWithoutSandbox } from "./skip-without-sandbox.ts";
import { cleanEnvironment, runToolcrib } from "./transcript.ts";

const skip = await skipWithoutSandbox();

const names = ["toolcrib.yaml", "second.yaml", "policies/main.cedar", ".env", ".env.local", "data.txt"];

/** A server whose tool says which files beside it have a text, also in the name of the tool; with an argument it prints that. */
const peekServer = `import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const reads = (name) => { try { return readFileSync(new URL(name, import.meta.url), "utf8") !== ""; } catch { return false; } };
const seen = () => ${JSON.stringify(names)}.filter(reads).join(" ");
if (process.argv[2] === "look") { console.log(seen()); process.exit(0); }
const tools = [{ name: seen().replace(/[^a-z]/g, "_"), inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }];
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const info = { capabilities: { tools: {} }, serverInfo: { name: "peek", version: "1" } };
  const results = { initialize: { protocolVersion: params?.protocolVersion, ...info }, "tools/list": { tools } };
  const result = results[method] ?? { content: [{ type: "text", text: seen() }] };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
}
`;

interface Added {
  readonly definitions: readonly { readonly name: string }[];
  readonly facts: readonly { readonly label: string; readonly text: string }[];
}

test("add names the folder of a script, whose files of the gateway the server never reads", {
  skip,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("project");
  writeFiles(folder, {
    "server.mjs": peekServer,
    ".env": "API_KEY=1\n",
    ".env.local": "API_KEY=2\n",
    "data.txt": "data\n",
    "policies/main.cedar": "permit(principal, action, resource);\n",
  });
  const setting = {
    directory: folder,
    stdin: "",
    env: { PATH: cleanEnvironment("/")["PATH"], HOME: directory.join("user") },
  };
  const home = ["--home", directory.join("home")];
  const readsText = ({ facts }: Added) => facts.find(({ label }) => label === "reads")?.text ?? "";
  // No configuration exists yet: the `.env` beside the one that the command would write is hidden all the same.
  const dry = await runToolcrib(
    [...home, "add", "--dry-run", "--json", "--id", "t", "--", "node", "server.mjs"],
    setting,
  );
  assert.equal(dry.code, 0, dry.stderr);
  const tried = JSON.parse(dry.stdout) as Added;
  assert.deepEqual(
    tried.definitions.map(({ name }) => name),
    ["policies_main_cedar_data_txt"],
  );
  const all = `the folder ${folder} with everything in it (its program), and the system; a HOME of its own, empty at each start`;
  assert.equal(readsText(tried), all);
  writeFiles(folder, {
    "second.yaml": "serve: { listen: 127.0.0.1:0 }\n",
    "toolcrib.yaml": `policy: { files: [policies/main.cedar] }
tool_servers:
  - id: t
    transport: { kind: stdio, command: node, args: [server.mjs] }
    mutability_class: read_only
    first_contact: pin
`,
  });
  const files = ["--config", "toolcrib.yaml", "--config", "second.yaml"];
  const called = await runToolcrib([...home, ...files, "call", "t__data_txt"], setting);
  assert.equal(called.code, 0, called.stderr);
  assert.equal(called.stdout.trim(), "data.txt");
  const uncontained = execFileSync("node", ["server.mjs", "look"], { cwd: folder, encoding: "utf8" });
  assert.equal(uncontained.trim(), names.join(" "));
});

test("add and import name the whole project of a script, a declared folder, and nothing of an installed program", {
  skip,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const project = directory.join("project");
  writeFiles(directory.path, {
    "project/package.json": "{}",
    "project/src/server.mjs": peekServer,
    "work/file": "",
    "other/mcp.json": JSON.stringify({
      mcpServers: {
        script: { command: "node", args: [`${project}/src/server.mjs`] },
        placed: { command: "node", args: ["-e", "0"], cwd: directory.join("work") },
        plain: { command: "node", args: ["-e", "0"] },
      },
    }),
  });
  const setting = {
    directory: directory.join("other"),
    stdin: "",
    env: { PATH: cleanEnvironment("/")["PATH"], HOME: directory.join("user") },
  };
  const home = ["--home", directory.join("home")];
  const words = ["add", "--dry-run", "--id", "t", "--read", "../work", "--"];
  const script = `${project}/src/server.mjs`;
  const added = await runToolcrib([...home, ...words, "node", script], setting);
  assert.equal(added.code, 0, added.stderr);
  assert.ok(
    added.stdout.includes(
      `the folder ${project} with everything in it (its program), ../work, and the system`,
    ),
    added.stdout,
  );
  const imported = await runToolcrib([...home, "import", "--dry-run", "--from", "mcp.json"], setting);
  assert.equal(imported.code, 0, imported.stderr);
  const text = imported.stdout.replaceAll(/\s+/g, " ");
  assert.ok(
    text.includes(`script: no network; of your folders it reads ${project}; it writes nothing`),
    text,
  );
  assert.ok(text.includes(`placed: no network; of your folders it reads ${directory.join("work")};`), text);
  assert.ok(text.includes("plain: no network; no folder of yours; it writes nothing"), text);
});
