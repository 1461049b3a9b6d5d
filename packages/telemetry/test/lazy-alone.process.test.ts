/** The libraries of OpenTelemetry are loaded by the first telemetry that is opened, and not before. */

import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { it } from "node:test";

it("a gateway that is imported loads nothing of OpenTelemetry", async () => {
  const loaded: string[] = [];
  const hooks = registerHooks({
    load(url, context, next) {
      if (url.includes("opentelemetry")) loaded.push(url);
      return next(url, context);
    },
  });
  const { openTelemetry } = await import("@toolcrib/telemetry");
  assert.deepEqual(loaded, []);
  const { openTo } = await import("./telemetry-harness.ts");
  assert.deepEqual(loaded, []);
  assert.equal(typeof openTelemetry, "function");
  await using _telemetry = await openTo({ url: "http://127.0.0.1:9" });
  assert.ok(loaded.length > 10);
  hooks.deregister();
});
