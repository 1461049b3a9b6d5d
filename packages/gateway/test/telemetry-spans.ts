/** Readers of what a collector received from a gateway as OTLP JSON. */

import type { OtlpCollector } from "@toolcrib/testing";

/** A value of OTLP JSON. */
interface AnyValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}

type Attributes = readonly { readonly key: string; readonly value: AnyValue }[];

/** A span, with its attributes as an object. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly traceState?: string;
  readonly attributes: { readonly [name: string]: unknown };
  readonly resource: { readonly [name: string]: unknown };
}

/** A data point of a metric, with its attributes as an object. */
export interface ReceivedPoint {
  readonly attributes: { readonly [name: string]: unknown };
  readonly value: number;
  readonly count?: string | number;
  readonly bounds?: readonly number[];
  readonly buckets?: readonly number[];
}

export function spansOf(collector: OtlpCollector): ReceivedSpan[] {
  return groupsOf(
    collector,
    "/v1/traces",
    "resourceSpans",
    "scopeSpans",
    "spans",
  ) as unknown as ReceivedSpan[];
}

export function logsOf(collector: OtlpCollector): ReceivedLog[] {
  return groupsOf(
    collector,
    "/v1/logs",
    "resourceLogs",
    "scopeLogs",
    "logRecords",
  ) as unknown as ReceivedLog[];
}

/** A log record, with its attributes as an object. */
export interface ReceivedLog {
  readonly timeUnixNano: string;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly eventName: string;
  readonly body: object;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly attributes: { readonly [name: string]: unknown };
}

/** The points of the metric `name` in the last export. */
export function pointsOf(collector: OtlpCollector, name: string): ReceivedPoint[] {
  const metrics = groupsOf(collector, "/v1/metrics", "resourceMetrics", "scopeMetrics", "metrics").filter(
    (metric) => metric["name"] === name,
  );
  const { sum, histogram } = (metrics.at(-1) ?? {}) as {
    readonly sum?: { readonly dataPoints: readonly Point[] };
    readonly histogram?: { readonly dataPoints: readonly Point[] };
  };
  return (sum ?? histogram)?.dataPoints.map(toPoint) ?? [];
}

interface Point {
  readonly attributes: Attributes;
  readonly asInt?: number | string;
  readonly asDouble?: number;
  readonly sum?: number;
  readonly count?: number | string;
  readonly explicitBounds?: readonly number[];
  readonly bucketCounts?: readonly (number | string)[];
}

function toPoint({
  attributes,
  asInt,
  asDouble,
  sum,
  count,
  explicitBounds,
  bucketCounts,
}: Point): ReceivedPoint {
  return {
    attributes: toObject(attributes),
    value: Number(asInt ?? asDouble ?? sum),
    ...(count === undefined ? {} : { count }),
    ...(explicitBounds === undefined ? {} : { bounds: explicitBounds }),
    ...(bucketCounts === undefined ? {} : { buckets: bucketCounts.map(Number) }),
  };
}

interface Group {
  readonly [name: string]: unknown;
}

/** The items of all requests for `path`, each with the attributes of its resource. */
function groupsOf(
  collector: OtlpCollector,
  path: string,
  ...[outer, inner, items]: [string, string, string]
): Group[] {
  return collector.json(path).flatMap((body) =>
    (((body as Group)[outer] ?? []) as Group[]).flatMap((group) =>
      ((group[inner] ?? []) as Group[]).flatMap((scope) =>
        ((scope[items] ?? []) as Group[]).map((item) => ({
          ...item,
          attributes: toObject((item["attributes"] ?? []) as Attributes),
          resource: toObject((group["resource"] as { readonly attributes: Attributes }).attributes),
        })),
      ),
    ),
  );
}

function toObject(attributes: Attributes = []): { readonly [name: string]: unknown } {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? Number(value.intValue ?? value.doubleValue),
    ]),
  );
}
