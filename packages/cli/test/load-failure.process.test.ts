/** A command of an incomplete installation reports the missing package. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { makeTemporaryDirectory, runProcess, writeFiles } from "@toolcrib/testing";
import { cleanEnvironment, modulesCommandLine } from "./transcript.ts";

const cli = join(import.meta.dirname, "..");
const modules = join(cli, "../../node_modules");

/** Copies the command to `target`, with links to all packages but `missing`. Returns the launcher. */
function installWithout(missing: string, target: string): string {
  const scope = join(target, "node_modules/@toolcrib");
  mkdirSync(scope, { recursive: true });
  for (const name of readdirSync(join(modules, "@toolcrib"))) {
    if (name !== missing) symlinkSync(join(modules, "@toolcrib", name), join(scope, name), "junction");
  }
  symlinkSync(join(modules, "commander"), join(target, "node_modules/commander"), "junction");
  for (const part of ["package.json", "bin", "src"])
    cpSync(join(cli, part), join(target, part), { recursive: true });
  return join(target, "bin/toolcrib.js");
}

// `diagnostics` and `store` are also needed to report an error, `gateway` and `config` only to serve.
for (const missing of ["diagnostics", "store", "gateway", "config"]) {
  test(`serve reports that @toolcrib/${missing} is missing`, async () => {
    await using directory = await makeTemporaryDirectory();
    const launcher = installWithout(missing, directory.join("toolcrib"));
    const { code, stdout, stderr } = await runProcess(process.execPath, [launcher, "serve"], {
      cwd: directory.path,
      env: cleanEnvironment(directory.path),
    });
    assert.equal(code, 1, stderr);
    assert.equal(stdout, "");
    const text = stderr.replaceAll(directory.path, "");
    assert.match(
      text,
      new RegExp(
        `^error CLI_INSTALLATION_INCOMPLETE: Cannot load a part of Toolcrib: Cannot find package '@toolcrib/${missing}' imported from `,
      ),
    );
    assert.match(text, /\nhint: install Toolcrib again; in a checkout, run npm ci\n$/);
  });
}

test("a bridge whose Toolcrib is removed, or being updated, says so instead of a missing module", async () => {
  await using directory = await makeTemporaryDirectory();
  const launcher = installWithout("none", directory.join("toolcrib"));
  writeFiles(directory.path, { "toolcrib.yaml": "tool_servers: []\n" });
  const words = [launcher, "--config", directory.join("toolcrib.yaml"), "bridge"];
  const child = spawn(process.execPath, words, {
    cwd: directory.path,
    env: cleanEnvironment(directory.path),
    stdio: ["pipe", "pipe", "ignore"],
  });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const answerTo = async (message: object) => {
      child.stdin.write(`${JSON.stringify(message)}\n`);
      const { value = "{}" } = await lines.next();
      return JSON.parse(value) as { readonly error?: { readonly message: string } };
    };
    // It answers, so all of it is loaded.
    assert.ok((await answerTo({ id: 1 })).error);
    rmSync(launcher);
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    };
    const { error } = await answerTo({ jsonrpc: "2.0", id: 2, method: "initialize", params });
    assert.match(
      error?.message ?? "",
      /^No gateway could be started: .*toolcrib\.js does not exist: Toolcrib was removed, or is being updated \(install it again, /,
    );
    child.stdin.end();
    assert.deepEqual(await once(child, "close"), [0, null]);
  } finally {
    child.kill("SIGKILL");
  }
});

test("a command that decides by policies says that the policy engine is missing, and permits nothing", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, {
    "toolcrib.yaml": "policy: { files: [all.cedar] }\n",
    "all.cedar": "permit (principal, action, resource);\n",
    "without-engine.mjs": `import { registerHooks } from "node:module";
registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith("@cedar-policy/")) throw new Error("Cannot find the engine");
    return next(specifier, context);
  },
});
`,
  });
  const hook = `--import=${directory.join("without-engine.mjs")}`;
  for (const command of [
    ["policy", "check"],
    ["call", "notes:search"],
  ]) {
    const { code, stdout, stderr } = await runProcess(
      process.execPath,
      [hook, ...modulesCommandLine, ...command],
      { cwd: directory.path, env: cleanEnvironment(directory.path) },
    );
    assert.equal(code, 2, stderr);
    assert.match(
      `${stdout}${stderr}`,
      /CEDAR_UNAVAILABLE\nThe policy engine cannot be loaded: Cannot find the engine\nhint: reinstall Toolcrib/,
    );
  }
});
