import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkGolden, makeTemporaryDirectory, runProcess, writeFiles } from "@toolcrib/testing";
import { cleanEnvironment, golden, launcherPath, runToolcrib, transcript } from "./transcript.ts";

const manifest = (name: string) => `schemaVersion: 1
name: ${name}
version: 0.1.0
source: {repo: github.com/example/toolpack, tag: v1}
image:
  ref: ghcr.io/example/${name}
  digest: sha256:${"0a".repeat(32)}
  entrypoint: /app/server
  builder: toolpack
tier: sealed
entitlements: {egress: [api.${name}.example]}
credentials:
  - {id: key, type: api_key, inject: {header: Authorization, format: "Bearer {token}"}}
tools:
  - {name: get_item, default: true}
`;
const toolspec = (name: string) => `schemaVersion: 1
name: ${name}
version: 0.1.0
baseUrl: https://api.${name}.example
tools:
  - name: get_item
    description: Get an item
    method: GET
    path: /items/{id}
    params:
      - {name: id, in: path, type: string, required: true}
`;

test("lint-toolspecs and lint-manifests print OK for folders, subfolders and files in both layouts", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, {
    "a/manifests/one/0.1.0.yaml": manifest("one"),
    "a/manifests/two/0.1.0.yaml": manifest("two"),
    "a/toolspecs/one/0.1.0.yaml": toolspec("one"),
    "a/toolspecs/two/0.1.0.yaml": toolspec("two"),
    "a/.github/workflows/1.0.0.yaml": "[",
    "a/node_modules/manifests/x/0.1.0.yaml": "[",
    "a/README.md": "[",
    "b/manifests/one/0.1.0.yaml": manifest("one"),
    "b/manifests/one/0.1.0.toolspec.yaml": toolspec("one"),
    "loose.yaml": manifest("loose"),
    "list.txt": "# capture\nwebhook.site\n",
  });
  symlinkSync(directory.join("a/manifests/one"), directory.join("b/manifests/linked"));
  const text = await transcript(
    [
      ["lint-toolspecs", "a"],
      ["lint-toolspecs", "a/toolspecs"],
      ["lint-toolspecs", "a/manifests"],
      ["lint-toolspecs", "a/toolspecs/one"],
      ["lint-toolspecs", "a/toolspecs/one/0.1.0.yaml"],
      ["lint-toolspecs", "b"],
      ["lint-toolspecs", "b/manifests/one/0.1.0.toolspec.yaml"],
      ["lint-manifests", "a"],
      ["lint-manifests", "a/manifests/one"],
      ["lint-manifests", "b", "--denylist", "list.txt"],
      ["lint-manifests", "loose.yaml"],
      ["lint-manifests", "a", "--json"],
    ],
    { directory: directory.path },
  );
  checkGolden(golden("lint-catalog.txt"), text);
});

test("lint-toolspecs and lint-manifests show every problem and exit with 1, or with 2 for wrong usage", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, {
    "manifests/one/0.1.0.yaml": manifest("one")
      .replace("sealed", "seald")
      .replace("api.one.example", "x.webhook.site"),
    "toolspecs/one/0.1.0.yaml": toolspec("one").replace("GET", "FETCH").replace("{id}", "{id}/{part}"),
    "manifests/two/0.1.0.yaml": manifest("two"),
    "manifests/three/0.1.0.yaml": new Uint8Array([0x61, 0xff]),
    "toolspecs/four/0.1.0.yaml": toolspec("four").replace("name: id", "name: y").replace("{id}", "{y}"),
    "list.txt": "webhook.site\n",
    "bad-list.txt": "webhook.site\nnot a name\n",
  });
  const text = await transcript(
    [
      ["lint-toolspecs", "."],
      ["lint-toolspecs", "toolspecs/four/0.1.0.yaml"],
      ["lint-manifests", ".", "--denylist", "list.txt"],
      ["lint-manifests", "manifests/one", "--denylist", "list.txt", "--json"],
      ["lint-manifests", ".", "--denylist", "bad-list.txt"],
      ["lint-manifests", ".", "--denylist", "none.txt"],
      ["lint-toolspecs", "none"],
      ["lint-toolspecs"],
    ],
    { directory: directory.path },
  );
  checkGolden(golden("lint-catalog-bad.txt"), text);
});

test("lint-manifests refuses adopted servers that could not be fetched, without fetching them", async () => {
  await using directory = await makeTemporaryDirectory();
  const lock = "acme==1.2.3 --hash=sha256:00\n";
  const adopted = (name: string, repo: string, digest = createHash("sha256").update(lock).digest("hex")) =>
    manifest(name)
      .replace(/source: .*/, `source: {repo: ${repo}, tag: 1.2.3}`)
      .replace("builder: toolpack", "builder: python")
      .replace("0a".repeat(32), digest);
  writeFiles(directory.path, {
    "manifests/one/0.1.0.yaml": adopted("one", "pypi:acme"),
    "locks/one/0.1.0.txt": lock,
    "good.yaml": adopted("good", "pypi:acme"),
    "good.lock.txt": lock,
    "manifests/two/0.1.0.yaml": adopted("two", "github.com/acme/server"),
    "manifests/three/0.1.0.yaml": adopted("three", "pypi:acme"),
    "manifests/four/0.1.0.yaml": adopted("four", "pypi:acme", "0a".repeat(32)),
    "locks/four/0.1.0.txt": lock,
  });
  for (const path of ["good.yaml", "manifests/one"]) {
    const { code, stdout, stderr } = await runToolcrib(["lint-manifests", path], {
      directory: directory.path,
    });
    assert.deepEqual([code, stdout], [0, "lint OK: 1 manifest(s)\n"], stderr);
  }
  const catalog = join(import.meta.dirname, "../../../catalog");
  const own = await runToolcrib(["lint-manifests", catalog], { directory: directory.path });
  assert.match(own.stdout, /^lint OK: \d+ manifest\(s\)\n$/, own.stderr);
  const { code, stderr } = await runToolcrib(["lint-manifests", "."], { directory: directory.path });
  assert.equal(code, 1);
  assert.deepEqual(
    [...stderr.matchAll(/^manifests\/(\w+)\/\S+ error (\w+)\n(.*)$/gm)].map(([, ...found]) =>
      found.join(" "),
    ),
    [
      `four MANIFEST_SOURCE_UNUSABLE "image.digest" is sha256:${"0a".repeat(32)}, but the lock of the manifest has sha256:${createHash("sha256").update(lock).digest("hex")}`,
      'three MANIFEST_SOURCE_UNUSABLE "image.digest" is the SHA-256 of a lock, and the manifest has none',
      'two MANIFEST_SOURCE_UNUSABLE "source.repo" of the manifest "two" is "github.com/acme/server", which names no package for builder: python',
    ],
  );
});

test("a toolspec and its manifest can be in one folder, under names without a version", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, {
    "flat/one.yaml": manifest("one"),
    "flat/one.toolspec.yaml": toolspec("one"),
    "flat/deep/two.json": "not read: it has no toolspec",
    "flat/other.yaml": "[",
    "alone/three.toolspec.yaml": toolspec("three"),
    "bad/four.yaml": manifest("four").replace("get_item", "get_items"),
    "bad/four.toolspec.yaml": toolspec("four"),
    "empty/README.md": "nothing",
  });
  const text = await transcript(
    [
      ["lint-toolspecs", "flat"],
      ["lint-toolspecs", "flat/one.toolspec.yaml"],
      ["lint-manifests", "flat"],
      ["lint-manifests", "flat/one.yaml"],
      ["lint-toolspecs", "alone"],
      ["lint-toolspecs", "bad"],
      ["lint-toolspecs", "empty"],
      ["lint-manifests", "empty"],
      ["lint-manifests", "alone"],
    ],
    { directory: directory.path },
  );
  checkGolden(golden("lint-catalog-flat.txt"), text);
});

test("a file larger than 1 MiB is skipped", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, {
    "manifests/big/0.1.0.yaml": `${manifest("big")}# ${"x".repeat(1024 * 1024)}`,
    "manifests/one/0.1.0.yaml": manifest("one"),
  });
  const { stdout, code } = await runToolcrib(["lint-manifests", ".", "--json"], {
    directory: directory.path,
  });
  const report = JSON.parse(stdout);
  assert.equal(code, 1);
  assert.equal(report.manifests, 2);
  assert.deepEqual(
    report.diagnostics.map((one: { code: string; file: string }) => [one.code, one.file]),
    [["MANIFEST_FILE_TOO_LARGE", "manifests/big/0.1.0.yaml"]],
  );
});

test("registryctl is the same command under another name", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, {
    "manifests/one/0.1.0.yaml": manifest("one"),
    "toolspecs/one/0.1.0.yaml": toolspec("one"),
  });
  const path = launcherPath.replace(/toolcrib\.js$/, "registryctl.js");
  const outcome = await runProcess(process.execPath, [path, "lint-toolspecs", "."], {
    cwd: directory.path,
    env: cleanEnvironment(directory.path),
  });
  assert.equal(outcome.stdout, "lint-toolspecs OK: 1 toolspec(s)\n");
  assert.equal(outcome.code, 0);
});

test("lint-manifests --require-digests refuses images with builder: toolpack that were not built", async () => {
  await using directory = await makeTemporaryDirectory();
  const digest = "9dd50774c92f2a7bd573c695bdc4eec3c4a99ee70a3ede8409595ff151b17a21";
  const withDigest = (text: string, digits: string) => text.replace("0a".repeat(32), digits);
  writeFiles(directory.path, {
    "manifests/built/0.1.0.yaml": withDigest(manifest("built"), digest),
    "manifests/other/0.1.0.yaml": withDigest(manifest("other"), "0".repeat(64))
      .replace("toolpack\ntier", "node\ntier")
      .replace("repo: github.com/example/toolpack, tag: v1", "repo: npm:example, tag: v1.0.0"),
    "manifests/typed/0.1.0.yaml": withDigest(manifest("typed"), "0123456789abcdef".repeat(4)),
    "manifests/zeros/0.1.0.yaml": withDigest(manifest("zeros"), "0".repeat(64)),
  });
  const run = (...flags: readonly string[]) =>
    runToolcrib(["lint-manifests", ".", ...flags], { directory: directory.path });
  const [required, usual] = await Promise.all([run("--require-digests"), run()]);
  assert.equal(required.code, 1);
  assert.deepEqual(
    [...required.stderr.matchAll(/^(\S+): error (\S+)$/gm)].map(([, place, code]) => `${place} ${code}`),
    ["typed", "zeros"].map((name) => `manifests/${name}/0.1.0.yaml:7:11 MANIFEST_DIGEST_PLACEHOLDER`),
  );
  assert.equal(usual.stdout, "lint OK: 4 manifest(s)\n");
});
