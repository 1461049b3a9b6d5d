import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { startStdioServer } from "@toolcrib/mcp";
import { waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { initializeOf } from "./demo-http.ts";
import { createDemoService } from "./demo-service.ts";

test("A legacy session notifies its listeners of changed roots until they unsubscribe", async () => {
  const service = createDemoService();
  const input = new PassThrough();
  const output = new PassThrough();
  let written = "";
  output.on("data", (bytes) => {
    written += bytes;
  });
  await using _server = startStdioServer(
    service,
    { input, output },
    { view: "", identity: localIdentity("stdio", "local"), sessionId: "s" },
  );
  const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const changed = { method: "notifications/roots/list_changed" };
  send(changed);
  send(initializeOf("2025-11-25"));
  await waitUntil(() => service.sessions.size === 1);
  const [session] = service.sessions;
  let heardCount = 0;
  const unsubscribe = session?.onRootsChanged?.(() => {
    heardCount += 1;
  });
  send(changed);
  send({ method: "notifications/initialized" });
  await waitUntil(() => heardCount === 1);
  unsubscribe?.();
  send(changed);
  send({ id: 2, method: "ping" });
  await waitUntil(() => written.includes('"id":2'));
  assert.equal(heardCount, 1);
});
