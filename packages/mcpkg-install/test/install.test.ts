import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { digestArchive, keyIdOf } from "@toolcrib/mcpkg";
import {
  lockFileName,
  openInstalledPackage,
  readInstalledPackages,
  readLock,
  uninstallPackages,
} from "@toolcrib/mcpkg-install";
import { makeTemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { resolverOf } from "./folder-resolver.ts";
import {
  archiveOf,
  changeDeps,
  install,
  key,
  packageFiles,
  placeIn,
  plan,
  validator,
} from "./sample-packages.ts";

const toolFiles = { "bin/run.sh": "#!/bin/sh\n", "docs/übung.md": "# Übung\n", ".hidden": "h" };

test("a signed file is installed into the project: folder, record, lock file and pinned key", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const sample = { files: toolFiles, executable: "bin/run.sh" };
  const archive = archiveOf(sample);
  const { packages: planned } = await install(place, [archive]);
  assert.deepEqual(
    planned.map(({ toolId, version, isInstalled, isKeyNew }) => [toolId, version, isInstalled, isKeyNew]),
    [["demo.echo", "1.0.0", false, true]],
  );
  const { packages, diagnostics } = await readInstalledPackages({
    home: place.home,
    projectFolder: place.project,
  });
  assert.deepEqual(diagnostics, []);
  const [found] = packages;
  assert(found);
  assert.equal(found.folder, directory.join("project/.mcp/tools/demo.echo"));
  assert.equal(found.digest, digestArchive(archive));
  assert.equal(found.publisherKey, keyIdOf(key));
  assert.equal(found.installedAt, "2023-11-14T22:13:20.000Z");
  // Exactly the files of the archive, with their contents, and executable where they were.
  const expected = packageFiles(sample);
  const onDisk = readdirSync(found.folder, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  assert.equal(onDisk.length, expected.size);
  for (const [path, { bytes, isExecutable }] of expected) {
    assert.deepEqual(readFileSync(`${found.folder}/${path}`), Buffer.from(bytes));
    assert.equal((statSync(`${found.folder}/${path}`).mode & 0o111) !== 0, isExecutable, path);
    assert.equal(statSync(`${found.folder}/${path}`).mode & 0o222, 0, path);
  }
  assert.deepEqual([...openInstalledPackage(found, validator).files.keys()], [...expected.keys()].toSorted());
  const locked = await readLock(place.project);
  assert.deepEqual(
    [...(locked ?? [])],
    [
      [
        "demo.echo",
        {
          version: "1.0.0",
          digest: digestArchive(archive),
          publisherKey: keyIdOf(key),
          source: directory.join("archive-0.mcpkg"),
        },
      ],
    ],
  );
  assert.deepEqual(readdirSync(`${place.project}/.mcp/tools`), ["demo.echo"]);
});

test("a package is installed again only where something differs, and uninstalled without a trace", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const archive = archiveOf();
  await install(place, [archive]);
  const folder = `${place.project}/.mcp/tools/demo.echo`;
  const before = statSync(folder).ino;
  assert.equal((await install(place, [archive])).packages[0]?.isInstalled, true);
  assert.equal(statSync(folder).ino, before);
  // A file that was changed is repaired.
  writeFileSync(`${folder}/added.txt`, "x");
  await install(place, [archive]);
  assert.equal(existsSync(`${folder}/added.txt`), false);
  assert.equal(
    (await readInstalledPackages({ home: place.home, projectFolder: place.project })).packages.length,
    1,
  );
  const removed = await uninstallPackages(changeDeps, { ...place, toolIds: ["demo.echo"] });
  assert.deepEqual(removed, [{ toolId: "demo.echo", version: "1.0.0", publisherKey: keyIdOf(key) }]);
  assert.deepEqual(readdirSync(`${place.project}/.mcp/tools`), []);
  assert.equal(existsSync(`${place.project}/${lockFileName}`), false);
  await assert.rejects(uninstallPackages(changeDeps, { ...place, toolIds: ["demo.echo"] }), {
    code: "INSTALL_NOT_FOUND",
  });
});

test("a folder is installed as it would be packed, without hidden files, and again after each change", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const manifest = Buffer.from(
    packageFiles({ signer: undefined }).get("manifest.json")?.bytes ?? "",
  ).toString();
  writeFiles(place.project, { "echo/manifest.json": manifest, "echo/.git/config": "x" });
  await install(place, ["./echo"]);
  const folder = `${place.project}/.mcp/tools/demo.echo`;
  assert.deepEqual(readdirSync(folder), ["manifest.json"]);
  writeFiles(place.project, { "echo/more.md": "more" });
  await install(place, ["./echo"]);
  assert.deepEqual(readdirSync(folder).toSorted(), ["manifest.json", "more.md"]);
  // A path in the project means the same in every clone of it.
  assert.equal((await readLock(place.project))?.get("demo.echo")?.source, "./echo");
});

test("packages for the user are in the home, and those of a project take their place in it", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  await install(place, [archiveOf({ version: "1.0.0" })], { isForUser: true });
  await install(place, [archiveOf({ version: "2.0.0" })]);
  const versions = async (projectFolder?: string) =>
    (await readInstalledPackages({ home: place.home, projectFolder })).packages.map(({ version, scope }) => [
      version,
      scope,
    ]);
  assert.deepEqual(await versions(), [["1.0.0", "user"]]);
  assert.deepEqual(await versions(place.project), [["2.0.0", "project"]]);
  assert.equal(existsSync(`${place.home}/packages/demo.echo/manifest.json`), true);
});

test("the lock file has the same bytes whatever the order and the time of the installations", async () => {
  await using directory = await makeTemporaryDirectory();
  const texts: string[] = [];
  const releases = ["a.one", "a.two", "b.three"].map((toolId) => ({
    toolId,
    version: "1.0.0",
    archive: archiveOf({ toolId }),
  }));
  const resolver = resolverOf(releases);
  for (const order of [
    ["a.one", "a.two", "b.three"],
    ["b.three", "a.two", "a.one"],
  ]) {
    const name = order.join();
    const project = directory.join(name);
    writeFiles(directory.path, { [`${name}/x`]: "" });
    for (const toolId of order)
      await install({ home: directory.join(`home-${name}`), project }, [toolId], { resolver });
    texts.push(readFileSync(`${project}/${lockFileName}`, "utf8"));
  }
  assert.equal(texts[0], texts[1]);
  assert.match(texts[0] ?? "", /"source": "a\.one@\*"/);
});

test("nothing is written where a package is refused, and every source that is none is named", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const check = async (source: string, code: string, message: RegExp) => {
    await assert.rejects(
      async () => plan(place, [source]),
      (error: Error & { code: string }) => {
        assert.equal(error.code, code, `${source}: ${error.message}`);
        assert.match(error.message, message);
        return true;
      },
    );
  };
  writeFiles(place.project, { "bad/manifest.json": '{"toolId": "x"}', "text.mcpkg": "not a zip" });
  await check("none.mcpkg", "INSTALL_SOURCE_UNUSABLE", /no such file/);
  await check("text.mcpkg", "MCPKG_ARCHIVE_INVALID", /"text\.mcpkg" is not installed/);
  await check("./bad", "INSTALL_PACKAGE_INVALID", /error\(s\), the first is: /);
  await check("demo.echo", "INSTALL_NO_REGISTRY", /no registry is configured/);
  await check("http://example.com/a.mcpkg", "INSTALL_SOURCE_INVALID", /only https/);
  await check("file:///etc/passwd", "INSTALL_SOURCE_INVALID", /only https/);
  await check("https://me:secret@example.com/a.mcpkg", "INSTALL_SOURCE_INVALID", /has a user/);
  await check("demo.echo@latest!", "INSTALL_SOURCE_INVALID", /no range/);
  assert.equal(existsSync(place.home), false);
  assert.deepEqual(readdirSync(place.project).toSorted(), ["bad", "text.mcpkg"]);
});
