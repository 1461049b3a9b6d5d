import assert from "node:assert/strict";
import { chmodSync, readFileSync, symlinkSync } from "node:fs";
import { test } from "node:test";
import { checkGolden, makeTemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { golden, runToolcrib, transcript } from "./transcript.ts";

const schema = { type: "object", properties: { message: { type: "string" } }, required: ["message"] };
const manifest = {
  toolId: "demo.echo",
  name: "Echo Tool",
  version: "0.1.0",
  description: "Echos back whatever input it receives.",
  capabilities: ["demo", "echo"],
  endpoint: { type: "http", method: "POST", url: "https://example.com/mcp/echo", timeoutMs: 5000 },
  input_schema: schema,
  output_schema: schema,
  tests: ["tests/echo.test.json"],
  meta: { publisher: { id: "demo", name: "Demo" }, license: "MIT", tags: ["example"] },
};
const testCase = {
  name: "simple_echo",
  input: { message: "hello" },
  expected: { message: "hello" },
  assertions: [{ path: "$.message", equals: "hello" }],
};
/** A key for these tests alone, so that their output is the same each time. */
const key = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f
-----END PRIVATE KEY-----
`;

function files(changes: object = {}) {
  return {
    "echo/manifest.json": JSON.stringify({ ...manifest, ...changes }, undefined, 2),
    "echo/tests/echo.test.json": JSON.stringify(testCase),
    "echo/.git/config": "not packed",
    "key.pem": key,
  };
}

test("a folder is validated, packed, signed, verified and shown", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, files());
  chmodSync(directory.join("key.pem"), 0o600);
  const texts: string[] = [];
  for (const line of [
    ["validate", "echo"],
    ["pack", "echo"],
    ["verify", "demo.echo-0.1.0.mcpkg"],
    ["sign", "demo.echo-0.1.0.mcpkg", "--key", "key.pem"],
    ["verify", "demo.echo-0.1.0.mcpkg"],
    ["verify", "demo.echo-0.1.0.mcpkg", "--key-id", "sha256:00"],
    ["info", "demo.echo-0.1.0.mcpkg"],
    ["info", "demo.echo-0.1.0.mcpkg", "--json"],
    ["pack", "echo", "--key", "key.pem", "--out", "other.mcpkg"],
  ]) {
    texts.push(await transcript([line], { directory: directory.path }));
  }
  checkGolden(golden("package.txt"), texts.join("\n"));
  // Packing and signing at once, or one after the other, is the same.
  const [one, other] = ["demo.echo-0.1.0.mcpkg", "other.mcpkg"].map((name) =>
    readFileSync(directory.join(name)),
  );
  assert.deepEqual(one, other);
});

test("pack --sign creates the publisher key of the home once, for its owner alone", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, files());
  const setting = { directory: directory.path };
  const first = await runToolcrib(["pack", "echo", "--sign", "--json"], setting);
  assert.match(first.stderr, /Created the publisher key sha256:[0-9a-f]{64} in /);
  const second = await runToolcrib(["pack", "echo", "--sign", "--json"], setting);
  assert.equal(second.stderr, "");
  assert.equal(second.stdout, first.stdout);
  const { keyId } = JSON.parse(first.stdout) as { keyId: string };
  const verified = await runToolcrib(["verify", "demo.echo-0.1.0.mcpkg", "--key-id", keyId], setting);
  assert.equal(verified.code, 0, verified.stderr);
});

test("pack replaces no signed archive by one without its signature, and names other contents", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, files());
  const pack = (...flags: string[]) => runToolcrib(["pack", "echo", ...flags], { directory: directory.path });
  const archive = () => readFileSync(directory.join("demo.echo-0.1.0.mcpkg"));
  const done = async (...flags: string[]) => {
    const { code, stderr } = await pack(...flags);
    assert.equal(code, 0, stderr);
    return stderr;
  };
  // Unsigned by unsigned, in silence where nothing changed.
  assert.deepEqual([await done(), await done()], ["", ""]);
  writeFiles(directory.path, files({ description: "Another one." }));
  assert.match(
    await done(),
    /^Replaced an archive of the same version, demo\.echo 0\.1\.0.*: sha256:[0-9a-f]{64}$/m,
  );
  chmodSync(directory.join("key.pem"), 0o600);
  await done("--key", "key.pem");
  const signed = archive();
  const unsigned = await pack();
  assert.notEqual(unsigned.code, 0);
  assert.match(
    unsigned.stderr,
    /CLI_FILE_EXISTS: .*not signed: .*demo\.echo 0\.1\.0, signed by sha256:.*\nhint: .*--sign.*--force/,
  );
  const other = await pack("--sign");
  assert.notEqual(other.code, 0);
  assert.match(other.stderr, /hint: sign with the same key/);
  assert.deepEqual(archive(), signed);
  // Its signer replaces it; everybody else does with --force.
  assert.equal(await done("--key", "key.pem"), "");
  assert.match(await done("--force"), /^Replaced an archive/m);
  assert.notDeepEqual(archive(), signed);
});

test("packages with errors, links, damage and wrong usage are refused with the reason", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, {
    ...files({ version: "1.0", tests: ["tests/none.test.json"], chian: [] }),
    "linked/manifest.json": JSON.stringify(manifest),
    "damaged.mcpkg": "PK not really",
    "wrong.pem": "no key",
    "good/manifest.json": JSON.stringify({ ...manifest, tests: [] }),
  });
  symlinkSync("/etc/passwd", directory.join("linked/passwd"));
  chmodSync(directory.join("wrong.pem"), 0o600);
  const text = await transcript(
    [
      ["validate", "echo"],
      ["validate", "echo", "--json"],
      ["pack", "echo"],
      ["pack", "linked"],
      ["pack", "damaged.mcpkg"],
      ["info", "damaged.mcpkg"],
      ["info", "nothing"],
      ["sign", "good"],
      ["pack", "good", "--key", "wrong.pem"],
      ["pack", "good", "--key", "none.pem"],
      ["pack", "good", "--key", "key.pem"],
    ],
    { directory: directory.path },
  );
  checkGolden(golden("package-bad.txt"), text);
});

test("a file of a package that is not packed is refused with the advice to pass the folder", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, { "wc/manifest.json": "{}" });
  const validated = await runToolcrib(["validate", "wc/manifest.json"], { directory: directory.path });
  assert.match(
    validated.stderr,
    /MCPKG_ARCHIVE_INVALID: .*the file is no ZIP archive\nhint: .*pass the folder/,
  );
});
