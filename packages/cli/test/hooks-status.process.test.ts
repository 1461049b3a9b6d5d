/** Hooks in the status: those that are configured, and the results of their questions; for the operator only. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { echoServer, runToolcrib, startServe } from "./transcript.ts";

test("status counts the questions to each hook, and what clients see has none of it", async () => {
  await using directory = await makeTemporaryDirectory();
  const server = createServer(async (request, response) => {
    const { arguments: args } = JSON.parse(await text(request)) as { arguments: { text: string } };
    response.setHeader("content-type", "application/json");
    if (args.text === "bad") response.end("no");
    else if (args.text === "deny") response.end('{"decision":"deny","message":"not this"}');
    else response.end('{"decision":"allow"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const before = [
      { name: "judge", tools: ["echo:*"], clients: ["cli"], url, timeout_seconds: 60 },
      { name: "other", tools: ["echo:env"], url },
    ];
    writeFileSync(
      directory.join("toolcrib.json"),
      JSON.stringify({
        tool_servers: [echoServer("echo")],
        serve: { listen: "127.0.0.1:0" },
        hooks: { before_call: before },
      }),
    );
    const run = (...args: readonly string[]) => runToolcrib(args, { directory: directory.path });
    await using gateway = await startServe([], { directory: directory.path });
    const linesOf = async () =>
      (await run("status")).stdout.split("\n").filter((line) => /^hook /.test(line));
    const unused = "hook other (before_call) about echo:env: not asked";
    assert.deepEqual(await linesOf(), ["hook judge (before_call) about echo:* of cli: not asked", unused]);
    assert.equal((await run("call", "echo:echo", "--arg", "text=x")).code, 0);
    assert.equal((await run("call", "echo:echo", "--arg", "text=deny")).code, 3);
    assert.equal((await run("call", "echo:echo", "--arg", "text=bad")).code, 3);
    const [line = "", second] = await linesOf();
    assert.match(
      line,
      /^hook judge \(before_call\) about echo:\* of cli: 3 asked, 1 denied, 0 replaced, 1 failed; the last one failed: /,
    );
    assert.equal(second, unused);
    // An answer is the end of the failure.
    assert.equal((await run("call", "echo:echo", "--arg", "text=x")).code, 0);
    assert.equal((await linesOf())[0], line.replace(/; the last.*$/, "").replace("3 asked", "4 asked"));
    const token = readFileSync(directory.join(".toolcrib/tokens/default"), "utf8").trim();
    const answer = await fetch(`${gateway.url}/api/v1/status`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(answer.status, 200);
    const status = await answer.text();
    assert.match(status, /"servers"/);
    assert.doesNotMatch(status, /"hooks"|before_call/);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
