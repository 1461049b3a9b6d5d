import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { SchemaValidator } from "@toolcrib/json";
import { exportSavedTool, importSavedTool } from "@toolcrib/metatool";
import { makeTemporaryDirectory } from "@toolcrib/testing";

const tool = {
  name: "t",
  description: "d",
  inputSchema: { type: "object" },
  code: "return 1\n",
};

/** Imports a manipulated package and expects findings that do not contain the secret. */
async function check(
  change: (folder: string, manifest: Record<string, unknown>, outside: string) => void,
  expected: RegExp,
): Promise<void> {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("package");
  const outside = directory.join("secret.star");
  writeFileSync(outside, 'return "the secret"\n');
  await exportSavedTool(tool, folder, { randomBytes });
  const manifest = JSON.parse(readFileSync(`${folder}/manifest.json`, "utf8"));
  change(folder, manifest, outside);
  writeFileSync(`${folder}/manifest.json`, JSON.stringify(manifest));
  const { value, diagnostics } = await importSavedTool(folder, { validator: new SchemaValidator() });
  assert.equal(value, undefined);
  const shown = diagnostics.map(({ message }) => message).join("\n");
  assert.match(shown, expected);
  assert.doesNotMatch(JSON.stringify(diagnostics), /the secret/);
}

const withSource = (source: string) => (_: string, manifest: Record<string, unknown>) => {
  manifest["endpoint"] = { type: "starlark", source };
};

test("no path of a package leaves its folder", async () => {
  for (const source of [
    "../secret.star",
    "tests/../../secret.star",
    "/etc/passwd",
    "./main.star",
    "a//b.star",
    "..\\secret.star",
    "C:/secret.star",
    "main.star\u0000",
    "main.star/",
    "",
  ]) {
    await check(withSource(source), /a path /);
  }
  await check(withSource(`${"a/".repeat(20)}x`), /at most 8 parts/);
  await check(withSource("x".repeat(300)), /1 to 240 characters/);
  await check((_, manifest) => {
    manifest["tests"] = ["../secret.star"];
  }, /a path is relative/);
});

test("no link of a package is followed", async () => {
  await check((folder, _, outside) => {
    rmSync(`${folder}/main.star`);
    symlinkSync(outside, `${folder}/main.star`);
  }, /it is a link/);
  await check((folder, manifest, outside) => {
    symlinkSync(dirname(outside), `${folder}/up`);
    withSource("up/secret.star")(folder, manifest);
  }, /it is a link/);
  await check((folder) => {
    renameSync(`${folder}/main.star`, `${folder}/other.star`);
    symlinkSync("other.star", `${folder}/main.star`);
  }, /it is a link/);
});

test("entries that are not files, too large, or not UTF-8 are refused", async () => {
  await check((folder) => {
    rmSync(`${folder}/main.star`);
    mkdirSync(`${folder}/main.star`);
  }, /it is not a file/);
  await check((folder) => truncateSync(`${folder}/main.star`, 2 * 1024 * 1024), /longer than 1048576 bytes/);
  await check((folder) => writeFileSync(`${folder}/main.star`, Buffer.from([0xff, 0xfe])), /it is not UTF-8/);
  await check((_, manifest) => {
    manifest["tests"] = Array.from({ length: 1000 }, (_one, index) => `tests/${index}.test.json`);
  }, /names 1001 files/);
  await check((_, manifest) => {
    manifest["input_schema"] = JSON.parse(`${"[".repeat(100)}${"]".repeat(100)}`);
  }, /it must be a JSON Schema/);
});
