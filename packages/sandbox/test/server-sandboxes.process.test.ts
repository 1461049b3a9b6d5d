/** The sandboxes of servers: what their configuration names is created or refused before anything starts. */

import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { type ContainedServer, ServerSandboxes } from "@toolcrib/sandbox";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { createSandboxes, run, unavailableReason } from "./sandbox-harness.ts";

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
