/** The data for a collector that fails is always bounded, and what cannot be sent is always counted. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startOtlpCollector, waitUntil } from "@toolcrib/testing";
import { openTo, succeed } from "./telemetry-harness.ts";

describe("a request that fails", () => {
  it("is repeated as it was, until the collector takes it", async () => {
    await using collector = await startOtlpCollector();
    const statuses = [503, 429, 502, 504, 200];
    collector.answer = (response) =>
      void response.writeHead(statuses[collector.requests.length - 1] ?? 200).end();
    await using telemetry = await openTo(collector, {}, { batchMaxCount: 1 });
    succeed(telemetry);
    await waitUntil(() => telemetry.status().signals[0]?.sent === 1);
    assert.equal(new Set(collector.requests.map(({ body }) => body.toString())).size, 1);
    assert.equal(collector.requests.length, 5);
  });

  it("is repeated a limited number of times, and its data is counted as lost", async () => {
    await using collector = await startOtlpCollector();
    collector.answer = (response) => void response.writeHead(503).end();
    await using telemetry = await openTo(collector, {}, { batchMaxCount: 1, attempts: 3 });
    succeed(telemetry);
    await waitUntil(() => telemetry.status().signals[0]?.dropped === 1);
    assert.equal(collector.requests.length, 3);
    const [{ pending, sent, reason } = { pending: 1, sent: 1, reason: "" }] = telemetry.status().signals;
    assert.deepEqual([pending, sent, reason], [0, 0, "HTTP status 503"]);
  });

  for (const status of [301, 302, 307, 308, 400, 401, 403, 404, 413, 500, 501]) {
    it(`is not repeated for status ${status}`, async () => {
      await using collector = await startOtlpCollector();
      collector.answer = (response) => void response.writeHead(status, { location: "/elsewhere" }).end();
      await using telemetry = await openTo(collector, {}, { batchMaxCount: 1 });
      succeed(telemetry);
      await waitUntil(() => telemetry.status().signals[0]?.dropped === 1);
      assert.equal(collector.requests.length, 1);
    });
  }

  it("waits no longer than the limit when the collector asks for a longer time", async () => {
    await using collector = await startOtlpCollector();
    collector.answer = (response) => {
      const isFirst = collector.requests.length === 1;
      response.writeHead(isFirst ? 429 : 200, { "retry-after": "999999999" }).end();
    };
    await using telemetry = await openTo(collector, {}, { batchMaxCount: 1, retryAfterMaxMs: 5 });
    succeed(telemetry);
    await waitUntil(() => telemetry.status().signals[0]?.sent === 1);
  });

  it("ends at its time limit, also when the answer does not end", async () => {
    await using collector = await startOtlpCollector();
    collector.answer = (response) => {
      if (collector.requests.length > 1) response.writeHead(200).write("x");
    };
    // As many attempts as a busy machine needs for an answer within the limit.
    const limits = { batchMaxCount: 1, requestTimeoutMs: 50, attempts: 1000, retryAfterMaxMs: 50 };
    await using telemetry = await openTo(collector, {}, limits);
    succeed(telemetry);
    await waitUntil(() => telemetry.status().signals[0]?.sent === 1);
    assert.ok(collector.requests.length >= 2);
  });
});

describe("a collector that takes a part", () => {
  const cases = [
    ["http/json", Buffer.from('{"partialSuccess":{"rejectedSpans":"2","errorMessage":"planted"}}'), 2],
    ["http/json", Buffer.from('{"partialSuccess":{"rejectedSpans":-5}}'), 0],
    ["http/json", Buffer.from('{"partialSuccess":{"rejectedSpans":1e300}}'), 0],
    ["http/json", Buffer.from("["), 0],
    ["http/json", Buffer.from("null"), 0],
    ["http/protobuf", Buffer.from([0x0a, 0x02, 0x08, 0x02]), 2],
    ["http/protobuf", Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]), 0],
    ["http/protobuf", Buffer.alloc(60_000, 0xff), 0],
    [
      "http/protobuf",
      Buffer.from([0x0a, 0x0b, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
      0,
    ],
  ] as const;
  for (const [at, [protocol, answer, rejected]] of cases.entries()) {
    it(`loses ${rejected} of 3 spans with answer ${at + 1} (${protocol})`, async () => {
      await using collector = await startOtlpCollector();
      collector.answer = (response) => void response.writeHead(200).end(answer);
      const telemetry = await openTo(collector, { protocol });
      for (let span = 0; span < 3; span += 1) succeed(telemetry);
      await telemetry[Symbol.asyncDispose]();
      const [signal] = telemetry.status().signals;
      assert.deepEqual([signal?.sent, signal?.dropped], [3 - rejected, rejected]);
      assert.ok(!JSON.stringify(telemetry.status()).includes("planted"));
    });
  }
});

describe("the queues", () => {
  it("have a limit each and one together, and what is sent frees them", async () => {
    await using collector = await startOtlpCollector();
    const limits = { signalMaxBytes: 10_000, totalMaxBytes: 13_000 };
    const signals = { traces: true, metrics: false, logs: true };
    const telemetry = await openTo(collector, { signals }, limits);
    const pending = () => telemetry.status().signals.map((one) => [one.signal, one.pending, one.dropped]);
    for (let span = 0; span < 8; span += 1) succeed(telemetry);
    assert.deepEqual(pending(), [
      ["traces", 5, 3],
      ["logs", 0, 0],
    ]);
    const line = (length: number) => `${JSON.stringify(recordOf("x".repeat(length - 400)))}\n`;
    telemetry.recorded?.(line(1000) + line(1000) + line(1000));
    // 10,000 bytes of spans leave room for one line, at two bytes a character.
    assert.deepEqual(pending(), [
      ["traces", 5, 3],
      ["logs", 1, 2],
    ]);
    await telemetry[Symbol.asyncDispose]();
    assert.deepEqual(
      telemetry.status().signals.map(({ sent, pending: left }) => [sent, left]),
      [
        [5, 0],
        [1, 0],
      ],
    );
    // After the end, everything is lost, and nothing is sent.
    succeed(telemetry);
    assert.equal(telemetry.status().signals[0]?.dropped, 4);
    assert.equal(collector.requests.length, 2);
  });

  it("send several batches one after the other", async () => {
    await using collector = await startOtlpCollector();
    let open = 0;
    let most = 0;
    collector.answer = (response) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        response.writeHead(200).end();
      }, 5);
    };
    const telemetry = await openTo(collector, {}, { batchMaxCount: 10 });
    for (let span = 0; span < 95; span += 1) succeed(telemetry);
    await telemetry[Symbol.asyncDispose]();
    assert.deepEqual([telemetry.status().signals[0]?.sent, most, collector.requests.length], [95, 1, 10]);
  });
});

function recordOf(text: string): object {
  return {
    specversion: "1.0",
    id: "run.1",
    source: "/toolcrib",
    type: "config.changed",
    time: "2026-11-26T00:00:00.000Z",
    writer: "001",
    sequence: "0000000000000001",
    previous: "0".repeat(64),
    data: { files: [text], digest: "sha256:0" },
  };
}
