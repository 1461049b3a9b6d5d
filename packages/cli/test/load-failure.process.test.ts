/** A command of an incomplete installation reports the missing package. */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory, runProcess } from "@toolcrib/testing";
import { cleanEnvironment } from "./transcript.ts";

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
