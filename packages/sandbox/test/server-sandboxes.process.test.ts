/** The sandboxes of servers: what their configuration names is created or refused before anything starts. */

import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { type ContainedServer, ServerSandboxes } from "@toolcrib/sandbox";
import { makeTemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { createSandboxes, run, tierIds, unavailableReason } from "./sandbox-harness.ts";

const skip = (await unavailableReason()) ?? false;

test("a missing write path is created; a file and links in a circle are refused by their path", {
  skip,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("file"), "");
  symlinkSync("circle", directory.join("circle"));
  const sandboxes = new ServerSandboxes({
    sandboxes: createSandboxes(),
    openExit: () => assert.fail("It has no scoped network"),
    mode: "required",
    places: {
      home: directory.join("home"),
      env: { HOME: directory.join("user") },
      configFiles: [],
      directory: directory.path,
    },
  });
  const start = (writePath: string) => {
    const server: ContainedServer = {
      id: "s",
      transport: { kind: "stdio" },
      source: { name: "toolcrib.yaml" },
      containment: {
        needsSandbox: true,
        bySandbox: ["network_egress", "filesystem_write"],
        effective: {
          ...{ networkEgress: "deny", filesystemWrite: "scoped", hasState: false },
          ...{ egressAllow: [], egressPassthrough: [], readPaths: [], writePaths: [writePath] },
        },
      },
    };
    const contain = sandboxes.containmentOf(server, async () => undefined) ?? assert.fail();
    const args = ["-c", 'echo written > "$1/it"', "sh", directory.join(writePath)];
    const { signal } = new AbortController();
    return contain({ program: "/bin/sh", args, env: { PATH: "/usr/bin:/bin" } }, { signal });
  };
  await using prepared = await start("new/folder");
  assert.equal((await run(prepared.request)).code, 0);
  assert.ok(existsSync(directory.join("new/folder/it")));
  for (const [path, reason] of [
    ["file", /EEXIST/],
    ["circle", /EEXIST|ELOOP|ENOENT/],
    ["file/below", /ENOTDIR/],
  ] as const) {
    await assert.rejects(start(path), (error: Error & { readonly code?: string; readonly hint?: string }) => {
      assert.equal(error.code, "SANDBOX_PATH_REFUSED");
      assert.equal(
        error.message,
        `The write path "${directory.join(path)}" is no folder that can be written`,
      );
      assert.match(error.hint ?? "", reason);
      return true;
    });
  }
});

test("what is created later in the home, or as a folder of credentials, is hidden from servers that start after it", {
  skip,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  chmodSync(directory.path, 0o755);
  const user = directory.join("user");
  const home = `${user}/gateway`;
  mkdirSync(user);
  const sandboxes = new ServerSandboxes({
    sandboxes: createSandboxes(),
    openExit: () => assert.fail("It has no scoped network"),
    mode: "required",
    places: { home, env: { HOME: user }, configFiles: ["user/later.yaml"], directory: directory.path },
  });
  const server: ContainedServer = {
    id: "s",
    transport: { kind: "stdio" },
    source: { name: "toolcrib.yaml" },
    containment: {
      needsSandbox: true,
      bySandbox: ["network_egress", "filesystem_write"],
      effective: {
        ...{ networkEgress: "deny", filesystemWrite: "deny", hasState: false },
        ...{ egressAllow: [], egressPassthrough: [], readPaths: [user], writePaths: [] },
      },
    },
  };
  const contain = sandboxes.containmentOf(server, async () => undefined) ?? assert.fail();
  const files = [".aws/credentials", "gateway/state/other/file", "later.yaml", ".netrc"];
  const shown = async () => {
    const args = ["-c", 'cd "$1" && shift && cat shown "$@" 2>/dev/null; exit 0', "sh", user, ...files];
    const request = { program: "/bin/sh", args, env: { PATH: "/usr/bin:/bin" } };
    await using prepared = await contain(request, { signal: new AbortController().signal });
    return (await run(prepared.request)).stdout;
  };
  writeFileSync(`${user}/shown`, "shown\n");
  assert.equal(await shown(), "shown\n");
  for (const file of files) {
    mkdirSync(dirname(`${user}/${file}`), { recursive: true });
    writeFileSync(`${user}/${file}`, "the secret\n");
  }
  assert.equal(await shown(), "shown\n");
});

for (const tier of tierIds) {
  test(`the files of the configuration are hidden where the folder of a program is shown, in ${tier}`, {
    skip: (await unavailableReason(tier)) ?? false,
  }, async () => {
    await using directory = await makeTemporaryDirectory();
    chmodSync(directory.path, 0o755);
    const hidden = {
      "project/toolcrib.yaml": "the secret\n",
      "project/more/second.yaml": "the secret\n",
      "project/policies/main.cedar": "the secret\n",
      "project/.env": "the secret\n",
      "project/.env.local": "the secret\n",
      "project/more/.env.production": "the secret\n",
      "project/real/.env": "the secret\n",
    };
    const shown = {
      "project/src/.env": "shown\n",
      "project/.envrc": "shown\n",
      "project/.env.d/file": "shown\n",
    };
    writeFiles(directory.path, {
      ...hidden,
      ...shown,
      "project/package.json": "{}",
      "project/real/linked.yaml": "the secret\n",
      "project/src/list.sh":
        'cd "$1" && shift && for file in "$@"; do text=$(cat "$file" 2>/dev/null); [ "$text" ] && echo "$text" || echo hidden; done\n',
    });
    symlinkSync("../real/linked.yaml", directory.join("project/more/linked.yaml"));
    let policyFiles: readonly string[] = [];
    const sandboxes = new ServerSandboxes({
      sandboxes: createSandboxes(tier),
      openExit: () => assert.fail("It has no scoped network"),
      mode: "required",
      places: {
        home: directory.join("home"),
        env: { HOME: directory.join("user") },
        configFiles: [
          "project/toolcrib.yaml",
          directory.join("project/more/second.yaml"),
          "project/more/linked.yaml",
        ],
        policyFiles: () => policyFiles,
        directory: directory.path,
      },
    });
    const server: ContainedServer = {
      id: "s",
      transport: { kind: "stdio" },
      source: { name: "project/toolcrib.yaml" },
      containment: {
        needsSandbox: true,
        bySandbox: ["network_egress", "filesystem_write"],
        effective: {
          ...{ networkEgress: "deny", filesystemWrite: "deny", hasState: false },
          ...{ egressAllow: [], egressPassthrough: [], readPaths: [], writePaths: [] },
        },
      },
    };
    const contain = sandboxes.containmentOf(server, async () => undefined) ?? assert.fail();
    const names = [
      ...Object.keys(hidden),
      "project/real/linked.yaml",
      "project/more/linked.yaml",
      ...Object.keys(shown),
    ];
    const request = {
      program: "/bin/sh",
      args: [directory.join("project/src/list.sh"), directory.path, ...names],
      env: { PATH: "/usr/bin:/bin" },
      directory: "/",
    };
    const lines = async () => {
      await using prepared = await contain(request, { signal: new AbortController().signal });
      return (await run(prepared.request)).stdout.trimEnd().split("\n");
    };
    const whole = names.map((name) => readFileSync(directory.join(name), "utf8").trimEnd());
    assert.deepEqual((await run(request)).stdout.trimEnd().split("\n"), whole);
    const covered = whole.map((line) => (line === "the secret" ? "hidden" : line));
    const policy = names.indexOf("project/policies/main.cedar");
    assert.deepEqual(await lines(), covered.with(policy, "the secret"));
    // A policy that comes into force later is hidden from the next start.
    policyFiles = [directory.join("project/policies/main.cedar")];
    assert.deepEqual(await lines(), covered);
  });
}
