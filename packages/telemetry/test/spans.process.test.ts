/** Spans, their parents and their encodings; figures with many attributes; records with broken text. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { toLogRecord } from "@toolcrib/telemetry";
import { type OtlpCollector, startOtlpCollector } from "@toolcrib/testing";
import { callOf, openTo, succeed } from "./telemetry-harness.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";
const valid = `00-${traceId}-${spanId}-01`;

/** The fields of a message in the wire format of Protocol Buffers, by number: bytes, or numbers. */
function fieldsOf(bytes: Buffer): Map<number, (Buffer | bigint)[]> {
  const fields = new Map<number, (Buffer | bigint)[]>();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] as number;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    let value: Buffer | bigint;
    if ((tag & 7) === 0) value = varint();
    else {
      const length = (tag & 7) === 2 ? Number(varint()) : (tag & 7) === 1 ? 8 : 4;
      value = bytes.subarray(at, at + length);
      at += length;
    }
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

const inside = (bytes: unknown, field: number) => fieldsOf(bytes as Buffer).get(field) ?? [];

describe("the parent of a span", () => {
  const cases: readonly (readonly [string, unknown, string | undefined])[] = [
    ["a context of version 00", valid, spanId],
    ["a context that is not sampled", `00-${traceId}-${spanId}-00`, spanId],
    ["a later version with more fields", `01-${traceId}-${spanId}-01-what`, spanId],
    ["version ff", `ff-${traceId}-${spanId}-01`, undefined],
    ["version 00 with more fields", `${valid}-what`, undefined],
    ["a trace id of zeros", `00-${"0".repeat(32)}-${spanId}-01`, undefined],
    ["a span id of zeros", `00-${traceId}-${"0".repeat(16)}-01`, undefined],
    ["upper case", valid.toUpperCase(), undefined],
    ["a number", 5, undefined],
    ["an object", { toString: "x" }, undefined],
    ["a long text", valid + "-x".repeat(1_000_000), undefined],
    ["nothing", undefined, undefined],
  ];
  for (const [what, traceparent, parent] of cases) {
    it(`is ${parent === undefined ? "none" : "the client's span"} for ${what}`, async () => {
      await using collector = await startOtlpCollector();
      await using telemetry = await openTo(collector);
      const meta = { traceparent, tracestate: "a=1", kept: true } as unknown as JsonObject;
      const sent = telemetry.begin(callOf({ meta })).metaOf(meta);
      const [, trace, span] =
        /^00-([0-9a-f]{32})-([0-9a-f]{16})-0[01]$/.exec(String(sent?.["traceparent"])) ?? [];
      assert.ok(trace !== undefined && span !== spanId, JSON.stringify(sent).slice(0, 300));
      assert.equal(trace === traceId, parent !== undefined);
      // A state without a context that can be read belongs to nothing.
      assert.equal(sent?.["tracestate"], parent === undefined ? undefined : "a=1");
      assert.equal(sent?.["kept"], true);
    });
  }

  it("is in what is sent, in both encodings", async () => {
    await using collector = await startOtlpCollector();
    for (const protocol of ["http/json", "http/protobuf"] as const) {
      const telemetry = await openTo(collector, { protocol, resourceAttributes: { a: "b" } });
      succeed(telemetry, { meta: { traceparent: valid }, name: "half \ud800" });
      await telemetry[Symbol.asyncDispose]();
    }
    const [json, protobuf] = collector.requests;
    assert.deepEqual(
      [json?.headers["content-type"], protobuf?.headers["content-type"]],
      ["application/json", "application/x-protobuf"],
    );
    const text = json?.body.toString() ?? "";
    assert.ok(text.isWellFormed() && !/\\ud8/i.test(text));
    const [span] = inside(inside(inside(protobuf?.body, 1)[0], 2)[0], 2);
    const [trace, , , parent, name, kind] = [1, 2, 3, 4, 5, 6].map((field) => inside(span, field)[0]);
    assert.deepEqual(
      [(trace as Buffer).toString("hex"), (parent as Buffer).toString("hex"), String(name), kind],
      [traceId, spanId, "tools/call half \ufffd", 2n],
    );
    const keys = inside(span, 9).map((attribute) => String(inside(attribute, 1)[0]));
    assert.ok(keys.includes("gen_ai.tool.name") && keys.includes("toolcrib.outcome"), keys.join());
  });
});

describe("metrics", () => {
  it("count what is beyond the limit of attributes together", async () => {
    await using collector = await startOtlpCollector();
    const signals = { traces: false, metrics: true, logs: false };
    const telemetry = await openTo(collector, { signals }, { cardinality: 10 });
    for (let tool = 0; tool < 50; tool += 1) succeed(telemetry, { name: `s__${tool}` });
    await telemetry[Symbol.asyncDispose]();
    const points = pointsOf(collector, "toolcrib.calls");
    assert.equal(points.length, 10);
    const overflow = points.filter(({ attributes }) =>
      attributes.some(({ key, value }) => key === "otel.metric.overflow" && value.boolValue === true),
    );
    assert.deepEqual([overflow.length, overflow[0]?.attributes.length], [1, 1]);
    assert.equal(
      points.reduce((sum, { asDouble, asInt }) => sum + Number(asInt ?? asDouble), 0),
      50,
    );
  });
});

interface Point {
  readonly attributes: readonly { readonly key: string; readonly value: { readonly boolValue?: boolean } }[];
  readonly asDouble?: number;
  readonly asInt?: number | string;
}

function pointsOf(collector: OtlpCollector, name: string): readonly Point[] {
  const [body] = collector.json("/v1/metrics") as readonly {
    readonly resourceMetrics: readonly {
      readonly scopeMetrics: readonly {
        readonly metrics: readonly {
          readonly name: string;
          readonly sum?: { readonly dataPoints: Point[] };
        }[];
      }[];
    }[];
  }[];
  const metrics = body?.resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? [];
  return metrics.find((metric) => metric.name === name)?.sum?.dataPoints ?? [];
}

describe("a record of the trail", () => {
  it("becomes well-formed text at any depth", () => {
    const record = {
      time: "2026-11-26T00:00:00.500Z",
      type: "call.denied",
      writer: "001",
      sequence: "0000000000000007",
      id: "r.7",
      source: "/toolcrib",
      data: {
        outcome: "denied",
        tool: "a\ud800",
        client: { name: "web" },
        preview: { "\udc00": ["\ud800"] },
      },
    } as unknown as Parameters<typeof toLogRecord>[0];
    const { timeMs, severityText, body, attributes } = toLogRecord(record);
    assert.deepEqual([timeMs, severityText], [1_795_651_200_500, "WARN"]);
    assert.deepEqual(
      [attributes["toolcrib.tool"], attributes["toolcrib.sequence"], attributes["toolcrib.client"]],
      ["a\ufffd", 7, "web"],
    );
    assert.deepEqual(body["preview"], { "\ufffd": ["\ufffd"] });
  });
});
