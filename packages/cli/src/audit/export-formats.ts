/**
 * The formats of `toolcrib audit export`. Pure. Records contain foreign text, so no line of any format
 * contains a control, bidirectional or invisible character, and no cell of a table is a formula.
 */

import { type AuditClient, type AuditRecord, clientIdentityOf, escapeUnsafe } from "@toolcrib/store";
import { toLogRecord } from "@toolcrib/telemetry";
import { version } from "../version.ts";
import type { ExportFormat } from "./export-format-names.ts";

/** A record, and its line as it is stored. */
interface TrailLine {
  readonly record: AuditRecord;
  readonly line: string;
}

/** A format: the text before the first record, and the text of a portion of records. */
export interface ExportWriter {
  readonly header: string;
  readonly lines: (portion: readonly TrailLine[]) => string;
}

/** The record as it is stored. A line that somebody edited can contain controls between its values. */
function jsonLine({ record, line }: TrailLine): string {
  return escapeUnsafe(/[\u0000-\u001f]/.test(line) ? JSON.stringify(record) : line);
}

/** The data of any record. */
interface AnyData {
  readonly [name: string]: unknown;
}

const dataOf = ({ record }: TrailLine) => record.data as unknown as AnyData;

/** Columns with fields of `data`. The fields that have no column are in `details`. */
const dataColumns = {
  call: "callId",
  parent: "parentId",
  depth: "depth",
  tool: "tool",
  origin: "origin",
  server: "server",
  outcome: "outcome",
  decision: "decision",
  rule: "rule",
  code: "code",
  reason: "reason",
  approval: "approval",
  containment: "containment",
  duration_ms: "durationMs",
  result_bytes: "resultBytes",
  arguments_digest: "argumentsDigest",
  preview: "preview",
} as const;

const fieldsWithColumn: ReadonlySet<string> = new Set([...Object.values(dataColumns), "client"]);

function columnNames(): readonly string[] {
  return [
    ...["time", "type", "writer", "sequence", "id", "client", "issuer", "subject"],
    ...Object.keys(dataColumns),
    "details",
  ];
}

/** The formats by name. */
export const exportWriters: { readonly [Format in ExportFormat]: ExportWriter } = {
  jsonl: { header: "", lines: (portion) => portion.map((one) => `${jsonLine(one)}\n`).join("") },
  csv: {
    header: `${columnNames().join(",")}\r\n`,
    lines: (portion) => portion.map((one) => `${csvLine(one)}\r\n`).join(""),
  },
  "otlp-json": { header: "", lines: (portion) => (portion.length === 0 ? "" : `${otlpLine(portion)}\n`) },
};

function csvLine(one: TrailLine): string {
  const { time, type, writer, sequence, id } = one.record;
  const data = dataOf(one);
  const client = data["client"] as AuditClient | undefined;
  const identity = clientIdentityOf(client);
  const details = Object.fromEntries(Object.entries(data).filter(([name]) => !fieldsWithColumn.has(name)));
  return [
    ...[time, type, writer, Number(sequence), id, client?.name, identity?.issuer, identity?.subject],
    ...Object.values(dataColumns).map((field) => data[field]),
    Object.keys(details).length === 0 ? undefined : details,
  ]
    .map(toCell)
    .join(",");
}

/** Characters that make a spreadsheet calculate a cell, also in their full width. White space before them is ignored. */
const formulaStart = /^\s*[=+\-@\uff0b\uff0d\uff1d\uff20]|^[\t\r]/u;

function toCell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const cell = escapeUnsafe(formulaStart.test(text) ? `'${text}` : text);
  return /[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** One line of the OTLP file format: the logs of one resource. */
function otlpLine(portion: readonly TrailLine[]): string {
  const logs = {
    resourceLogs: [
      {
        resource: { attributes: toAttributes({ "service.name": "toolcrib", "service.version": version }) },
        scopeLogs: [{ scope: { name: "toolcrib.audit" }, logRecords: portion.map(toOtlp) }],
      },
    ],
  };
  return escapeUnsafe(JSON.stringify(logs));
}

function toOtlp({ record }: TrailLine): object {
  const { timeMs, body, attributes, ...rest } = toLogRecord(record);
  const at = `${timeMs}000000`;
  return {
    timeUnixNano: at,
    observedTimeUnixNano: at,
    ...rest,
    body: toAnyValue(body),
    attributes: toAttributes(attributes),
  };
}

function toAttributes(fields: AnyData): readonly object[] {
  return Object.entries(fields).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toAnyValue(value) }],
  );
}

/** A value in the JSON form of OTLP. A 64-bit integer is a text there. */
function toAnyValue(value: unknown): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toAnyValue) } };
  if (typeof value === "object" && value !== null)
    return { kvlistValue: { values: toAttributes(value as AnyData) } };
  return {};
}
