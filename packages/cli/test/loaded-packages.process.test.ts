/** Commands that only handle files start without the packages of a running gateway. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTemporaryDirectory, runProcess } from "@toolcrib/testing";
import { writeCatalog } from "./toolspec-samples.ts";
import { cleanEnvironment, modulesCommandLine } from "./transcript.ts";

/** A module that prints the name of each workspace package that Node loads. */
const printPackages = `
import { writeSync } from "node:fs";
import { registerHooks } from "node:module";
const seen = new Set();
registerHooks({
  load(url, context, next) {
    const name = /\\/packages\\/([a-z]+)\\/(?:src|dist)\\//.exec(url)?.[1];
    if (name !== undefined && !seen.has(name)) {
      seen.add(name);
      writeSync(2, \`loaded \${name}\\n\`);
    }
    return next(url, context);
  },
});`;

async function loadedPackages(args: readonly string[], directory: string): Promise<readonly string[]> {
  const preload = `data:text/javascript,${encodeURIComponent(printPackages)}`;
  const { code, stderr } = await runProcess(process.execPath, [...modulesCommandLine, ...args], {
    cwd: directory,
    env: {
      ...cleanEnvironment(directory),
      TOOLCRIB_CATALOG: "catalog",
      NODE_OPTIONS: `--import=${preload}`,
    },
  });
  assert.equal(code, 0, stderr);
  return [...stderr.matchAll(/^loaded ([a-z]+)$/gm)].map(([, name = ""]) => name);
}

test("config check, init and add load the configuration, and no gateway", async () => {
  await using directory = await makeTemporaryDirectory();
  writeCatalog(directory.join("catalog"));
  for (const args of [["init"], ["add", "open"], ["config", "check"], ["config", "schema"]]) {
    const loaded = await loadedPackages(args, directory.path);
    assert.ok(loaded.includes("config"), `${args.join(" ")} loads ${loaded.join(", ")}`);
    for (const name of ["gateway", "upstream", "metatool", "toolpack", "egress", "mcp"]) {
      assert.ok(!loaded.includes(name), `${args.join(" ")} loads ${loaded.join(", ")}`);
    }
  }
});
