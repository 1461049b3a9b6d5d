import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { test } from "node:test";
import { tryLock } from "@toolcrib/files";
import { keyIdOf } from "@toolcrib/mcpkg";
import {
  addPackages,
  changeRegistry,
  initRegistry,
  readRegistryFolder,
  removePackage,
  serveRegistry,
  verifyRegistry,
  yankPackage,
} from "@toolcrib/mcpkg-registry";
import { makeTemporaryDirectory, slowTest } from "@toolcrib/testing";
import { archiveOf, at, keyOf, named, open, publisherKey, registryKey, startWeb } from "./fixtures.ts";

const digestOf = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

test("a registry that a web server serves is read, resolved and fetched from", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("registry");
  await initRegistry(at(0), folder, registryKey, { name: "acme" });
  const versions = ["1.0.0", "1.2.0", "1.10.0", "2.0.0-rc.1", "0.9.0"].map((version) =>
    archiveOf({ version }),
  );
  await addPackages(at(0), folder, registryKey, named(...versions));
  await using server = await serveRegistry(folder, { port: 0 });
  const source = { name: "acme", place: { kind: "url", url: server.url } } as const;
  const registries = await open(directory.join("home"), [source]);
  assert.deepEqual(registries.failed, []);
  const [opened] = registries.opened;
  assert.equal(opened?.statement.keyId, keyIdOf(registryKey));
  assert.equal(opened?.statement.sequence, 2);
  assert.equal(opened?.isFirstUse, true);
  // The index, and with it its signature, says what each package can reach.
  assert.deepEqual(
    opened?.entries.map(({ reach }) => reach?.hosts),
    versions.map(() => ["example.com"]),
  );

  const selected: readonly (readonly [range: string, version: string])[] = [
    ["", "1.10.0"],
    ["latest", "1.10.0"],
    ["*", "1.10.0"],
    ["^1.2", "1.10.0"],
    ["~1.2", "1.2.0"],
    ["<1", "0.9.0"],
    ["1.0.0", "1.0.0"],
    ["v1.0.0", "1.0.0"],
    [">=2.0.0-alpha", "2.0.0-rc.1"],
    ["2.0.0-rc.1", "2.0.0-rc.1"],
  ];
  for (const [range, version] of selected)
    assert.equal(registries.resolve("demo.echo", range).version, version, range);
  const found = registries.resolve("demo.echo", "~1.2");
  assert.equal(found.publisherKey, keyIdOf(publisherKey));
  assert.equal(found.digest, digestOf(versions[1] as Buffer));
  assert.equal(found.place, `${server.url}packages/demo.echo-1.2.0.mcpkg`);
  assert.deepEqual(Buffer.from(await found.fetch()), versions[1]);
  // An archive of a version that was removed and published anew has the same name: caches ask for it each time.
  const cachingOf = async (path: string) =>
    (await fetch(`${server.url}${path}`, { method: "HEAD" })).headers.get("cache-control");
  assert.equal(await cachingOf("packages/demo.echo-1.2.0.mcpkg"), "no-cache");
  assert.match((await cachingOf(`index/${opened?.statement.list.sha256}.json`)) ?? "", /immutable/);
  for (const [range, code] of [
    ["^2", "MCPKG_REGISTRY_VERSION_NOT_FOUND"],
    ["not a range", "MCPKG_REGISTRY_RANGE_INVALID"],
  ] as const) {
    assert.throws(() => registries.resolve("demo.echo", range), { code });
  }
  assert.throws(() => registries.resolve("demo.other", ""), { code: "MCPKG_REGISTRY_PACKAGE_NOT_FOUND" });
  assert.deepEqual(await verifyRegistry(registries, opened as NonNullable<typeof opened>), {
    archives: 5,
    problems: [],
  });
});

test("a withdrawn version is selected by its exact version only, until it is offered again", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("registry");
  const source = { name: "local", place: { kind: "folder", path: folder } } as const;
  await initRegistry(at(0), folder, registryKey, { name: "acme" });
  await addPackages(at(0), folder, registryKey, named(archiveOf(), archiveOf({ version: "1.1.0" })));
  const resolve = async (range: string) =>
    (await open(directory.join("home"), [source])).resolve("demo.echo", range);
  await yankPackage(at(0), folder, registryKey, {
    toolId: "demo.echo",
    version: "1.1.0",
    isYanked: true,
    reason: "wrong",
  });
  assert.equal((await resolve("^1")).version, "1.0.0");
  const exact = await resolve("1.1.0");
  assert.equal(exact.entry.yanked?.reason, "wrong");
  await yankPackage(at(0), folder, registryKey, { toolId: "demo.echo", version: "1.0.0", isYanked: true });
  await assert.rejects(resolve(""), { code: "MCPKG_REGISTRY_VERSION_NOT_FOUND" });
  await yankPackage(at(0), folder, registryKey, { toolId: "demo.echo", version: "1.1.0", isYanked: false });
  assert.equal((await resolve("")).version, "1.1.0");
  const missing = { toolId: "demo.echo", version: "3.0.0" };
  await assert.rejects(yankPackage(at(0), folder, registryKey, { ...missing, isYanked: true }), {
    code: "MCPKG_REGISTRY_VERSION_NOT_FOUND",
  });
  await removePackage(at(0), folder, registryKey, { toolId: "demo.echo", version: "1.1.0" });
  assert.deepEqual(readdirSync(directory.join("registry/packages")), ["demo.echo-1.0.0.mcpkg"]);
  // The list of the state before stays for clients that are reading it, and no older one.
  assert.equal(readdirSync(directory.join("registry/index")).length, 2);
});

test("a registry adds signed packages, does not change a version, and knows the publishers", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("registry");
  await initRegistry(at(0), folder, registryKey, { name: "acme" });
  await assert.rejects(initRegistry(at(0), folder, registryKey, { name: "acme" }), {
    code: "MCPKG_REGISTRY_FOLDER_INVALID",
  });
  const add = (archive: Buffer, options = {}, key = registryKey) =>
    addPackages(at(0), folder, key, named(archive), options);
  await add(archiveOf());
  const again = await add(archiveOf());
  assert.equal(again.present.length, 1);
  assert.equal(again.added.length, 0);
  const refused: readonly (readonly [archive: Buffer, code: string])[] = [
    [archiveOf({ description: "changed" }), "MCPKG_REGISTRY_VERSION_EXISTS"],
    [archiveOf({ version: "1.0.0+build" }), "MCPKG_REGISTRY_VERSION_EXISTS"],
    [archiveOf({ version: "1.1.0" }, keyOf(9)), "MCPKG_REGISTRY_PUBLISHER_CHANGED"],
    [archiveOf({ version: "1.1.0" }, null), "MCPKG_REGISTRY_PACKAGE_UNSIGNED"],
  ];
  for (const [archive, code] of refused) await assert.rejects(add(archive), { code });
  await assert.rejects(add(archiveOf({ toolId: "demo.new" }), {}, keyOf(3)), {
    code: "MCPKG_REGISTRY_KEY_MISMATCH",
  });
  // An unsigned version never follows a signed one.
  await assert.rejects(add(archiveOf({ version: "1.1.0" }, null), { allowsUnsigned: true }), {
    code: "MCPKG_REGISTRY_PACKAGE_UNSIGNED",
  });
  await add(archiveOf({ toolId: "demo.unsigned" }, null), { allowsUnsigned: true });
  await add(archiveOf({ version: "1.1.0" }, keyOf(9)), { allowsNewKey: true });
  const { entries, statement } = await readRegistryFolder(folder);
  assert.deepEqual(
    entries.map(({ toolId, version, publisherKey: key }) => [toolId, version, key]),
    [
      ["demo.echo", "1.0.0", keyIdOf(publisherKey)],
      ["demo.echo", "1.1.0", keyIdOf(keyOf(9))],
      ["demo.unsigned", "1.0.0", undefined],
    ],
  );
  // All or nothing: the second archive is refused, and the first is not added either.
  const both = named(archiveOf({ toolId: "demo.first" }), archiveOf({ description: "changed" }));
  await assert.rejects(addPackages(at(0), folder, registryKey, both), {
    code: "MCPKG_REGISTRY_VERSION_EXISTS",
  });
  assert.equal((await readRegistryFolder(folder)).statement.sequence, statement.sequence);
});

test("changes at the same time are made one after the other", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("registry");
  await initRegistry(at(0), folder, registryKey, { name: "acme" });
  const ids = ["demo.a", "demo.b", "demo.c", "demo.d"];
  await Promise.all(
    ids.map((toolId) => addPackages(at(0), folder, registryKey, named(archiveOf({ toolId })))),
  );
  const { entries, statement } = await readRegistryFolder(folder);
  assert.deepEqual(
    entries.map(({ toolId }) => toolId),
    ids,
  );
  assert.equal(statement.sequence, 5);
});

test("the copy in the home is used without the network until it expires", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("registry");
  await initRegistry(at(0), folder, registryKey, { name: "acme", validMs: 10 * 24 * 3600 * 1000 });
  await addPackages(at(0), folder, registryKey, named(archiveOf()));
  const requests: string[] = [];
  let source: Parameters<typeof open>[1][number];
  {
    await using server = await serveRegistry(folder, {
      port: 0,
      onRequest: ({ path, status }) => requests.push(`${status} ${path.slice(0, 7)}`),
    });
    source = { name: "acme", place: { kind: "url", url: server.url } };
    await assert.rejects(
      async () => {
        const registries = await open(directory.join("home"), [source], { isOffline: true });
        registries.resolve("demo.echo", "");
      },
      { code: "MCPKG_REGISTRY_UNREACHABLE" },
    );
    await open(directory.join("home"), [source]);
    await open(directory.join("home"), [source]);
  }
  assert.deepEqual(requests, ["200 /index.", "200 /index/", "304 /index."]);
  const registries = await open(directory.join("home"), [source], { day: 9 });
  assert.match(registries.opened[0]?.stale?.reason ?? "", /Cannot read "http/);
  assert.equal(registries.resolve("demo.echo", "").version, "1.0.0");
  await assert.rejects(registries.resolve("demo.echo", "").fetch(), { code: "MCPKG_REGISTRY_UNREACHABLE" });
  const late = await open(directory.join("home"), [source], { day: 11 });
  assert.equal(late.failed[0]?.error.code, "MCPKG_REGISTRY_EXPIRED");
  // A renewal has a new date, and the same packages.
  await changeRegistry(at(11), folder, registryKey, (entries) => entries);
  const { statement, entries } = await readRegistryFolder(folder);
  assert.equal(statement.expiresAt, "2026-01-22T00:00:00.000Z");
  assert.equal(entries.length, 1);
});

test("a package comes from the first registry that has it, and an earlier one that fails is an error", async () => {
  await using directory = await makeTemporaryDirectory();
  for (const [name, version] of [
    ["private", "1.0.0"],
    ["public", "9.0.0"],
  ] as const) {
    await initRegistry(at(0), directory.join(name), registryKey, { name });
    await addPackages(at(0), directory.join(name), registryKey, named(archiveOf({ version })));
  }
  const sourceOf = (name: string) =>
    ({ name, place: { kind: "folder", path: directory.join(name) } }) as const;
  const both = await open(directory.join("home"), [sourceOf("private"), sourceOf("public")]);
  assert.equal(both.resolve("demo.echo", "").version, "1.0.0");
  assert.throws(() => both.resolve("demo.echo", "^9"), { code: "MCPKG_REGISTRY_VERSION_NOT_FOUND" });
  assert.deepEqual(
    both.search("echo", {}, 10).map(({ entry, registry }) => [registry.source.name, entry.version]),
    [["private", "1.0.0"]],
  );
  const failing = await open(directory.join("home"), [sourceOf("missing"), sourceOf("public")]);
  assert.equal(failing.failed[0]?.error.code, "MCPKG_REGISTRY_UNREACHABLE");
  assert.throws(() => failing.resolve("demo.echo", ""), { code: "MCPKG_REGISTRY_UNREACHABLE" });
  assert.equal(failing.search("echo", {}, 10).length, 1);
  const many = Array.from({ length: 17 }, (_, index) => sourceOf(String(index)));
  await assert.rejects(open(directory.join("home"), many), { code: "MCPKG_REGISTRY_TOO_LARGE" });
});

test("the server serves the files of the registry, and no other file of the folder or the machine", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("registry");
  await initRegistry(at(0), folder, registryKey, { name: "acme" });
  const archive = archiveOf();
  await addPackages(at(0), folder, registryKey, named(archive));
  const { writeFileSync, symlinkSync } = await import("node:fs");
  writeFileSync(directory.join("secret"), "secret");
  writeFileSync(directory.join("registry/registry-key.pem"), "secret");
  symlinkSync(directory.join("secret"), directory.join("registry/packages/demo.link-1.0.0.mcpkg"));
  await using server = await serveRegistry(folder, { port: 0, requestTimeoutMs: 3000 });
  const status = async (path: string, init: RequestInit = {}) =>
    (await fetch(new URL(path, server.url), init)).status;
  for (const [path, expected] of [
    ["index.json", 200],
    ["index.json?x=1", 200],
    ["packages/demo.echo-1.0.0.mcpkg", 200],
    ["packages/demo.other-1.0.0.mcpkg", 404],
    ["packages/demo.link-1.0.0.mcpkg", 404],
    ["registry-key.pem", 404],
    [".registry.lock", 404],
    ["packages/", 404],
    ["", 404],
    ["%2e%2e/secret", 404],
    ["packages/..%2f..%2fsecret", 404],
    ["index/%00.json", 404],
    ["%", 404],
  ] as const) {
    assert.equal(await status(path), expected, path);
  }
  assert.equal(await status("index.json", { method: "POST", body: "x" }), 405);
  assert.equal(await status("index.json", { method: "DELETE" }), 405);
  const head = await fetch(new URL("packages/demo.echo-1.0.0.mcpkg", server.url), { method: "HEAD" });
  assert.equal(head.headers.get("content-length"), String(archive.length));
  const etag = (await fetch(new URL("index.json", server.url))).headers.get("etag") ?? "";
  assert.equal(await status("index.json", { headers: { "if-none-match": etag } }), 304);
  // A request that is never complete is closed.
  const { connect } = await import("node:net");
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.write("GET /index.json HTTP/1.1\r\nhost: x\r\n");
  socket.resume();
  await new Promise((resolve) => socket.once("close", resolve));
  assert.equal(readFileSync(directory.join("registry/packages/demo.echo-1.0.0.mcpkg")).equals(archive), true);
});

test("plain http leads to this machine only, and URLs have no user, query or fragment", async () => {
  const { readRegistryUrl } = await import("@toolcrib/mcpkg-registry");
  assert.deepEqual(readRegistryUrl("https://tools.example.com/registry"), {
    kind: "url",
    url: "https://tools.example.com/registry/",
  });
  for (const url of [
    "http://tools.example.com/",
    "http://127.0.0.1.example.com/",
    "https://user:password@example.com/",
    "https://example.com/?a=b",
    "https://example.com/#x",
    "ftp://example.com/",
    "file:///etc",
    "https://",
  ]) {
    assert.throws(() => readRegistryUrl(url), { code: "MCPKG_REGISTRY_PLACE_INVALID" }, url);
  }
});

test("a web server that is no registry is refused", async () => {
  await using directory = await makeTemporaryDirectory();
  await using web = await startWeb((request, response) => {
    if (request.url === "/index.json") response.end("<html>hello</html>");
    else response.writeHead(404).end();
  });
  const { failed } = await open(directory.join("home"), [web.source]);
  assert.equal(failed[0]?.error.code, "MCPKG_REGISTRY_SIGNATURE_INVALID");
});

test("a registry whose key cannot be pinned at its first use is not used", slowTest, async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = directory.join("registry");
  await initRegistry(at(0), folder, registryKey, { name: "acme" });
  await using server = await serveRegistry(folder, { port: 0 });
  const source = { name: "acme", place: { kind: "url", url: server.url } } as const;
  const home = directory.join("home");
  await open(home, [source]);
  const [id = ""] = readdirSync(`${home}/registries`);
  const remembered = `${home}/registries/${id}`;
  using held = tryLock(remembered, "state", "exclusive");
  assert(held);
  // With the key pinned, only the copy is not brought up to date.
  assert.deepEqual((await open(home, [source])).failed, []);
  rmSync(`${remembered}/state.json`);
  const { failed, opened } = await open(home, [source]);
  assert.equal(opened.length, 0);
  assert.match(JSON.stringify(failed), /MCPKG_REGISTRY_STATE_BUSY/);
});
