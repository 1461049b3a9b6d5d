/** Repositories that were prepared for an installation: links and folders in the places of packages, and lock files. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { lockFileName, readInstalledPackages } from "@toolcrib/mcpkg-install";
import { makeTemporaryDirectory, type TemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { resolverOf } from "./folder-resolver.ts";
import { archiveOf, install, otherKey, placeIn } from "./sample-packages.ts";

const links: { readonly [title: string]: (directory: TemporaryDirectory) => void } = {
  ".mcp": (directory) => symlinkSync(directory.join("outside"), directory.join("project/.mcp")),
  ".mcp/tools": (directory) => {
    mkdirSync(directory.join("project/.mcp"));
    symlinkSync(directory.join("outside"), directory.join("project/.mcp/tools"));
  },
  "the folder for staging": (directory) => {
    mkdirSync(directory.join("project/.mcp/tools"), { recursive: true });
    symlinkSync(directory.join("outside"), directory.join("project/.mcp/tools/.staging"));
  },
};

describe("an installation writes nothing through a link in place of", () => {
  for (const [title, prepare] of Object.entries(links)) {
    test(title, async () => {
      await using directory = await makeTemporaryDirectory();
      const place = placeIn(directory);
      writeFiles(directory.path, { "outside/mine.txt": "mine" });
      prepare(directory);
      await assert.rejects(install(place, [archiveOf()]), { code: "INSTALL_FOLDER_UNUSABLE" });
      assert.deepEqual(readdirSync(directory.join("outside")), ["mine.txt"]);
      assert.deepEqual(
        (await readInstalledPackages({ home: place.home, projectFolder: place.project })).packages,
        [],
      );
    });
  }
});

test("what lies in the place of a package is not removed without its flag, and a link is not followed with it", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  writeFiles(directory.path, {
    "project/.mcp/tools/demo.echo/notes.txt": "mine",
    "outside/mine.txt": "mine",
  });
  symlinkSync(directory.join("outside"), directory.join("project/.mcp/tools/demo.link"));
  const linked = archiveOf({ toolId: "demo.link" });
  for (const archive of [archiveOf(), linked]) {
    await assert.rejects(install(place, [archive]), { code: "INSTALL_FOLDER_TAKEN" });
  }
  assert.equal(readFileSync(directory.join("project/.mcp/tools/demo.echo/notes.txt"), "utf8"), "mine");
  await install(place, [archiveOf(), linked], { allowed: { replacingFolder: true } });
  assert.deepEqual(readdirSync(directory.join("outside")), ["mine.txt"]);
  assert.equal(
    (await readInstalledPackages({ home: place.home, projectFolder: place.project })).packages.length,
    2,
  );
});

test("mcp.lock that is a link or damaged stops an installation before it begins", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const path = `${place.project}/${lockFileName}`;
  for (const text of [
    "{",
    '{"lockfileVersion":9,"packages":{}}',
    '{"lockfileVersion":1,"packages":{"../x":{}}}',
    "<<<<<<< mine\n",
  ]) {
    writeFileSync(path, text);
    await assert.rejects(install(place, [archiveOf()]), { code: "INSTALL_LOCK_INVALID" }, text);
    assert.equal(readFileSync(path, "utf8"), text);
  }
  await using other = await makeTemporaryDirectory();
  const second = placeIn(other);
  writeFileSync(other.join("outside.txt"), "mine");
  symlinkSync(other.join("outside.txt"), `${second.project}/${lockFileName}`);
  await assert.rejects(install(second, [archiveOf()]), { code: "INSTALL_LOCK_INVALID" });
  assert.equal(readFileSync(other.join("outside.txt"), "utf8"), "mine");
  assert.equal(existsSync(`${second.project}/.mcp`), false);
});

test("the lock of a clone installs exactly what it names, and what was locked cannot be replaced silently", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const archive = archiveOf();
  const resolver = resolverOf([
    { toolId: "demo.echo", version: "1.0.0", archive },
    { toolId: "demo.echo", version: "2.0.0", archive: archiveOf({ version: "2.0.0" }) },
  ]);
  await install(place, ["demo.echo@1.0.0"], { resolver });
  const clone = { home: directory.join("other-home"), project: directory.join("clone") };
  writeFiles(clone.project, { [lockFileName]: readFileSync(`${place.project}/${lockFileName}`, "utf8") });
  const isLocked = true;
  // Another archive of the same name, by another key.
  const evil = resolverOf([
    { toolId: "demo.echo", version: "1.0.0", archive: archiveOf({ signer: otherKey }) },
  ]);
  await assert.rejects(install(clone, [], { isLocked, resolver: evil }), { code: "INSTALL_DIGEST_MISMATCH" });
  await assert.rejects(install(clone, ["demo.echo"], { resolver: evil }), { code: "INSTALL_KEY_CHANGED" });
  assert.equal(existsSync(clone.home), false);
  const { packages } = await install(clone, [], { isLocked, resolver });
  assert.deepEqual(
    packages.map(({ version, isInstalled }) => [version, isInstalled]),
    [["1.0.0", false]],
  );
  assert.deepEqual((await install(clone, [], { isLocked, resolver })).packages, []);
  assert.equal(
    readFileSync(`${clone.project}/${lockFileName}`, "utf8"),
    readFileSync(`${place.project}/${lockFileName}`, "utf8"),
  );
});
