import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import {
  applyInstall,
  compareLock,
  findUpdates,
  isOutdated,
  lockFileName,
  planInstall,
  readInstalledPackages,
  rewriteLock,
  sourcesOfUpdates,
} from "@toolcrib/mcpkg-install";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { resolverOf } from "./folder-resolver.ts";
import { archiveOf, changeDeps, install, placeIn, validator } from "./sample-packages.ts";

const { signal } = new AbortController();
const release = (toolId: string, version: string) => ({
  toolId,
  version,
  archive: archiveOf({ toolId, version }),
});

test("outdated packages are found in their range, and updated together", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const old = resolverOf([release("demo.a", "1.0.0"), release("demo.b", "1.0.0")]);
  await install(place, ["demo.a@^1", "demo.b"], { resolver: old });
  await install(place, [archiveOf({ toolId: "demo.file" })]);
  const resolver = resolverOf([
    release("demo.a", "1.0.0"),
    release("demo.a", "1.1.0"),
    release("demo.a", "2.0.0"),
    release("demo.b", "1.0.0"),
  ]);
  const updates = await findUpdates(resolver, place, { signal });
  assert.deepEqual(
    updates.map((one) => [one.toolId, one.version, one.wanted, one.latest, isOutdated(one)]),
    [
      ["demo.a", "1.0.0", "1.1.0", "2.0.0", true],
      ["demo.b", "1.0.0", "1.0.0", "1.0.0", false],
      ["demo.file", "1.0.0", undefined, undefined, false],
    ],
  );
  assert.deepEqual(
    sourcesOfUpdates(updates, true).map(({ shown }) => shown),
    ["demo.a@^1", directory.join("archive-0.mcpkg")],
  );
  const deps = { validator, resolver, fetchBytes: async () => new Uint8Array() };
  const sources = sourcesOfUpdates(updates, false);
  await applyInstall(changeDeps, await planInstall(deps, { ...place, sources, allowed: {}, signal }));
  const { packages } = await readInstalledPackages({ home: place.home, projectFolder: place.project });
  assert.deepEqual(
    packages.map(({ toolId, version, source }) => [toolId, version, source]),
    [
      ["demo.a", "1.1.0", "demo.a@^1"],
      ["demo.b", "1.0.0", "demo.b@*"],
      ["demo.file", "1.0.0", directory.join("archive-0.mcpkg")],
    ],
  );
  await assert.rejects(findUpdates(resolver, place, { toolIds: ["demo.none"], signal }), {
    code: "INSTALL_NOT_FOUND",
  });
});

test("the lock file is compared with what is installed, and written anew", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  await install(place, [archiveOf()]);
  const path = `${place.project}/${lockFileName}`;
  const text = readFileSync(path, "utf8");
  assert.deepEqual(await compareLock(place), { changed: [], missing: [] });
  writeFileSync(path, text.replaceAll("demo.echo", "demo.other"));
  assert.deepEqual(await compareLock(place), { changed: ["demo.echo"], missing: ["demo.other"] });
  rmSync(path);
  assert.deepEqual(await compareLock(place), { changed: ["demo.echo"], missing: [] });
  assert.equal(await rewriteLock(changeDeps, place), 1);
  assert.equal(readFileSync(path, "utf8"), text);
});
