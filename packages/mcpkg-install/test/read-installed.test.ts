import assert from "node:assert/strict";
import { hash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { describe, test } from "node:test";
import { SchemaValidator } from "@toolcrib/json";
import {
  CheckedFolders,
  InstallError,
  type InstalledPackage,
  openInstalledPackage,
  readInstalledPackages,
} from "@toolcrib/mcpkg-install";
import { makeTemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { echoFiles, writeInstalled } from "./record-by-hand.ts";

const validator = new SchemaValidator();

test("packages of the record are installed, those of a project only in it", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  assert.deepEqual(await readInstalledPackages({ home }), { packages: [], diagnostics: [] });
  writeInstalled(directory.path, "home", "project/.mcp/tools", directory.join("project"));
  const { packages, diagnostics } = await readInstalledPackages({
    home,
    projectFolder: directory.join("project"),
  });
  assert.deepEqual(diagnostics, []);
  const [found] = packages as [InstalledPackage];
  assert.equal(found.folder, directory.join("project/.mcp/tools/demo.echo"));
  assert.deepEqual(
    [found.toolId, found.version, found.scope, found.publisherKey],
    ["demo.echo", "0.1.0", "project", undefined],
  );
  const opened = openInstalledPackage(found, validator);
  assert.equal(opened.manifest.name, "Echo Tool");
  assert.deepEqual([...opened.files.keys()].toSorted(), Object.keys(echoFiles).toSorted());
  assert.deepEqual((await readInstalledPackages({ home })).packages, []);
  assert.deepEqual(
    (await readInstalledPackages({ home, projectFolder: directory.join("other") })).packages,
    [],
  );
});

test("a cloned repository with packages starts nothing", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, { "project/.mcp/tools/demo.echo/manifest.json": echoFiles["manifest.json"] });
  const found = await readInstalledPackages({
    home: directory.join("home"),
    projectFolder: directory.join("project"),
  });
  assert.deepEqual(found, { packages: [], diagnostics: [] });
});

const changes: { readonly [title: string]: readonly [change: (folder: string) => void, message: RegExp] } = {
  "a file with other content": [
    (folder) => writeFileSync(`${folder}/docs/README.md`, "# Evil\n"),
    /"docs\/README\.md" has other content/,
  ],
  "a longer file": [
    (folder) => appendFileSync(`${folder}/manifest.json`, " "),
    /"manifest\.json" has \d+ bytes instead of \d+/,
  ],
  "a file that became executable": [
    (folder) => chmodSync(`${folder}/docs/README.md`, 0o755),
    /became executable/,
  ],
  "another file": [(folder) => writeFileSync(`${folder}/docs/new.js`, ""), /"docs\/new\.js" was added/],
  "a hidden file": [(folder) => writeFileSync(`${folder}/.hidden`, ""), /"\.hidden" was added/],
  "another folder": [(folder) => mkdirSync(`${folder}/node_modules`), /"node_modules" was added/],
  "a file that is missing": [(folder) => rmSync(`${folder}/docs/README.md`), /"docs\/README\.md" is missing/],
  "a link in place of a file": [
    (folder) => {
      renameSync(`${folder}/manifest.json`, `${folder}/../manifest.json`);
      symlinkSync("../manifest.json", `${folder}/manifest.json`);
    },
    /"manifest\.json" is a symbolic link/,
  ],
  "a link in place of a folder": [
    (folder) => {
      renameSync(`${folder}/docs`, `${folder}/../docs`);
      symlinkSync("../docs", `${folder}/docs`);
    },
    /"docs" was added/,
  ],
  "a link in place of the package": [
    (folder) => {
      renameSync(folder, `${folder}.moved`);
      symlinkSync(`${folder}.moved`, folder);
    },
    /its folder is a symbolic link/,
  ],
  "no folder": [(folder) => rmSync(folder, { recursive: true }), /its folder is missing/],
};

describe("a package does not load, and a finding says what changed, with", () => {
  for (const [title, [change, message]] of Object.entries(changes)) {
    test(title, async () => {
      await using directory = await makeTemporaryDirectory();
      writeInstalled(directory.path, "home", "home/packages");
      const home = directory.join("home");
      const before = (await readInstalledPackages({ home })).packages;
      assert.equal(before.length, 1);
      change(directory.join("home/packages/demo.echo"));
      const { packages, diagnostics } = await readInstalledPackages({ home });
      assert.deepEqual(packages, []);
      const [finding] = diagnostics;
      assert.equal(finding?.code, "INSTALL_PACKAGE_CHANGED");
      assert.match(finding.message, message);
      assert.match(finding.hint ?? "", /toolcrib install demo\.echo@\^0\.1 --user; .*toolcrib uninstall/);
      assert.throws(() => openInstalledPackage(before[0] as InstalledPackage, validator), InstallError);
    });
  }
});

test("a record that is damaged is a finding, and nothing is installed", async () => {
  await using directory = await makeTemporaryDirectory();
  writeInstalled(directory.path, "home", "home/packages");
  const home = directory.join("home");
  for (const text of [
    "{",
    "[]",
    '{"format":2,"packages":[],"publisherKeys":{}}',
    '{"format":1,"packages":[{"toolId":"../x"}],"publisherKeys":{}}',
    '{"format":1,"packages":[]}',
  ]) {
    writeFileSync(directory.join("home/packages/.record.json"), text);
    const { packages, diagnostics } = await readInstalledPackages({ home });
    assert.deepEqual(packages, []);
    assert.equal(diagnostics[0]?.code, "INSTALL_RECORD_UNREADABLE", text);
  }
});

test("a process that reads again compares changed packages only, and does other work meanwhile", {
  skip: process.platform === "linux" ? false : "only Linux counts the bytes that a process reads",
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  writeInstalled(directory.path, "home", "home/packages");
  const size = 32 * 1024 * 1024;
  const content = Buffer.alloc(size, "x");
  const record = JSON.parse(readFileSync(directory.join("home/packages/.record.json"), "utf8"));
  const file = { path: "large", bytes: size, sha256: hash("sha256", content, "hex"), isExecutable: false };
  record.packages[0].files.push(file);
  writeFileSync(directory.join("home/packages/.record.json"), JSON.stringify(record));
  const large = directory.join("home/packages/demo.echo/large");
  writeFileSync(large, content);
  const checked = new CheckedFolders();
  const bytesRead = () => Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
  const read = async () => {
    const before = bytesRead();
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const { packages, diagnostics } = await readInstalledPackages({ home, checked });
    isDone = true;
    return { turns, bytes: bytesRead() - before, ids: packages.map(({ toolId }) => toolId), diagnostics };
  };
  const first = await read();
  assert.deepEqual(first.ids, ["demo.echo"]);
  assert.ok(first.bytes >= size);
  assert.ok(first.turns >= 8, `${first.turns} turns of the event loop`);
  const second = await read();
  assert.deepEqual(second.ids, ["demo.echo"]);
  assert.ok(second.bytes < size / 4, `${second.bytes} bytes`);
  // The same size and times as before.
  const { atime, mtime } = statSync(large);
  content[7] = 0;
  writeFileSync(large, content);
  utimesSync(large, atime, mtime);
  const third = await read();
  assert.deepEqual(third.ids, []);
  assert.match(third.diagnostics[0]?.message ?? "", /"large" has other content/);
});
