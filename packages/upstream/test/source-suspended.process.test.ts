/** A server that is quarantined while it is being listed: it is stopped at once, and used again after its release. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findProcessesByEnvironment, makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { createSource, never, textOf } from "./source-harness.ts";

/** A server that sends a line over the limit, and no list, unless a file exists. */
const script = `
  const { existsSync } = require("node:fs");
  const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize")
      send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "f", version: "1" } } });
    else if (method === "tools/list" && existsSync(process.argv[1]))
      send({ id, result: { tools: [{ name: "act", inputSchema: { type: "object" } }] } });
    else if (method === "tools/list") send({ method: "notifications/message", params: { level: "info", data: "x".repeat(2000000) } });
    else if (id !== undefined) send({ id, result: { content: [{ type: "text", text: "done" }] } });
  });
  // It does not end with its standard input.
  process.on("SIGTERM", () => process.exit());
  setInterval(() => {}, 60_000);
`;

for (const isReleasedAtOnce of [false, true]) {
  const when = isReleasedAtOnce ? "while it is stopped" : "after it has stopped";
  test(`a server is stopped when it is quarantined while it is listed, and used when it is released ${when}`, async () => {
    await using folder = await makeTemporaryDirectory();
    const file = join(folder.path, "is-good");
    await using source = createSource({
      transport: { kind: "stdio", command: process.execPath, args: ["-e", script, file], env: {} },
      limits: { messageMaxBytes: 1_000_000, quarantineAfter: 1, listTimeoutMs: 3_600_000 },
    });
    const started = source.server.start(never);
    const { server, marker } = source;
    await waitUntil(() => server.health().state === "quarantined");
    writeFileSync(file, "");
    // The quarantine ends the attempt in the next turn.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    if (!isReleasedAtOnce) {
      await waitUntil(() => findProcessesByEnvironment(marker).length === 0);
      await started;
      assert.equal(server.health().state, "quarantined");
    }
    assert.ok(server.release());
    await waitUntil(() => server.health().state === "ready");
    assert.equal(textOf(await source.call("act")), "done");
    const events = source.records.map(({ event }) => event);
    assert.ok(!events.includes("server is not available"), events.join(", "));
  });
}
