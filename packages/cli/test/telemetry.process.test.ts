/** Telemetry in the output of commands: its configuration, and the data that is not delivered. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, startOtlpCollector, waitUntil } from "@toolcrib/testing";
import { echoServer, runToolcrib, startServe } from "./transcript.ts";

const configOf = (endpoint: string, headers: object = {}) =>
  JSON.stringify({
    tool_servers: [echoServer("echo")],
    serve: { listen: "127.0.0.1:0" },
    telemetry: { otlp: { endpoint, headers } },
  });

test("doctor says where telemetry goes, or which secret is missing, and sends nothing", async () => {
  await using directory = await makeTemporaryDirectory();
  await using collector = await startOtlpCollector();
  const doctor = () => runToolcrib(["doctor"], { directory: directory.path });
  writeFileSync(directory.join("toolcrib.json"), configOf(collector.url));
  const well = await doctor();
  assert.equal(well.code, 0, well.stdout);
  assert.ok(well.stdout.includes(`telemetry: traces, metrics for ${collector.url}`), well.stdout);
  writeFileSync(
    directory.join("toolcrib.json"),
    configOf(collector.url, { "x-key": { secret_key_ref: { env: "OTLP_KEY" } } }),
  );
  const ill = await doctor();
  assert.notEqual(ill.code, 0);
  assert.match(ill.stdout, /telemetry: .*OTLP_KEY.*telemetry\.otlp\.headers\.x-key/);
  assert.deepEqual(collector.requests, []);
});

test("status and doctor show telemetry that the collector refuses, and calls of the command line are sent", async () => {
  await using directory = await makeTemporaryDirectory();
  await using collector = await startOtlpCollector();
  writeFileSync(directory.join("toolcrib.json"), configOf(collector.url));
  const run = (...args: readonly string[]) => runToolcrib(args, { directory: directory.path });
  // Without a running gateway, the command is one.
  assert.equal((await run("call", "echo:echo", "--arg", "text=x")).code, 0);
  assert.deepEqual(collector.requests.map(({ path }) => path).sort(), ["/v1/metrics", "/v1/traces"]);
  collector.answer = (response) => void response.writeHead(403).end();
  await using _gateway = await startServe([], { directory: directory.path });
  assert.equal((await run("call", "echo:echo", "--arg", "text=x")).code, 0);
  // The call of a tool through call_tool: two spans.
  await waitUntil(() => collector.requests.length > 2);
  const status = await run("status");
  assert.match(status.stdout, /not delivered traces: HTTP status 403 \(2 lost\)/, status.stdout);
  assert.match((await run("doctor")).stdout, /telemetry: traces are not delivered: HTTP status 403, 2 lost/);
});
