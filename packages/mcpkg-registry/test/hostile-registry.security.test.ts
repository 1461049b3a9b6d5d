/** Attacks on a client of a registry, through its web server, a mirror of it or the network. */

import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { keyIdOf } from "@toolcrib/mcpkg";
import {
  addPackages,
  changeRegistry,
  initRegistry,
  readRegistryFolder,
  rotateRegistryKey,
} from "@toolcrib/mcpkg-registry";
import { makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";
import { archiveOf, at, dayMs, keyOf, named, open, registryKey, startWeb } from "./fixtures.ts";

async function newRegistry(directory: TemporaryDirectory, name = "registry"): Promise<string> {
  const folder = directory.join(name);
  await initRegistry(at(0), folder, registryKey, { name });
  await addPackages(at(0), folder, registryKey, named(archiveOf()));
  return folder;
}

/** Serves `folder` as any static web server does, with files that are replaced. */
function serving(state: {
  folder: string;
  readonly replaced?: { readonly [path: string]: (content: Buffer) => Buffer | RequestListener };
}): RequestListener {
  return (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname);
    const file = join(state.folder, path);
    const key = Object.keys(state.replaced ?? {}).find((one) => path.startsWith(one));
    if (!existsSync(file) && key === undefined) {
      response.writeHead(404).end();
      return;
    }
    const content = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
    const replaced = key === undefined ? content : state.replaced?.[key]?.(content);
    if (typeof replaced === "function") replaced(request, response);
    else response.end(replaced);
  };
}

async function codeOf(registries: ReturnType<typeof open>): Promise<string | undefined> {
  return (await registries).failed[0]?.error.code;
}

test("an index that was changed anywhere is refused", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = await newRegistry(directory);
  const index = readFileSync(join(folder, "index.json"), "utf8");
  const envelope = JSON.parse(index) as { payload: string; signatures: { sig: string }[] };
  const payload = Buffer.from(envelope.payload, "base64").toString();
  const edited = (change: (text: string) => string) =>
    JSON.stringify({ ...envelope, payload: Buffer.from(change(payload)).toString("base64") });
  const hostile: readonly string[] = [
    edited((text) => text.replace('"sequence":2', '"sequence":9')),
    edited((text) => text.replace(/"expiresAt":"2026/, '"expiresAt":"2036')),
    edited((text) => text.replace(/"sha256":"./, '"sha256":"0')),
    JSON.stringify({ ...envelope, payloadType: "application/vnd.in-toto+json" }),
    JSON.stringify({ ...envelope, signatures: [] }),
    JSON.stringify({ ...envelope, signatures: [...envelope.signatures, ...envelope.signatures] }),
    index.slice(0, -20),
    "[".repeat(60_000),
    "",
  ];
  for (const text of hostile) {
    await using web = await startWeb(
      serving({ folder, replaced: { "/index.json": () => Buffer.from(text) } }),
    );
    assert.equal(
      await codeOf(open(directory.join("home"), [web.source])),
      "MCPKG_REGISTRY_SIGNATURE_INVALID",
      text,
    );
  }
});

test("a new key counts where the old one signed it, within its time, and the old one not any more", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = await newRegistry(directory);
  const state = { folder };
  await using web = await startWeb(serving(state));
  const pinned = directory.join("pinned");
  const configured = { ...web.source, keyId: keyIdOf(registryKey) };
  const home = directory.join("home");
  for (const one of [
    [pinned, web.source],
    [home, configured],
  ] as const)
    assert.equal(await codeOf(open(one[0], [one[1]])), undefined);
  const old = directory.join("old");
  cpSync(folder, old, { recursive: true });
  await rotateRegistryKey(at(1), folder, { oldKey: registryKey, newKey: keyOf(5), acceptedMs: 30 * dayMs });
  await rotateRegistryKey(at(2), folder, { oldKey: keyOf(5), newKey: keyOf(6), acceptedMs: 30 * dayMs });
  await assert.rejects(
    changeRegistry(at(2), folder, registryKey, (entries) => entries),
    {
      code: "MCPKG_REGISTRY_KEY_MISMATCH",
    },
  );
  await changeRegistry(at(3), folder, keyOf(6), (entries) => entries);
  // A client that comes too late, and one that never knew the old key.
  const late = await open(pinned, [web.source], { day: 40 });
  assert.equal(late.failed[0]?.error.code, "MCPKG_REGISTRY_KEY_MISMATCH");
  assert.match(late.failed[0]?.error.message ?? "", /which could be followed until 2026-02-01/);
  assert.match(late.failed[0]?.error.hint ?? "", new RegExp(`key: ${keyIdOf(keyOf(6))}`));
  const foreign = { ...web.source, keyId: keyIdOf(keyOf(9)) };
  assert.equal(
    await codeOf(open(directory.join("foreign"), [foreign], { day: 4 })),
    "MCPKG_REGISTRY_KEY_MISMATCH",
  );
  for (const [one, source] of [
    [pinned, web.source],
    [home, configured],
  ] as const) {
    const { opened, failed } = await open(one, [source], { day: 4 });
    assert.deepEqual(failed, []);
    assert.equal(opened[0]?.replacedKeyId, keyIdOf(registryKey));
    // From now on the old key is none, also where the configuration names it, and nothing leads back to it.
    assert.equal((await open(one, [source], { day: 40 })).opened[0]?.replacedKeyId, undefined);
    state.folder = old;
    for (let count = 0; count < 6; count += 1)
      await changeRegistry(at(5), old, registryKey, (entries) => entries);
    assert.equal(await codeOf(open(one, [source], { day: 5 })), "MCPKG_REGISTRY_KEY_MISMATCH");
    state.folder = folder;
  }
  // A replacement by a key that nobody knows.
  const evil = directory.join("evil");
  await initRegistry(at(0), evil, keyOf(9), { name: "registry" });
  for (let count = 0; count < 9; count += 1)
    await changeRegistry(at(5), evil, keyOf(9), (entries) => entries);
  await rotateRegistryKey(at(5), evil, { oldKey: keyOf(9), newKey: keyOf(8) });
  state.folder = evil;
  assert.equal(await codeOf(open(pinned, [web.source], { day: 6 })), "MCPKG_REGISTRY_KEY_MISMATCH");
});

test("a registry that returned to an old key, and left it again, is followed from each of its keys", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = await newRegistry(directory);
  await using web = await startWeb(serving({ folder }));
  const [second, third] = [keyOf(5), keyOf(6)];
  const early = directory.join("early");
  assert.equal(await codeOf(open(early, [web.source])), undefined);
  await rotateRegistryKey(at(1), folder, { oldKey: registryKey, newKey: second });
  const between = directory.join("between");
  assert.equal(await codeOf(open(between, [web.source], { day: 1 })), undefined);
  await rotateRegistryKey(at(2), folder, { oldKey: second, newKey: registryKey });
  await rotateRegistryKey(at(3), folder, { oldKey: registryKey, newKey: third });
  for (const [home, key] of [
    [early, registryKey],
    [between, second],
  ] as const) {
    const { opened, failed } = await open(home, [web.source], { day: 4 });
    assert.deepEqual(failed, []);
    assert.equal(opened[0]?.replacedKeyId, keyIdOf(key));
  }
});

test("a key of the configuration and a pinned key are the only ones that count", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = await newRegistry(directory);
  const other = directory.join("other");
  await initRegistry(at(0), other, keyOf(5), { name: "registry" });
  for (let count = 0; count < 5; count += 1)
    await changeRegistry(at(0), other, keyOf(5), (entries) => entries);
  const state = { folder };
  await using web = await startWeb(serving(state));
  const home = directory.join("home");
  const wrong = { ...web.source, keyId: keyIdOf(keyOf(5)) };
  assert.equal(await codeOf(open(home, [wrong])), "MCPKG_REGISTRY_KEY_MISMATCH");
  assert.equal(await codeOf(open(home, [web.source])), undefined);
  state.folder = other;
  assert.equal(await codeOf(open(home, [web.source])), "MCPKG_REGISTRY_KEY_MISMATCH");
  // The operator of the client writes the new key down.
  assert.equal(await codeOf(open(home, [wrong])), undefined);
  state.folder = folder;
  assert.equal(await codeOf(open(home, [wrong])), "MCPKG_REGISTRY_KEY_MISMATCH");
});

test("an index that is older than one that was seen, expired, or another one of the same number is refused", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = await newRegistry(directory);
  cpSync(folder, directory.join("old"), { recursive: true });
  cpSync(folder, directory.join("fork"), { recursive: true });
  await addPackages(at(0), folder, registryKey, named(archiveOf({ version: "1.1.0" })));
  await addPackages(at(1), directory.join("fork"), registryKey, named(archiveOf({ version: "6.6.6" })));
  const state = { folder };
  await using web = await startWeb(serving(state));
  const home = directory.join("home");
  assert.equal(await codeOf(open(home, [web.source])), undefined);
  state.folder = directory.join("old");
  assert.equal(await codeOf(open(home, [web.source])), "MCPKG_REGISTRY_ROLLED_BACK");
  state.folder = directory.join("fork");
  assert.equal(await codeOf(open(home, [web.source])), "MCPKG_REGISTRY_ROLLED_BACK");
  state.folder = folder;
  assert.equal(await codeOf(open(home, [web.source], { day: 89 })), undefined);
  assert.equal(await codeOf(open(home, [web.source], { day: 91 })), "MCPKG_REGISTRY_EXPIRED");
  // A client that never saw the newer index cannot know that this one is old, but for its date.
  state.folder = directory.join("old");
  assert.equal(await codeOf(open(directory.join("new"), [web.source])), undefined);
});

test("a list or an archive that is missing, changed, cut or of another time is refused", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = await newRegistry(directory);
  const { statement } = await readRegistryFolder(folder);
  const list = `/index/${statement.list.sha256}.json`;
  const archive = "/packages/demo.echo-1.0.0.mcpkg";
  const home = directory.join("home");
  const changed = (content: Buffer) => {
    const copy = Buffer.from(content);
    copy[copy.length >> 1] = (copy[copy.length >> 1] ?? 0) ^ 1;
    return copy;
  };
  const attacks: readonly (readonly [
    name: string,
    change: (content: Buffer) => Buffer | RequestListener,
    code: string,
  ])[] = [
    ["changed", changed, "MCPKG_REGISTRY_DIGEST_MISMATCH"],
    ["cut", (content) => content.subarray(0, -1), "MCPKG_REGISTRY_DIGEST_MISMATCH"],
    ["longer", (content) => Buffer.concat([content, Buffer.from(" ")]), "MCPKG_REGISTRY_TOO_LARGE"],
    ["empty", () => Buffer.alloc(0), "MCPKG_REGISTRY_DIGEST_MISMATCH"],
    [
      "missing",
      () => (_request, response) => void response.writeHead(404).end(),
      "MCPKG_REGISTRY_RESPONSE_INVALID",
    ],
    [
      "elsewhere",
      () => (_request, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      "MCPKG_REGISTRY_RESPONSE_INVALID",
    ],
    ["endless", () => endless, "MCPKG_REGISTRY_TOO_LARGE"],
    ["slow", () => slow, "MCPKG_REGISTRY_TIMED_OUT"],
    ["silent", () => () => {}, "MCPKG_REGISTRY_TIMED_OUT"],
    ["aborted", () => (_request, response) => void response.destroy(), "MCPKG_REGISTRY_UNREACHABLE"],
  ];
  for (const [name, change, code] of attacks) {
    // Only what is late gets a short time: a busy machine may need more for the rest.
    const isLate = code === "MCPKG_REGISTRY_TIMED_OUT";
    const options = isLate ? { timeoutMs: 400 } : {};
    {
      await using web = await startWeb(serving({ folder, replaced: { [list]: change } }));
      assert.equal(await codeOf(open(home, [web.source], options)), code, `list: ${name}`);
    }
    await using web = await startWeb(serving({ folder, replaced: { [archive]: change } }));
    const registries = await open(home, [web.source], isLate ? { archiveTimeoutMs: 400 } : {});
    await assert.rejects(registries.resolve("demo.echo", "").fetch(), { code }, `archive: ${name}`);
    // White space at the end of an envelope means nothing.
    if (name === "cut" || name === "longer") continue;
    await using index = await startWeb(serving({ folder, replaced: { "/index.json": change } }));
    assert.notEqual(await codeOf(open(home, [index.source], options)), undefined, `index: ${name}`);
  }
});

const endless: RequestListener = (_request, response) => {
  const write = () => {
    while (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) {
      // Until the buffer is full.
    }
  };
  response.on("drain", write);
  write();
};

const slow: RequestListener = (_request, response) => {
  const timer = setInterval(() => response.write(" "), 50);
  response.on("close", () => clearInterval(timer));
};

test("an index that its signer made wrong is refused as a whole", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = await newRegistry(directory);
  const source = { name: "local", place: { kind: "folder", path: folder } } as const;
  const { entries } = await readRegistryFolder(folder);
  const [entry] = entries;
  if (entry === undefined) throw new Error("no entry");
  const lies: readonly (readonly [change: object, code: string])[] = [
    [{ digest: `sha256:${"0".repeat(64)}` }, "MCPKG_REGISTRY_DIGEST_MISMATCH"],
    [{ publisherKey: keyIdOf(keyOf(7)) }, "MCPKG_REGISTRY_DIGEST_MISMATCH"],
    [{ publisherKey: undefined }, "MCPKG_REGISTRY_DIGEST_MISMATCH"],
  ];
  for (const [change, code] of lies) {
    await changeRegistry(at(0), folder, registryKey, () => [{ ...entry, ...change }]);
    const registries = await open(directory.join("home"), [source]);
    await assert.rejects(registries.resolve("demo.echo", "").fetch(), { code });
  }
  const wrong: readonly object[] = [
    { toolId: "../../etc/passwd" },
    { toolId: "DEMO.echo" },
    { version: "1.0" },
    { version: "../1.0.0" },
    { bytes: -1 },
    { bytes: 1e12 },
    { digest: "md5:0" },
    { capabilities: "echo" },
    { reach: "example.com" },
    { reach: { hosts: [1], programs: [], tools: [] } },
    { reach: { hosts: [], programs: [], tools: [], moreTools: -1 } },
    { description: "x".repeat(5000) },
    { examples: Array.from({ length: 600 }, () => "x") },
    { implementations: [{ platforms: [1] }] },
  ];
  for (const change of wrong) {
    // The writer reads what it has written, and refuses it too.
    const made = changeRegistry(at(0), folder, registryKey, () => [{ ...entry, ...change }]);
    await assert.rejects(made, { code: "MCPKG_REGISTRY_INDEX_INVALID" });
    const code = await codeOf(open(directory.join("home"), [source]));
    assert.equal(code, "MCPKG_REGISTRY_INDEX_INVALID", JSON.stringify(change));
  }
});

test("a damaged state of the home is reported, and does not unpin the key", async () => {
  await using directory = await makeTemporaryDirectory();
  const folder = await newRegistry(directory);
  const source = { name: "local", place: { kind: "folder", path: folder } } as const;
  const home = directory.join("home");
  await open(home, [source]);
  const { readdirSync } = await import("node:fs");
  const [name = ""] = readdirSync(join(home, "registries"));
  const state = join(home, "registries", name, "state.json");
  writeFileSync(state, "{}");
  assert.equal(await codeOf(open(home, [source])), "MCPKG_REGISTRY_STATE_INVALID");
  rmSync(join(home, "registries", name), { recursive: true });
  assert.equal((await open(home, [source])).opened[0]?.isFirstUse, true);
});
