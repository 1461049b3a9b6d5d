/** `toolcrib rank` and `toolcrib regressions` with installed packages and the history of their tests. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { readInstalledPackages } from "@toolcrib/mcpkg-install";
import { createTestHistory, type TestRun } from "@toolcrib/store";
import { makeTemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

const manifest = (toolId: string, platforms?: readonly string[]) =>
  JSON.stringify({
    toolId,
    name: toolId,
    version: "1.0.0",
    description: "Reads PDFs.",
    capabilities: ["pdf"],
    implementations: [
      {
        id: "node",
        runtime: "node",
        ...(platforms === undefined ? {} : { platforms }),
        endpoint: { type: "local", command: "node ./run.js" },
      },
    ],
    input_schema: { type: "object" },
    output_schema: { type: "object" },
  });

test("rank and regressions read the history of the tests of installed packages", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const program = "console.log('{}')";
  await writeFiles(directory.path, {
    "good/manifest.json": manifest("acme.pdf.good"),
    "good/run.js": program,
    "slow/manifest.json": manifest("acme.pdf.slow"),
    "slow/run.js": program,
    "other/manifest.json": manifest("acme.pdf.other", ["sunos-sparc"]),
    "other/run.js": program,
  });
  for (const name of ["good", "slow", "other"]) {
    const { code, stderr } = await runToolcrib(["install", name, "--user"], setting);
    assert.equal(code, 0, stderr);
  }
  const home = directory.join(".toolcrib");
  const { packages } = await readInstalledPackages({ home });
  const history = createTestHistory(home, { randomBytes });
  const add = async (toolId: string, test: Partial<TestRun["tests"][number]>) => {
    const digest = packages.find((one) => one.toolId === toolId)?.digest ?? "";
    const one = {
      path: "tests/a.test.json",
      outcome: "passed",
      latencyMs: 20,
      shape: "sha256:1",
      ...test,
    } as const;
    const at = "2026-11-26T09:00:00.000Z";
    await history.add({ toolId, version: "1.0.0", digest, at, by: "command", durationMs: 20, tests: [one] });
  };
  for (let count = 0; count < 8; count += 1) {
    await add("acme.pdf.good", {});
    await add("acme.pdf.slow", { latencyMs: 400 });
  }
  const ranked = await runToolcrib(["rank", "pdf", "--json"], setting);
  assert.equal(ranked.code, 0, ranked.stderr);
  const ranks = JSON.parse(ranked.stdout) as { toolId: string; score: number; parts: { fit: number } }[];
  assert.deepEqual(
    ranks.map(({ toolId, parts }) => [toolId, parts.fit]),
    [
      ["acme.pdf.good", 1],
      ["acme.pdf.slow", 1],
      ["acme.pdf.other", 0],
    ],
  );
  assert.match((await runToolcrib(["rank", "pdf"], setting)).stdout, /SCORE +PASS RATE/);
  assert.match((await runToolcrib(["rank", "images"], setting)).stderr, /known: pdf/);

  const calm = await runToolcrib(["regressions"], setting);
  assert.equal(calm.code, 0, calm.stderr);
  assert.match(calm.stdout, /No regression in 2 packages/);
  await add("acme.pdf.good", { outcome: "failed", failures: ["$.pages is 0"] });
  const worse = await runToolcrib(["regressions", "acme.pdf.good"], setting);
  assert.equal(worse.code, 1);
  assert.match(worse.stdout, /tests\/a\.test\.json: it passed before: \$\.pages is 0/);
  assert.equal((await runToolcrib(["regressions", "acme.none.x"], setting)).code, 4);
});
