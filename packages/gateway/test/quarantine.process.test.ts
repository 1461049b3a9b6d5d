/** A server that repeatedly breaks a limit is quarantined, shown, recorded, and released by the operator only. */

import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { fixtureCommand, hostileStdioPath, waitUntil } from "@toolcrib/testing";
import { dataOf, echoStdio, somebody, startTestGateway } from "./gateway-harness.ts";

const mib = 1024 * 1024;

/** Sends POST and returns the status and the body. */
function post(options: { readonly socketPath: string } | { readonly port: string }, path: string) {
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const sent = request({ ...options, path, method: "POST", agent: false }, async (response) => {
      let body = "";
      for await (const chunk of response) body += String(chunk);
      resolve({ status: response.statusCode, body });
    });
    sent.once("error", reject).end();
  });
}

test("a quarantined server is named by the status and the audit, and the operator releases it", async () => {
  await using running = await startTestGateway({
    tool_servers: [
      {
        id: "bad",
        transport: { kind: "stdio", ...fixtureCommand(hostileStdioPath, "large") },
        trust_state: "certified",
      },
      echoStdio("good"),
    ],
    serve: { limits: { result_max_bytes: mib } },
  });
  const { gateway } = running;
  const call = async (name: string, args = {}) => {
    const outcome = await gateway.call(somebody, name, args);
    return outcome.kind === "failed" ? (outcome.error as { readonly code?: string }).code : outcome.kind;
  };
  for (let count = 0; count < 3; count += 1) {
    assert.equal(await call("bad:large", { bytes: 9 * mib }), "MCP_MESSAGE_TOO_LARGE");
  }
  assert.equal(await call("bad:well"), "UPSTREAM_QUARANTINED");
  assert.equal(await call("good:echo", { text: "x" }), "result");
  const status = gateway.status();
  assert.equal(status.servers[0]?.health.state, "quarantined");
  assert.equal(status.quarantined[0]?.id, "bad:*");
  assert.match(status.quarantined[0]?.reason ?? "", /3 messages broke a limit/);

  const path = "/api/v1/servers/bad/release";
  const { port } = await running.endpoint();
  const refused = await post({ port }, path);
  assert.deepEqual([refused.status, /HTTP_ROLE_REQUIRED/.test(refused.body)], [403, true]);
  assert.equal(await call("bad:well"), "UPSTREAM_QUARANTINED");
  const { path: socketPath } = await gateway.listenControl();
  const released = await post({ socketPath }, path);
  assert.deepEqual(released, { status: 200, body: '{"id":"bad","released":true}' });
  await waitUntil(() => gateway.status().servers[0]?.health.state === "ready");
  assert.equal(await call("bad:well"), "result");
  assert.deepEqual(gateway.status().quarantined, []);

  await running.stop();
  const [finding] = dataOf(running.audit(), "server.quarantined");
  assert.deepEqual([finding?.server, finding?.code], ["bad", "UPSTREAM_QUARANTINED"]);
});
