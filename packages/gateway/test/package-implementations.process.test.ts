/** Implementations of packages in a gateway: which one runs, which one gives way, and what the audit says. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { startTestGateway } from "./gateway-harness.ts";
import { type PackageContent, putPackages } from "./package-harness.ts";

const files = {
  "ok.mjs": 'console.log(JSON.stringify({ by: "ok" }))',
  "other.mjs": 'console.log(JSON.stringify({ by: "other" }))',
  "missing.mjs": 'import "a-library-that-nobody-has";',
  "worked.mjs":
    'import { appendFileSync } from "node:fs"; appendFileSync(JSON.parse(process.argv.at(-1)).log, "x"); await import("a-library-that-nobody-has");',
  "late.mjs": 'console.error("Error: it failed in its work"); process.exitCode = 1;',
  "bin/tool": "#!/no/such/interpreter\n",
  "bin/plain": "no program\n",
};

function packageOf(implementations: readonly JsonObject[]): PackageContent {
  const manifest = {
    toolId: "test.choice.tool",
    name: "Choice",
    version: "1.0.0",
    description: "Has several implementations.",
    capabilities: [],
    implementations,
    input_schema: { type: "object" },
    output_schema: {},
  };
  return { manifest, files };
}

function local(id: string, command: string, more: JsonObject = {}): JsonObject {
  return { id, endpoint: { type: "local", command }, ...more };
}

/** Calls the package once. @returns its result, and the records about implementations */
async function call(
  implementations: readonly JsonObject[],
  entry: JsonObject = {},
  inFolder?: (folder: string) => { readonly args: JsonObject; readonly containment: JsonObject },
) {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  putPackages(home, [packageOf(implementations)]);
  const { args = {}, ...granted } = inFolder?.(directory.path) ?? {};
  const packages = { "test.choice.tool": { trust_state: "verified", ...granted, ...entry } };
  await using gateway = await startTestGateway({ packages }, { home });
  const client = await gateway.connect();
  const result = await client.callTool({ name: "test.choice.tool", arguments: args });
  await gateway.stop();
  const ran = gateway.audit().flatMap((record) => (record.type === "package.ran" ? [record.data] : []));
  const state = gateway.gateway.status().packages[0]?.health;
  const log = typeof args["log"] === "string" ? readFileSync(args["log"], "utf8") : undefined;
  return { result, ran, state, log };
}

/** A program of it changes nothing that is still there when it has ended. */
const contained = { containment: { network_egress: "deny", filesystem_write: "deny" } };

test("an implementation that cannot be started gives way to the next one, and the audit names both", async () => {
  const cases: readonly [id: string, command: string, reason: RegExp][] = [
    ["library", "node missing.mjs", /a-library-that-nobody-has/],
    ["script", "node none.mjs", /Cannot find module/],
    ["interpreter", "./bin/tool", /interpreter|ENOENT|exited with code/],
    ["plain", "./bin/plain", /not executable|EACCES/],
  ];
  for (const [id, command, reason] of cases) {
    const { result, ran } = await call([local(id, command), local("second", "node ok.mjs")], contained);
    assert.deepEqual(result["structuredContent"], { by: "ok" }, id);
    const [record, ...more] = ran;
    assert.deepEqual(more, []);
    assert.equal(record?.implementation, "second");
    assert.equal(record?.passedOver?.[0]?.id, id);
    assert.match(record?.passedOver?.[0]?.reason ?? "", reason);
  }
});

test("an implementation that started and failed is the result, and no other one runs", async () => {
  const { result, ran } = await call([local("first", "node late.mjs"), local("second", "node ok.mjs")]);
  assert.equal(result.isError, true);
  assert.match(JSON.stringify(result.content), /it failed in its work/);
  assert.deepEqual(
    ran.map(({ implementation }) => implementation),
    ["first"],
  );
});

test("a library that is missing late ends the call where the program could have changed something", async () => {
  const both = [local("first", "node worked.mjs"), local("second", "node ok.mjs")];
  const { result, ran, log } = await call(both, {}, (folder) => {
    const path = join(folder, "work", "log");
    mkdirSync(join(folder, "work"));
    writeFileSync(path, "");
    return {
      args: { log: path },
      containment: {
        network_egress: "deny",
        filesystem_write: "scoped",
        write_paths: [join(folder, "work")],
      },
    };
  });
  assert.equal(result.isError, true);
  assert.match(JSON.stringify(result.content), /a-library-that-nobody-has.*no other implementation runs/);
  assert.equal(log, "x");
  assert.deepEqual(
    ran.map(({ implementation, passedOver }) => [implementation, passedOver]),
    [["first", undefined]],
  );
  // With a network it can have called another system; with a folder of its own it can have stored something.
  const missing = [local("first", "node missing.mjs"), local("second", "node ok.mjs")];
  for (const entry of [
    { containment: { network_egress: "allow", filesystem_write: "deny" } },
    { containment: { network_egress: "deny", filesystem_write: "deny", state: true } },
  ]) {
    const failed = await call(missing, entry);
    assert.equal(failed.result.isError, true, JSON.stringify(entry));
    assert.equal(failed.ran[0]?.implementation, "first");
  }
});

test("a script that does not exist gives way also where programs may change something", async () => {
  const { result, ran } = await call([local("script", "node none.mjs"), local("second", "node ok.mjs")]);
  assert.deepEqual(result["structuredContent"], { by: "ok" });
  assert.equal(ran[0]?.passedOver?.[0]?.id, "script");
});

test("where no implementation can be started the error names each, and so does the audit", async () => {
  const both = [local("first", "node missing.mjs"), local("second", "./bin/plain")];
  const { result, ran } = await call(both, contained);
  assert.equal(result.isError, true);
  assert.match(JSON.stringify(result.content), /first: .*second: /);
  assert.equal(ran[0]?.implementation, undefined);
  assert.deepEqual(
    ran[0]?.passedOver?.map(({ id }) => id),
    ["first", "second"],
  );
});

test("the configuration selects a language or an implementation, and the state says where none is left", async () => {
  const both = [
    local("js", "node ok.mjs", { language: "javascript", runtime: "node" }),
    local("ts", "node other.mjs", { language: "typescript", runtime: "node" }),
  ];
  assert.deepEqual((await call(both)).result["structuredContent"], { by: "ok" });
  assert.deepEqual((await call(both, { language: "typescript" })).result["structuredContent"], {
    by: "other",
  });
  assert.deepEqual((await call(both, { implementation: "ts" })).result["structuredContent"], { by: "other" });
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  putPackages(home, [packageOf(both)]);
  await using gateway = await startTestGateway(
    { packages: { "test.choice.tool": { language: "rust" } } },
    { home },
  );
  const [status] = gateway.gateway.status().packages;
  assert.equal(status?.health.state, "unavailable");
  assert.match(status?.health.reason ?? "", /js: its language is javascript, and rust is wanted/);
  const client = await gateway.connect();
  assert.ok(!(await client.listTools()).tools.some(({ name }) => name === "test.choice.tool"));
});
