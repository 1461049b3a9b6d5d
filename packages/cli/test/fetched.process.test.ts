/** The commands for packages that npx, uvx and go run launch. The tests of `runners` fetch real ones. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

const receipt = {
  version: 1,
  kind: "npm",
  packages: ["@scope/server@1"],
  locked: [{ name: "@scope/server", version: "1.2.3", integrity: "sha512-x" }],
  folder: "v1",
  program: "program",
  treeDigest: "0".repeat(64),
  files: 1,
  bytes: 1_000_000,
  fetchedAt: Date.UTC(2026, 0, 2),
};

test("fetched packages are listed, verified and removed", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = async (...args: readonly string[]) => await runToolcrib(args, setting);
  assert.match((await run("fetched", "list")).stdout, /No fetched packages/);
  const place = directory.join(".toolcrib", "fetched", "npm-server");
  mkdirSync(`${place}/v1`, { recursive: true });
  writeFileSync(`${place}/v1/program`, "other");
  writeFileSync(`${place}/receipt.json`, JSON.stringify(receipt));
  assert.match(
    (await run("fetched", "list")).stdout,
    /npm-server +@scope\/server 1\.2\.3 +1 +1\.0 +2026-01-02/,
  );
  const verified = await run("fetched", "verify");
  assert.equal(verified.code, 1);
  assert.match(verified.stdout, /CHANGED .*@scope\/server 1\.2\.3/);
  const missing = await run("fetched", "remove", "other");
  assert.match(missing.stderr, /There is no fetched package "other"[\s\S]*npm-server/);
  assert.equal((await run("fetched", "remove", "npm-server")).code, 0);
  assert.match((await run("fetched", "list")).stdout, /No fetched packages/);
});
