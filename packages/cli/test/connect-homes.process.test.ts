/** Several homes that are connected to one client, each with --force over the one before: whose entry a file has. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { echoServer, runToolcrib } from "./transcript.ts";

const cursorText = '{\n  // mine\n  "mcpServers": {\n    "files": { "command": "npx" }, // kept\n  },\n}\n';

/** A user with the file of a client and several homes. */
async function setUp(before: string | undefined) {
  const directory = await makeTemporaryDirectory();
  const configuration = { tool_servers: [echoServer("echo")], serve: { listen: "127.0.0.1:7499" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(configuration));
  mkdirSync(directory.join(".cursor"));
  const file = directory.join(".cursor/mcp.json");
  if (before !== undefined) writeFileSync(file, before);
  const text = () => (existsSync(file) ? readFileSync(file, "utf8") : undefined);
  const run = async (home: string, ...words: readonly string[]) => {
    const done = await runToolcrib(["--home", directory.join(home), ...words], { directory: directory.path });
    assert.equal(done.code, 0, done.stderr);
    return done.stdout;
  };
  return {
    directory,
    file,
    text,
    connect: (home: string) => run(home, "connect", "cursor", "--yes", "--force", "--stdio"),
    disconnect: (home: string) => run(home, "disconnect", "cursor"),
    /** The home whose entry the file has. */
    owner: () => /"[^"]*\/(home-\w)"/.exec(text() ?? "")?.[1],
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

const homes = ["home-a", "home-b", "home-c"];
const orders = ["abc", "acb", "bac", "bca", "cab", "cba"].map((order) =>
  [...order].map((letter) => `home-${letter}`),
);

test("in whatever order homes are disconnected, the file has the entry of the last that is connected, and ends as it was", async () => {
  for (const before of [cursorText, undefined]) {
    for (const order of orders) {
      await using user = await setUp(before);
      const written = new Map<string, string | undefined>();
      for (const home of homes) {
        await user.connect(home);
        assert.equal(user.owner(), home);
        written.set(home, user.text());
      }
      for (const home of order) {
        await user.disconnect(home);
        written.delete(home);
        const expected = written.size === 0 ? before : [...written.values()].at(-1);
        assert.equal(user.text(), expected, `${order.join(", ")}: after ${home}`);
      }
    }
  }
});

test("in a file that changed since, the entry of the last home that is connected is put back, and the changes stay", async () => {
  for (const order of orders) {
    await using user = await setUp(cursorText);
    const left = new Set(homes);
    for (const home of homes) await user.connect(home);
    writeFileSync(user.file, (user.text() ?? "").replace('"npx"', '"bunx"'));
    for (const home of order) {
      const said = await user.disconnect(home);
      const isLast = [...left].at(-1) === home;
      left.delete(home);
      assert.equal(user.owner(), [...left].at(-1), `${order.join(", ")}: after ${home}`);
      assert.match(user.text() ?? "", /"bunx" \}, \/\/ kept/);
      const isBack = /the entry of the home that was connected before is back; what changed since stays/;
      assert.equal(isBack.test(said), isLast && left.size > 0, said);
    }
  }
});

test("a home that takes the file back with --force is followed by the home that it replaced", async () => {
  for (const order of [
    ["home-a", "home-b"],
    ["home-b", "home-a"],
  ]) {
    await using user = await setUp(cursorText);
    for (const home of ["home-a", "home-b", "home-a"]) await user.connect(home);
    assert.equal(user.owner(), "home-a");
    await user.disconnect(order[0] as string);
    assert.equal(user.owner(), order[1]);
    await user.disconnect(order[1] as string);
    assert.equal(user.text(), cursorText, order.join(", "));
  }
});

test("of homes with records of earlier versions, the entry alone is left out", async () => {
  await using user = await setUp(cursorText);
  for (const home of homes.slice(0, 2)) await user.connect(home);
  await user.disconnect("home-a");
  const path = user.directory.join("home-a/connections/cursor.left.json");
  const { file, leftSha256 } = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ file, leftSha256 }));
  const said = await user.disconnect("home-b");
  assert.match(
    said,
    /restored as it was before, without the entry of a home .*\n.*\n +disconnected home: .*home-a$/m,
  );
  assert.equal(user.text(), cursorText);
});

test("a home that is gone from the disk is named, and its entry restored", async () => {
  await using user = await setUp(cursorText);
  const written: (string | undefined)[] = [];
  for (const home of homes) {
    await user.connect(home);
    written.push(user.text());
  }
  rmSync(user.directory.join("home-a"), { recursive: true });
  await user.disconnect("home-b");
  const said = (await user.disconnect("home-c")).replaceAll(/\s+/g, " ");
  assert.match(said, /disconnected home: \S*home-b .*gateway of the home \S*home-a, which has no record/);
  assert.equal(user.text(), written[0]);
});
