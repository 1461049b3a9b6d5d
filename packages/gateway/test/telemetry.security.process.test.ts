/** Collectors that fail, hang or attack: calls are made as without them, and every loss is counted and shown. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { freePort, startOtlpCollector, waitUntil } from "@toolcrib/testing";
import { echoStdio, somebody, startTestGateway, type TestGateway } from "./gateway-harness.ts";

/** Starts a gateway whose spans alone are sent, and makes `count` calls. */
async function startCalling(
  endpoint: string,
  { calls, logs = false }: { readonly calls: number; readonly logs?: boolean },
): Promise<TestGateway> {
  const test = await startTestGateway({
    tool_servers: [echoStdio("echo")],
    telemetry: { otlp: { endpoint }, metrics: false, logs },
  });
  await call(test, calls);
  return test;
}

/** Makes `count` calls, 32 at a time. */
async function call({ gateway }: TestGateway, count: number): Promise<void> {
  let left = count;
  const one = async () => {
    while (left > 0) {
      left -= 1;
      const { kind } = await gateway.call(somebody, "echo:echo", { text: "x" });
      assert.equal(kind, "result");
    }
  };
  await Promise.all(Array.from({ length: 32 }, one));
}

function tracesOf({ gateway }: TestGateway) {
  return gateway.status().telemetry?.signals.find(({ signal }) => signal === "traces");
}

const warningsOf = ({ logger }: TestGateway) =>
  logger.records.filter(({ level, message }) => level === "warn" && message.includes("telemetry"));

describe("a collector", () => {
  it("that redirects is not followed, and its loss is in status, metrics and log", async () => {
    await using target = await startOtlpCollector();
    await using collector = await startOtlpCollector();
    collector.answer = (response, { path }) =>
      void response.writeHead(307, { location: `${target.url}${path}` }).end();
    // Two batches, so that the second loss is counted only.
    await using test = await startCalling(collector.url, { calls: 300 });
    await waitUntil(() => (tracesOf(test)?.dropped ?? 0) >= 256);
    const reason = "HTTP status 307: redirects are not followed";
    assert.equal(tracesOf(test)?.reason, reason);
    const metrics = await (await fetch(new URL("/metrics", await test.endpoint()))).text();
    const [, lost] = /toolcrib_telemetry_dropped_total\{signal="traces"\} (\d+)/.exec(metrics) ?? [];
    assert.ok(Number(lost) >= 256, metrics);
    await test.stop();
    assert.equal(tracesOf(test)?.dropped, 300);
    assert.deepEqual(target.requests, []);
    assert.deepEqual(
      warningsOf(test).map(({ fields }) => fields),
      [{ signal: "traces", reason }],
    );
  });

  it("that answers without end is left after some bytes", async () => {
    await using collector = await startOtlpCollector();
    let written = 0;
    let isLeft = false;
    collector.answer = (response) => {
      response.on("close", () => {
        isLeft = true;
      });
      const write = () => {
        if (isLeft || written > 256 * 1024 * 1024) return void response.end();
        written += 64 * 1024;
        if (response.write(Buffer.alloc(64 * 1024, 1))) setImmediate(write);
        else response.once("drain", write);
      };
      response.writeHead(200);
      write();
    };
    await using test = await startCalling(collector.url, { calls: 256 });
    await waitUntil(() => isLeft);
    assert.ok(written < 32 * 1024 * 1024, `${written}`);
    await waitUntil(() => tracesOf(test)?.sent === 256);
    await test.stop();
  });

  it("that refuses gets nothing twice", async () => {
    await using collector = await startOtlpCollector();
    collector.answer = (response) => void response.writeHead(400).end("<script>");
    await using test = await startCalling(collector.url, { calls: 10 });
    await test.stop();
    const bodies = new Set(collector.requests.map(({ body }) => body.toString("base64")));
    assert.equal(bodies.size, collector.requests.length);
    assert.deepEqual([tracesOf(test)?.dropped, tracesOf(test)?.reason], [10, "HTTP status 400"]);
    assert.ok(!JSON.stringify(test.logger.records).includes("<script>"));
  });

  it("that is absent, or never answers, delays the end of the gateway by a few seconds at most", async () => {
    await using silent = await startOtlpCollector();
    silent.answer = () => {};
    const port = await freePort();
    for (const endpoint of [`http://127.0.0.1:${port}`, silent.url]) {
      await using test = await startCalling(endpoint, { calls: 10, logs: true });
      // The time limit of the test is the one that would be exceeded.
      await test.stop();
      const status = test.gateway.status().telemetry;
      for (const { signal, sent, dropped, pending, reason } of status?.signals ?? []) {
        assert.deepEqual([sent, pending], [0, 0], signal);
        assert.ok(dropped >= 10 && reason !== undefined, signal);
      }
    }
  });

  it("that is full gets what it asked for later", async () => {
    await using collector = await startOtlpCollector();
    collector.answer = (response) => {
      if (collector.requests.length === 1) response.writeHead(429, { "retry-after": "1" }).end();
      else response.writeHead(200).end();
    };
    await using test = await startCalling(collector.url, { calls: 256 });
    await waitUntil(() => tracesOf(test)?.sent === 256);
    assert.deepEqual([tracesOf(test)?.dropped, tracesOf(test)?.reason], [0, undefined]);
    const [first, second] = collector.requests.map(({ body }) => body.toString("base64"));
    assert.equal(first, second);
    await test.stop();
  });
});

describe("clients", () => {
  it("see counts, and neither the address of the collector nor its failures", async () => {
    await using collector = await startOtlpCollector();
    collector.answer = (response) => void response.writeHead(404).end();
    await using test = await startTestGateway(
      {
        tool_servers: [echoStdio("echo")],
        telemetry: { otlp: { endpoint: `${collector.url}/planted-path` }, metrics: false },
      },
      { clients: ["web"] },
    );
    const client = await test.connect({ as: "web" });
    await client.callTool({ name: "echo__echo", arguments: { text: "x" } });
    const headers = client.transport as unknown as { _requestInit: { headers: { authorization: string } } };
    const status = await fetch(new URL("/api/v1/status", await test.endpoint()), {
      headers: { authorization: headers._requestInit.headers.authorization },
    });
    const { telemetry } = (await status.json()) as JsonObject;
    const { endpoint, signals } = telemetry as { endpoint: string; signals: readonly JsonObject[] };
    assert.equal(endpoint, "");
    assert.deepEqual(
      signals.map((one) => Object.keys(one)),
      [["signal", "sent", "dropped", "pending"]],
    );
    assert.equal(Number(signals[0]?.["dropped"]) + Number(signals[0]?.["pending"]), 1);
    await test.stop();
    assert.equal(tracesOf(test)?.dropped, 1);
    assert.equal(collector.requests[0]?.path, "/planted-path/v1/traces");
  });

  it("do not choose the queue: what does not fit is counted, and the rest is sent", async () => {
    await using collector = await startOtlpCollector();
    const answers: (() => void)[] = [];
    collector.answer = (response) => void answers.push(() => response.writeHead(200).end());
    await using test = await startCalling(collector.url, { calls: 500 });
    await call(test, 6000);
    const { pending = 0, dropped = 0 } = tracesOf(test) ?? {};
    assert.equal(pending + dropped, 6500);
    // 8 MiB at 2000 bytes a span.
    assert.equal(pending, 4194);
    collector.answer = (response) => void response.writeHead(200).end();
    for (const answer of answers) answer();
    await waitUntil(() => tracesOf(test)?.sent === 4194);
    await test.stop();
    assert.equal(tracesOf(test)?.sent, 4194);
  });
});
