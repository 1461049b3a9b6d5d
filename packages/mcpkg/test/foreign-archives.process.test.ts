/** Archives that other programs wrote, and other programs that read ours. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { McpkgError, readArchive, writeArchive } from "@toolcrib/mcpkg";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { echoFiles } from "./sample-packages.ts";

function without(program: string, ...args: string[]): string | false {
  const { status } = spawnSync(program, args, { stdio: "ignore" });
  return status === 0 ? false : `${program} is not installed`;
}

test("Python writes archives that are read, and reads those that are written", {
  skip: without("python3", "--version"),
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.path;
  const files = echoFiles();
  writeFileSync(join(folder, "ours.mcpkg"), writeArchive(files));
  const program = `
import sys, zipfile
with zipfile.ZipFile("ours.mcpkg") as ours:
    assert ours.testzip() is None
    with zipfile.ZipFile("theirs.mcpkg", "w", zipfile.ZIP_DEFLATED) as theirs:
        for name in ours.namelist():
            theirs.writestr(name, ours.read(name))
`;
  execFileSync("python3", ["-c", program], { cwd: folder });
  const read = await readArchive(readFileSync(join(folder, "theirs.mcpkg")));
  assert.deepEqual(contents(read), contents(files));
});

test("Go writes archives with descriptors that are read, and each of its hostile samples is refused or read", {
  skip: without("go", "version"),
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.path;
  const files = echoFiles();
  writeFileSync(join(folder, "ours.mcpkg"), writeArchive(files));
  writeFileSync(
    join(folder, "main.go"),
    `package main

import ("archive/zip"; "io"; "os")

func must(err error) { if err != nil { panic(err) } }

func main() {
	ours, err := zip.OpenReader("ours.mcpkg"); must(err)
	file, err := os.Create("theirs.mcpkg"); must(err)
	theirs := zip.NewWriter(file)
	for _, entry := range ours.File {
		from, err := entry.Open(); must(err)
		to, err := theirs.Create(entry.Name); must(err)
		_, err = io.Copy(to, from); must(err)
	}
	must(theirs.Close())
}
`,
  );
  const env = { ...process.env, GOFLAGS: "-mod=mod", GOCACHE: join(folder, "cache"), GO111MODULE: "off" };
  execFileSync("go", ["run", "main.go"], { cwd: folder, env });
  assert.deepEqual(contents(await readArchive(readFileSync(join(folder, "theirs.mcpkg")))), contents(files));

  // The test data of Go's own reader. What it contains beyond the form of packages is refused.
  const root = execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim();
  const samples = join(root, "src/archive/zip/testdata");
  for (const name of readdirSync(samples).filter((one) => one.endsWith(".zip"))) {
    const read = await readArchive(readFileSync(join(samples, name))).catch((error: unknown) => {
      assert(error instanceof McpkgError, `${name}: ${String(error)}`);
    });
    // Other versions of Go can have other samples.
    if (readable.has(name)) assert(read !== undefined, `${name} is read`);
    if (refused.has(name)) assert(read === undefined, `${name} is refused`);
  }
});

/** Samples of Go that have the form of a package. */
const readable = new Set(
  (
    "crc32-not-streamed dd go-with-datadesc-sig subdir time-22738 time-7zip time-go time-infozip time-osx time-win7 " +
    "time-winrar time-winzip unix utf8-7zip utf8-infozip utf8-winrar utf8-winzip winxp"
  )
    .split(" ")
    .map((name) => `${name}.zip`),
);
/** Samples with a comment, bytes outside of entries, links, ZIP64, repeated paths or names in an unknown encoding. */
const refused = new Set(
  (
    "comment-truncated dupdir readme symlink test-badbase test-baddirsz test-prefix test-trailing-junk test utf8-osx " +
    "zip64-2 zip64"
  )
    .split(" ")
    .map((name) => `${name}.zip`),
);

function contents(files: ReadonlyMap<string, { readonly bytes: Uint8Array }>): [string, string][] {
  return [...files]
    .map(([path, { bytes }]): [string, string] => [path, Buffer.from(bytes).toString()])
    .toSorted();
}
