/** Lines of the audit trail as log records of OpenTelemetry, with the span of the call that each is about. */

import type { SpanContext } from "@opentelemetry/api";
import type { JsonLogsSerializer } from "@opentelemetry/otlp-transformer";
import type { Resource } from "@opentelemetry/resources";
import type { AuditRecord } from "@toolcrib/store";
import { toLogRecord } from "./log-record.ts";

/** A log record before its encoding. */
export type ReadableLogRecord = Parameters<typeof JsonLogsSerializer.serializeRequest>[0][number];

/** The scope of the records. */
const instrumentationScope = { name: "toolcrib.audit" };

/** Calls whose spans are remembered for their records: more than are in flight and unwritten. */
const rememberedMaxCount = 10_000;

/** The spans of recent calls. */
export class RecentSpans {
  readonly #spans = new Map<string, SpanContext>();

  remember(callId: string, context: SpanContext): void {
    if (this.#spans.size >= rememberedMaxCount) this.#spans.delete(this.#spans.keys().next().value as string);
    this.#spans.set(callId, context);
  }

  of(callId: unknown): SpanContext | undefined {
    return typeof callId === "string" ? this.#spans.get(callId) : undefined;
  }
}

/** Translates lines that were written to the trail. */
export function toLogRecords(
  lines: readonly string[],
  resource: Resource,
  spans: RecentSpans,
): ReadableLogRecord[] {
  return lines.map((line) => {
    const record = JSON.parse(line) as AuditRecord;
    const { timeMs, body, attributes, ...rest } = toLogRecord(record);
    const seconds = Math.floor(timeMs / 1000);
    const hrTime: [number, number] = [seconds, (timeMs - seconds * 1000) * 1_000_000];
    const spanContext = spans.of(body["callId"]);
    return {
      ...rest,
      hrTime,
      hrTimeObserved: hrTime,
      body: body as ReadableLogRecord["body"],
      attributes,
      resource,
      instrumentationScope,
      droppedAttributesCount: 0,
      ...(spanContext === undefined ? undefined : { spanContext }),
    } as ReadableLogRecord;
  });
}
