/**
 * A record of the audit trail as an OpenTelemetry log record. `toolcrib audit export` and the telemetry of
 * a gateway use the same translation. Pure.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import type { AuditClient, AuditRecord } from "@toolcrib/store";

/** A log record before its encoding. All texts are well-formed Unicode. */
export interface LogRecord {
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
  /** 9 (INFO), or 13 (WARN) for a call that failed or was denied. */
  readonly severityNumber: 9 | 13;
  readonly severityText: "INFO" | "WARN";
  readonly eventName: string;
  readonly body: JsonObject;
  readonly attributes: { readonly [name: string]: string | number };
}

/** Translates `record`. */
export function toLogRecord({ time, type, writer, sequence, id, source, ...record }: AuditRecord): LogRecord {
  const data = record.data as unknown as JsonObject;
  const { outcome } = data;
  const isProblem = outcome !== undefined && outcome !== "ok";
  const client = data["client"] as unknown as AuditClient | undefined;
  const attributes = {
    "cloudevents.event_id": id,
    "cloudevents.event_source": source,
    "cloudevents.event_type": type,
    "toolcrib.writer": writer,
    "toolcrib.sequence": Number(sequence),
    "toolcrib.call_id": data["callId"],
    "toolcrib.parent_id": data["parentId"],
    "toolcrib.tool": data["tool"],
    "toolcrib.server": data["server"],
    "toolcrib.client": client?.name,
    "toolcrib.outcome": outcome,
  };
  return {
    timeMs: Date.parse(time),
    severityNumber: isProblem ? 13 : 9,
    severityText: isProblem ? "WARN" : "INFO",
    eventName: type.toWellFormed(),
    body: wellFormed(data) as JsonObject,
    attributes: Object.fromEntries(
      Object.entries(attributes).flatMap<readonly [string, string | number]>(([name, value]) => {
        if (typeof value === "number") return [[name, value]];
        return typeof value === "string" ? [[name, value.toWellFormed()]] : [];
      }),
    ),
  };
}

/** Replaces halves of surrogate pairs, which no encoding of OpenTelemetry allows. */
function wellFormed(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map((item) => wellFormed(item) as JsonValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name.toWellFormed(), wellFormed(one) as JsonValue]),
  );
}
