/** Chains bring the tools that they call: all are installed and locked, or none. */

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { readInstalledPackages, readLock, uninstallPackages } from "@toolcrib/mcpkg-install";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { type Release, resolverOf } from "./folder-resolver.ts";
import { archiveOf, changeDeps, install, placeIn, plan, type TestPlace } from "./sample-packages.ts";

function release(toolId: string, chain?: readonly string[], version = "1.0.0"): Release {
  return { toolId, version, archive: archiveOf({ toolId, version, ...(chain && { chain }) }) };
}

async function installedIds({ home, project }: TestPlace): Promise<readonly string[]> {
  return (await readInstalledPackages({ home, projectFolder: project })).packages.map(({ toolId }) => toolId);
}

test("a chain brings its tools, and theirs, from the registry; what is installed stays", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const resolver = resolverOf([
    release("demo.pipe", ["demo.read", "demo.inner", "files:read"]),
    release("demo.inner", ["demo.clean", "demo.read"]),
    release("demo.read", undefined, "1.0.0"),
    release("demo.read", undefined, "2.0.0"),
    release("demo.clean"),
  ]);
  await install(place, ["demo.read@1.0.0"], { resolver });
  const { packages } = await install(place, ["demo.pipe"], { resolver });
  assert.deepEqual(
    packages.map(({ toolId, neededBy }) => [toolId, neededBy]),
    [
      ["demo.pipe", []],
      ["demo.inner", ["demo.pipe"]],
      ["demo.clean", ["demo.inner"]],
    ],
  );
  assert.deepEqual(await installedIds(place), ["demo.clean", "demo.inner", "demo.pipe", "demo.read"]);
  const locked = [...((await readLock(place.project)) ?? [])].map(
    ([toolId, { version }]) => `${toolId} ${version}`,
  );
  assert.deepEqual(locked, ["demo.clean 1.0.0", "demo.inner 1.0.0", "demo.pipe 1.0.0", "demo.read 1.0.0"]);
  // A tool that a chain calls is not removed under it.
  const remove = (...toolIds: string[]) => uninstallPackages(changeDeps, { ...place, toolIds });
  await assert.rejects(remove("demo.clean"), { code: "INSTALL_TOOL_NEEDED" });
  await assert.rejects(remove("demo.inner", "demo.clean"), { code: "INSTALL_TOOL_NEEDED" });
  await remove("demo.pipe", "demo.inner", "demo.clean");
  assert.deepEqual(await installedIds(place), ["demo.read"]);
});

test("a chain for the user does not use the tools of a project, and the hint says so", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  await install(place, [archiveOf({ toolId: "demo.read" })]);
  const pipe = archiveOf({ toolId: "demo.pipe", chain: ["demo.read"] });
  await assert.rejects(install(place, [pipe], { isForUser: true }), {
    code: "INSTALL_TOOLS_MISSING",
    hint: /^install them for the user first, .* those of a project do not count/,
  });
});

test("nothing is installed where one tool is missing, refused or damaged", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const pipe = release("demo.pipe", ["demo.read", "demo.clean"]);
  const refused = async (releases: readonly Release[], code: string, message: RegExp) => {
    await assert.rejects(
      install(place, ["demo.pipe"], { resolver: resolverOf(releases) }),
      (error: Error) => {
        assert.equal((error as Error & { code?: string }).code, code, error.message);
        assert.match(error.message, message);
        return true;
      },
    );
    assert.equal(existsSync(`${place.project}/.mcp`), false);
    assert.equal(existsSync(place.home), false);
  };
  await refused(
    [pipe],
    "INSTALL_TOOLS_MISSING",
    /demo\.read \(for demo\.pipe\), demo\.clean \(for demo\.pipe\)/,
  );
  await refused([pipe, release("demo.read")], "INSTALL_TOOLS_MISSING", /a chain needs demo\.clean/);
  const unsigned = archiveOf({ toolId: "demo.clean", signer: undefined });
  await refused(
    [pipe, release("demo.read"), { toolId: "demo.clean", version: "1.0.0", archive: unsigned }],
    "INSTALL_UNSIGNED",
    /demo\.clean/,
  );
  const damaged = archiveOf({ toolId: "demo.clean" }).subarray(0, 300);
  await refused(
    [pipe, release("demo.read"), { toolId: "demo.clean", version: "1.0.0", archive: damaged }],
    "MCPKG_ARCHIVE_INVALID",
    /demo\.clean/,
  );
  await refused(
    [release("demo.pipe", ["demo.inner"]), release("demo.inner", ["demo.pipe"])],
    "INSTALL_CHAIN_CYCLE",
    /demo\.pipe → demo\.inner → demo\.pipe/,
  );
  const many = Array.from({ length: 70 }, (_, n) => release(`demo.t${n}`, [`demo.t${n + 1}`]));
  await refused([release("demo.pipe", ["demo.t0"]), ...many], "INSTALL_TOO_LARGE", /more than 64 packages/);
});

test("a step is resolved by every name that the gateway has for a package", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const long = `demo.${"a".repeat(80)}`;
  const onWire = `${long.slice(0, 55)}_${hash("sha256", long, "hex").slice(0, 8)}`;
  for (const [toolId, alias] of [
    ["demo.inner", "demo.inner:inner"],
    [long, onWire],
  ] as const) {
    const circle = [
      archiveOf({ toolId: "demo.pipe", chain: [alias] }),
      archiveOf({ toolId, chain: ["demo.pipe"] }),
    ];
    await assert.rejects(install(place, circle), { code: "INSTALL_CHAIN_CYCLE" }, alias);
    await install(place, [archiveOf({ toolId: "demo.pipe", chain: [alias] }), release(toolId).archive]);
    const remove = uninstallPackages(changeDeps, { ...place, toolIds: [toolId] });
    await assert.rejects(remove, { code: "INSTALL_TOOL_NEEDED" }, alias);
    await uninstallPackages(changeDeps, { ...place, toolIds: ["demo.pipe", toolId] });
  }
  const missing = archiveOf({ toolId: "demo.pipe", chain: ["demo.none:none"] });
  await assert.rejects(install(place, [missing]), { code: "INSTALL_TOOLS_MISSING" });
  // A tool of a server with such an id is none of a package.
  await install(place, [archiveOf({ toolId: "demo.pipe", chain: ["demo.server:read"] })]);
});

test("a circle through an installed chain is refused", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const resolver = resolverOf([release("demo.a", ["demo.b"]), release("demo.b")]);
  await install(place, ["demo.a"], { resolver });
  const next = archiveOf({ toolId: "demo.b", version: "2.0.0", chain: ["demo.a"] });
  await assert.rejects(install(place, [next]), { code: "INSTALL_CHAIN_CYCLE" });
});

test("files of a chain and of its tools are installed together, and two files of one tool are not", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  await install(place, [release("demo.pipe", ["demo.read"]).archive, release("demo.read").archive]);
  assert.deepEqual(await installedIds(place), ["demo.pipe", "demo.read"]);
  await assert.rejects(install(place, [archiveOf(), archiveOf({ version: "2.0.0" })]), {
    code: "INSTALL_TOOL_TWICE",
  });
});

test("a locked tool of a chain comes in the locked version", async () => {
  await using directory = await makeTemporaryDirectory();
  const place = placeIn(directory);
  const resolver = resolverOf([
    release("demo.read", undefined, "1.0.0"),
    release("demo.pipe", ["demo.read"]),
    release("demo.read", undefined, "2.0.0"),
  ]);
  await install(place, ["demo.read@1.0.0"], { resolver });
  const other = { home: directory.join("other"), project: place.project };
  const { packages } = await plan(other, ["demo.pipe"], { resolver, allowed: { replacingFolder: true } });
  assert.deepEqual(
    packages.map(({ toolId, version }) => `${toolId} ${version}`),
    ["demo.pipe 1.0.0", "demo.read 1.0.0"],
  );
});
