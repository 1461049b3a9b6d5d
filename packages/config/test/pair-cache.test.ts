import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { formatConfigReport, loadConfig } from "@toolcrib/config";
import { type ReadFile, readRegularFile } from "@toolcrib/files";
import {
  makeTemporaryDirectory,
  sampleCatalog,
  type TemporaryDirectory,
  writeFiles,
} from "@toolcrib/testing";

const entries = `toolspecs:
- { name: acme, credentials: { token: { secret_key_ref: a } } }
- { name: beta, credentials: { token: { secret_key_ref: b } }, tools: all }
`;

/** Loads the configuration of `directory`, with or without its cache. */
async function load(
  directory: TemporaryDirectory,
  cache: { readonly version: string } | undefined,
  readFile: ReadFile = readRegularFile,
) {
  const path = directory.join("toolcrib.yaml");
  const { value, diagnostics } = await loadConfig([path], {
    readFile,
    catalogFolder: directory.path,
    pairCache:
      cache === undefined
        ? undefined
        : {
            folder: directory.join("cache"),
            version: () => cache.version,
            readFile: readRegularFile,
            randomBytes,
          },
  });
  const pairs = value?.toolspecs.map(({ id, pair, pairDigest, tools }) => ({ id, pair, pairDigest, tools }));
  return { pairs, report: formatConfigReport([path], diagnostics) };
}

test("loadConfig() returns the same configuration with and without cached toolspecs", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, { ...sampleCatalog("acme", "beta"), "toolcrib.yaml": entries });
  const plain = await load(directory, undefined);
  const first = await load(directory, { version: "1" });
  const file = directory.join("cache/toolspecs.json");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const written = readFileSync(file, "utf8");
  const second = await load(directory, { version: "1" });
  assert.deepEqual(first, plain);
  assert.deepEqual(second, plain);
  assert.equal(readFileSync(file, "utf8"), written, "what was known is not written again");
});

test("loadConfig() reads its cache apart from the files that decide about the configuration", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, { ...sampleCatalog("acme", "beta"), "toolcrib.yaml": entries });
  // A gateway watches what is read so, and reads its configuration again when one of these files changes.
  const read: string[] = [];
  const readFile: ReadFile = (path, maxBytes) => {
    read.push(path);
    return readRegularFile(path, maxBytes);
  };
  for (let round = 0; round < 2; round += 1) await load(directory, { version: "1" }, readFile);
  const cached = read.filter((path) => path.startsWith(directory.join("cache")));
  assert.deepEqual(cached, []);
  assert.ok(read.includes(directory.join("toolspecs/acme/0.1.0.yaml")), read.join("\n"));
});

test("loadConfig() reports once that it lints many pairs, and when that has ended, but not for pairs of its cache", async () => {
  await using directory = await makeTemporaryDirectory();
  const names = Array.from({ length: 12 }, (_, index) => `api-${index}`);
  writeFiles(directory.path, sampleCatalog(...names));
  const path = directory.join("toolcrib.yaml");
  const loadSome = async (count: number) => {
    const reported: string[] = [];
    const written = names
      .slice(0, count)
      .map((name) => `- { name: ${name}, credentials: { token: { secret_key_ref: a } } }\n`);
    writeFileSync(path, `toolspecs:\n${written.join("")}`);
    const { value, diagnostics } = await loadConfig([path], {
      readFile: readRegularFile,
      catalogFolder: directory.path,
      pairCache: {
        folder: directory.join("cache"),
        version: () => "1",
        readFile: readRegularFile,
        randomBytes,
      },
      lintsMany: () => {
        reported.push("begin");
        return { [Symbol.dispose]: () => void reported.push("end") };
      },
    });
    assert.equal(value?.toolspecs.length, count, formatConfigReport([path], diagnostics));
    return reported;
  };
  assert.deepEqual(await loadSome(1), []);
  assert.deepEqual(await loadSome(12), ["begin", "end"]);
  assert.deepEqual(await loadSome(12), []);
});

test("loadConfig() leaves the writing of its cache to its caller where that writes it later", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, { ...sampleCatalog("acme", "beta"), "toolcrib.yaml": entries });
  const path = directory.join("toolcrib.yaml");
  const writes: (() => Promise<void>)[] = [];
  const { value } = await loadConfig([path], {
    readFile: readRegularFile,
    catalogFolder: directory.path,
    pairCache: {
      folder: directory.join("cache"),
      version: () => "1",
      readFile: readRegularFile,
      randomBytes,
      writeLater: (write) => void writes.push(write),
    },
  });
  assert.equal(value?.toolspecs.length, 2);
  assert.equal(existsSync(directory.join("cache")), false);
  assert.equal(writes.length, 1);
  await writes[0]?.();
  const written = readFileSync(directory.join("cache/toolspecs.json"), "utf8");
  await load(directory, { version: "1" });
  assert.equal(readFileSync(directory.join("cache/toolspecs.json"), "utf8"), written);
});

test("loadConfig() lints a changed file again, and reports findings about a file every time", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, { ...sampleCatalog("acme", "beta"), "toolcrib.yaml": entries });
  await load(directory, { version: "1" });
  const path = directory.join("toolspecs/acme/0.1.0.yaml");
  const sound = readFileSync(path, "utf8");
  // A warning, and an error.
  for (const text of [
    sound.replace("name: limit", "name: on"),
    sound.replace("method: POST", "method: PUSH"),
  ]) {
    writeFileSync(path, text);
    const plain = await load(directory, undefined);
    assert.match(plain.report, /toolspecs\/acme\/0\.1\.0\.yaml:\d+:\d+: (?:warning|error) TOOLSPEC_/);
    for (let round = 0; round < 2; round += 1)
      assert.deepEqual(await load(directory, { version: "1" }), plain);
  }
  writeFileSync(path, sound);
  assert.deepEqual(await load(directory, { version: "1" }), await load(directory, undefined));
});

test("loadConfig() ignores a cache of another version, one that other users can write to, and an incomplete one", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, { ...sampleCatalog("acme", "beta"), "toolcrib.yaml": entries });
  const plain = await load(directory, undefined);
  await load(directory, { version: "1" });
  const file = directory.join("cache/toolspecs.json");
  const forged = readFileSync(file, "utf8").replaceAll("api.acme.example", "api.evil.example");
  assert.notEqual(forged, readFileSync(file, "utf8"));
  writeFileSync(file, forged);
  assert.notDeepEqual(
    await load(directory, { version: "1" }),
    plain,
    "the file is what is used, where it may be",
  );
  assert.deepEqual(await load(directory, { version: "2" }), plain);
  writeFileSync(file, forged);
  chmodSync(file, 0o666);
  assert.deepEqual(await load(directory, { version: "1" }), plain);
  for (const text of ["", "{", "[]", '{"made":"1#1"}', '{"made":"1#1","pairs":[]}']) {
    writeFileSync(file, text, { mode: 0o600 });
    chmodSync(file, 0o600);
    assert.deepEqual(await load(directory, { version: "1" }), plain, text);
  }
});

test("loadConfig() works without a cache when the folder is not writable", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, { ...sampleCatalog("acme", "beta"), "toolcrib.yaml": entries, cache: "a file" });
  const { pairs } = await load(directory, { version: "1" });
  assert.equal(pairs?.length, 2);
  assert.equal(readFileSync(directory.join("cache"), "utf8"), "a file");
});
