/** Messages of a server over a limit: the call fails at once, others continue, and repetition ends in quarantine. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { hostileStdioPath, waitUntil } from "@toolcrib/testing";
import type { UpstreamLimits } from "@toolcrib/upstream";
import { createCall, failureOf, nodeStdio, startSource } from "./source-harness.ts";

const mib = 1024 * 1024;

function start(limits: UpstreamLimits = {}) {
  const transport = nodeStdio(hostileStdioPath, ["large"]);
  return startSource({ transport, limits: { quarantineAfter: 100, ...limits } });
}

test("an answer over the limit fails its call only, wherever its id is, within the limit of memory", async () => {
  await using source = await start({ messageMaxBytes: 8 * mib });
  let peak = 0;
  const before = process.memoryUsage().arrayBuffers;
  const watching = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
  }, 1);
  for (const isIdFirst of [true, false]) {
    const other = source.text("well", { ms: 50 });
    const error = await failureOf(source.call("large", { bytes: 100 * mib, isIdFirst }));
    assert.equal(error.code, "MCP_MESSAGE_TOO_LARGE");
    assert.match(error.message, /may have had an effect/);
    assert.equal(await other, "done");
  }
  clearInterval(watching);
  assert.equal(source.server.facts().restarts, 0);
  assert.ok(peak < 80 * mib, `${Math.round(peak / mib)} MiB`);
});

test("an answer that nests too deeply fails its call only", async () => {
  await using source = await start();
  const other = source.text("well", { ms: 50 });
  const error = await failureOf(source.call("deep", { levels: 5000 }));
  assert.equal(error.code, "MCP_MESSAGE_TOO_DEEP");
  assert.equal(await other, "done");
});

test("a line without an end fails its call and ends the connection, and the next call succeeds", async () => {
  await using source = await start({ messageMaxBytes: mib });
  const other = failureOf(source.call("well", { ms: 60_000 }));
  const error = await failureOf(source.call("endless"));
  assert.equal(error.code, "MCP_MESSAGE_TOO_LARGE");
  assert.equal((await other).code, "MCP_MESSAGE_TOO_LARGE");
  assert.equal(await source.text("well"), "done");
  assert.equal(source.server.facts().restarts, 1);
});

test("a server that repeats it is quarantined until it is released", async () => {
  await using source = await start({ messageMaxBytes: mib, quarantineAfter: 3 });
  const { server } = source;
  assert.equal(server.release(), false);
  for (let count = 0; count < 3; count += 1) {
    const error = await failureOf(source.call("large", { bytes: 2 * mib }));
    assert.equal(error.code, "MCP_MESSAGE_TOO_LARGE");
  }
  const { state, reason } = server.health();
  assert.deepEqual([state, /^3 messages broke a limit/.test(reason ?? "")], ["quarantined", true]);
  await waitUntil(() => server.facts().pid === undefined);
  const refused = await failureOf(source.call("well", {}, createCall()));
  assert.equal(refused.code, "UPSTREAM_QUARANTINED");
  assert.equal(server.tools().length, 4);
  assert.equal(server.release(), true);
  assert.equal(await source.text("well"), "done");
  assert.equal(server.health().state, "ready");
});
