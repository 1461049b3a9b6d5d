/** The bundled command loads large libraries and modules of Node with their first use: a gateway that waits has none of them. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { startOwnGateway } from "./own-gateway.ts";

const bundle = process.env["TOOLCRIB_TEST_COMMAND"];

/** A module that prints the name of each file of a library that Node loads. */
const printLibraries = `
import { writeSync } from "node:fs";
import { registerHooks } from "node:module";
registerHooks({
  load(url, context, next) {
    const name = /([^/]+)\\.cjs$/.exec(url)?.[1];
    if (name !== undefined) writeSync(2, \`loaded \${name}\\n\`);
    return next(url, context);
  },
});`;

/** A module that prints the names of the modules of Node that are loaded, each time that the process gets a signal. */
const printModules = `
process.on("SIGUSR2", () => {
  const names = process.moduleLoadList.filter((name) => name.startsWith("NativeModule "));
  require("node:fs").writeSync(2, names.map((name) => "has " + name.slice(13) + "\\n").join("") + "listed\\n");
});`;

const launcher = join(import.meta.dirname, "../bin/toolcrib.js");

/** The public modules of Node in what {@link printModules} printed. */
function modulesIn(text: string): ReadonlySet<string> {
  const names = [...text.matchAll(/^has (.+)$/gm)].map(([, name]) => name!);
  return new Set(names.filter((name) => isBuiltin(`node:${name}`)));
}

test("a gateway loads the modules of Node that its launcher names, and none that it rarely needs", {
  skip:
    process.platform === "win32" ? "needs signals" : bundle === undefined && "npm test bundles the command",
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const preload = directory.join("print-modules.cjs");
  writeFileSync(preload, printModules);
  await using gateway = await startOwnGateway(["--require", preload, launcher], directory);
  await gateway.client.close();
  process.kill(gateway.process.pid, "SIGUSR2");
  await waitUntil(() => gateway.process.stderr().includes("listed\n"));
  const loaded = modulesIn(gateway.process.stderr());
  const list = /const modulesOfGateways = (\[[^\]]*\]);/.exec(readFileSync(launcher, "utf8"))?.[1];
  const named = `for (const name of ${list}) require("node:" + name); require("node:v8"); process.emit("SIGUSR2");`;
  const { stderr } = spawnSync(process.execPath, ["--require", preload, "--eval", named], {
    encoding: "utf8",
  });
  const expected = modulesIn(stderr);
  assert.ok(expected.has("http"), stderr);
  assert.deepEqual(
    [...loaded].filter((name) => !expected.has(name)),
    [],
  );
  const rare = ["http2", "https", "readline", "readline/promises", "tls", "zlib"];
  assert.deepEqual(
    rare.filter((name) => loaded.has(name)),
    [],
  );
});

test("a gateway loads the check of arguments with its first call, and no library before", {
  skip: bundle === undefined && "npm test bundles the command",
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const preload = `--import=data:text/javascript,${encodeURIComponent(printLibraries)}`;
  await using gateway = await startOwnGateway([preload, bundle!], directory);
  const loaded = () => [...gateway.process.stderr().matchAll(/^loaded (\w+)$/gm)].map(([, name]) => name);
  assert.deepEqual(loaded(), []);
  await gateway.client.callTool({ name: "s__echo", arguments: { text: "hello" } });
  await waitUntil(() => loaded().includes("ajv"));
  assert.ok(!loaded().includes("yaml"), loaded().join());
});

/** The code and the text of what a gateway answers to a call. */
interface Answer {
  readonly code: unknown;
  readonly text: string;
}

/** The answers of a gateway of a copy of the bundle, of which `library` is away for the first calls. */
async function answersWithout(
  library: string,
  schema: object,
  calls: readonly object[],
): Promise<{ readonly without: readonly Answer[]; readonly after: readonly Answer[]; readonly log: string }> {
  await using directory = await makeTemporaryDirectory();
  const copied = directory.join("bundle");
  cpSync(dirname(bundle!), copied, { recursive: true });
  const server = directory.join("server.mjs");
  writeFileSync(server, serverCode(schema));
  const transport = { command: process.execPath, args: [server] };
  await using gateway = await startOwnGateway([join(copied, basename(bundle!))], directory, transport);
  const { client } = gateway;
  const call = async (values: object): Promise<Answer> => {
    const request = client.callTool({ name: "s__take", arguments: { ...values } });
    const answer = await request.catch(({ message, data }: { message: string; data?: unknown }) => ({
      content: [{ text: message }],
      _meta: data as object,
    }));
    const { content, _meta: meta = {} } = answer as {
      readonly content: readonly { readonly text: string }[];
      readonly _meta?: { readonly [key: string]: unknown };
    };
    return { code: meta["toolcrib/code"] ?? meta["code"], text: content.map(({ text }) => text).join("\n") };
  };
  const callAll = async () => {
    const answers: Answer[] = [];
    for (const values of calls) answers.push(await call(values));
    return answers;
  };
  const file = join(copied, `${library}.cjs`);
  renameSync(file, `${file}.away`);
  const without = await callAll();
  renameSync(`${file}.away`, file);
  const after = await callAll();
  return { without, after, log: gateway.process.stderr() };
}

/** A server whose tool `take` has `schema`, and returns what reached it. */
function serverCode(schema: object): string {
  return `
import { createInterface } from "node:readline";
const tools = [{ name: "take", description: "Takes values", inputSchema: ${JSON.stringify(schema)} }];
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ arguments: args }) => ({ content: [{ type: "text", text: "reached with " + JSON.stringify(args) }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const rest = answer === undefined ? { error: { code: -32601, message: "unknown" } } : { result: answer(params) };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...rest }));
}`;
}

const missing = { skip: bundle === undefined && "npm test bundles the command" };
const refusal = (library: string) =>
  new RegExp(`Cannot load the library ${library}\\.cjs of Toolcrib: \\w+[^/]*restart it`);

for (const { library, schema, valid, invalid } of [
  {
    library: "ajv",
    schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    valid: { n: 1 },
    invalid: { n: "/etc/shadow" },
  },
  {
    library: "ajv",
    schema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { n: { type: "string", format: "date" } },
      unevaluatedProperties: false,
    },
    valid: { n: "2026-01-01" },
    invalid: { n: "/etc/shadow" },
  },
  {
    library: "re2js",
    schema: { type: "object", properties: { n: { type: "string", pattern: "^[a-z]+$" } } },
    valid: { n: "abc" },
    invalid: { n: "/etc/shadow" },
  },
]) {
  test(
    `no call passes unchecked while ${library} cannot be loaded, nor after: ${JSON.stringify(schema)}`,
    missing,
    async () => {
      const { without, after, log } = await answersWithout(library, schema, [invalid, valid, invalid]);
      for (const { code, text } of without) {
        assert.equal(code, "LIBRARY_UNAVAILABLE", text);
        assert.match(text, refusal(library));
      }
      assert.deepEqual(
        after.map(({ code }) => code),
        ["ARGUMENTS_INVALID", undefined, "ARGUMENTS_INVALID"],
      );
      assert.equal(after[1]!.text, `reached with ${JSON.stringify(valid)}`);
      assert.doesNotMatch(log, /unchecked/);
    },
  );
}
