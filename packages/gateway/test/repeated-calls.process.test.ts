/** A call that ends its server is made again only where the operator's declarations say that this changes nothing. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { CodedError } from "@toolcrib/diagnostics";
import { waitUntil } from "@toolcrib/testing";
import { dataOf, echoStdio, somebody, startTestGateway } from "./gateway-harness.ts";

const cases = [
  { id: "trusted-reads", trust_state: "verified", mutability_class: "read_only", restarts: 2 },
  { id: "unknown", trust_state: "verified", mutability_class: "unknown", restarts: 1 },
  { id: "writes", trust_state: "certified", mutability_class: "write", restarts: 1 },
];

test("A call whose server ended is repeated once for trusted declarations alone, within one record of its intent", async () => {
  const servers = cases.map(({ id, trust_state, mutability_class }) => {
    return { ...echoStdio(id), trust_state, mutability_class };
  });
  await using gateway = await startTestGateway({ tool_servers: servers });
  for (const { id, restarts } of cases) {
    const outcome = await gateway.gateway.call(somebody, `${id}:crash`, { code: 5 });
    assert.equal(outcome.kind, "failed", id);
    if (outcome.kind === "failed") {
      assert.equal((outcome.error as CodedError).code, "UPSTREAM_CLOSED", `${id}: ${outcome.error.message}`);
      assert.match(outcome.error.message, /the call may have had an effect/);
    }
    // The server works again.
    await waitUntil(async () => {
      const echoed = await gateway.gateway.call(somebody, `${id}:echo`, { text: "next" });
      return echoed.kind === "result";
    });
    const status = gateway.gateway.status().servers.find((server) => server.id === id);
    assert.equal(status?.restarts, restarts, id);
  }
  await gateway.stop();
  const crashes = dataOf(gateway.audit(), "call.intent").filter(({ tool }) =>
    String(tool).endsWith(":crash"),
  );
  assert.equal(crashes.length, cases.length);
});
