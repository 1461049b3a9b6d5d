/** The files of starts: those of a gateway that was killed are removed by the next one of the same user. */

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { Sandboxes } from "@toolcrib/sandbox";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { strictPolicy, unavailableReason } from "./sandbox-harness.ts";

const skip = (await unavailableReason("unshare")) ?? false;

test("a start removes the folders of dead processes of this user, and no others", { skip }, async () => {
  await using folder = await makeTemporaryDirectory();
  const prepare = async () => {
    const facts = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 };
    const places = { temporaryDirectory: folder.path, userHome: "/home/nobody-here" };
    const sandboxes = new Sandboxes({ ...facts, ...places }, { tiers: ["unshare"] });
    return await sandboxes.prepare({ program: "/bin/true", args: [], env: {} }, strictPolicy());
  };
  const running = await prepare();
  const [own = ""] = readdirSync(folder.path);
  const [, namespace, pid, started] = /^toolcrib-sandbox-(\d+)-(\d+)-(\d+)-/.exec(own) ?? [];
  assert.equal(pid, String(process.pid));
  const dead = [
    `toolcrib-sandbox-${namespace}-${pid}-${Number(started) + 1}-abcdef`,
    `toolcrib-sandbox-${namespace}-999999999-7-abcdef`,
  ];
  const kept = [
    own,
    `toolcrib-sandbox-1-999999999-7-abcdef`,
    "toolcrib-sandbox-mine",
    "toolcrib-sandbox-0-0-0-a-b",
  ];
  for (const name of [...dead, ...kept.slice(1)]) {
    mkdirSync(folder.join(name, "inner"), { recursive: true });
    writeFileSync(folder.join(name, "inner", "file"), "");
  }
  const link = `toolcrib-sandbox-${namespace}-999999998-7-abcdef`;
  symlinkSync(folder.join("toolcrib-sandbox-mine"), folder.join(link));
  const second = await prepare();
  const left = readdirSync(folder.path);
  for (const name of dead) assert.ok(!left.includes(name), name);
  for (const name of [...kept, link]) assert.ok(left.includes(name), name);
  assert.deepEqual(readdirSync(folder.join("toolcrib-sandbox-mine", "inner")), ["file"]);
  await second[Symbol.asyncDispose]();
  await running[Symbol.asyncDispose]();
  assert.ok(!readdirSync(folder.path).includes(own));
});
