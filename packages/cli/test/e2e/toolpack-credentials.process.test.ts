/** Packages with the engine that need a credential are named when they are built. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { runToolcrib } from "../transcript.ts";
import { writeCatalog } from "./toolpack-images.ts";

test("a build of packages names those whose engine cannot authenticate", async () => {
  await using home = await makeTemporaryDirectory();
  const setting = { directory: home.path, env: { ...writeCatalog(home.path, "alpha") } };
  const file = home.join("catalog/toolspecs/alpha/0.1.0.yaml");
  const text = readFileSync(file, "utf8")
    .replace("schemaVersion: 1", "schemaVersion: 2")
    .replace("https://api.alpha.example", "https://{tenant}.alpha.example")
    .replace(
      "tools:\n",
      "variables:\n  tenant: { default: api, description: name of the company }\ntools:\n",
    );
  writeFileSync(file, text);
  const built = await runToolcrib(
    ["toolpack", "build", "alpha", "--format", "mcpkg", "--out", "out"],
    setting,
  );
  assert.equal(built.code, 0, built.stderr);
  assert.match(
    built.stderr,
    /warning: programs of packages get no secrets: \d+ packages? with the engine cannot authenticate in a gateway: alpha\./,
  );
});
