/** Servers that hang, flood, crash, list malformed definitions or send large lines do not fail calls to other servers. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fixtureCommand, hostileStdioPath, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { echoStdio, startTestGateway, textOf } from "./gateway-harness.ts";

const behaviours = ["malformed", "hang", "flood", "large", "crash"];

test("calls to healthy servers succeed next to hostile ones, which the status names", async () => {
  const hostile = behaviours.map((id) => ({
    id,
    transport: { kind: "stdio", ...fixtureCommand(hostileStdioPath, id) },
    trust_state: "certified",
  }));
  const healthy = ["a", "b", "c"];
  await using running = await startTestGateway(
    { tool_servers: [...hostile, ...healthy.map((id) => echoStdio(id))] },
    { upstreamLimits: { silentAfterMs: 100, messageMaxBytes: 1024 * 1024 } },
  );
  const { gateway } = running;
  const bad = localIdentity("token", "bad");
  const abort = new AbortController();
  const options = { signal: abort.signal };
  const attacks = [
    ...Array.from({ length: 300 }, () => gateway.call(bad, "hang:act", {}, options)),
    ...Array.from({ length: 4 }, () => gateway.call(bad, "large:large", { bytes: 4 * 1024 * 1024 }, options)),
  ];
  const calls = Array.from({ length: 300 }, async (_, at) => {
    const client = localIdentity("token", `client ${at % 32}`);
    const outcome = await gateway.call(client, `${healthy[at % 3]}:echo`, { text: String(at) });
    assert.equal(outcome.kind === "result" && textOf(outcome.result), String(at));
  });
  await Promise.all(calls);
  const servers = () => new Map(gateway.status().servers.map(({ id, health }) => [id, health]));
  await waitUntil(() => servers().get("large")?.state === "quarantined");
  await waitUntil(() => /has answered no call/.test(servers().get("hang")?.reason ?? ""));
  await waitUntil(() => servers().get("crash")?.reason !== undefined);
  await waitUntil(() => /sends more messages than can be read/.test(servers().get("flood")?.reason ?? ""));
  assert.match(servers().get("malformed")?.reason ?? "", /^50 of its tools are quarantined$/);
  assert.equal(gateway.status().servers.find(({ id }) => id === "malformed")?.tools, 0);
  // A server that floods is read slowly, and still answers.
  const slow = await gateway.call(bad, "flood:act", {});
  assert.equal(slow.kind === "result" && textOf(slow.result), "done");
  assert.ok(gateway.status().quarantined.filter(({ id }) => id.startsWith("malformed:")).length >= 1);
  abort.abort();
  await Promise.all(attacks);
});
