/** Settings, dependencies and status of the telemetry of one gateway. Types and limits only. */

import type { Logger } from "@toolcrib/diagnostics";

/** A kind of telemetry. Each has an address of its own at the collector. */
export type Signal = "traces" | "metrics" | "logs";

/** The data that is sent, and its receiver (`telemetry` of the configuration). */
export interface TelemetrySettings {
  /** The URL that `/v1/traces`, `/v1/metrics` and `/v1/logs` are appended to. It was checked. */
  readonly endpoint: string;
  readonly protocol: "http/protobuf" | "http/json";
  readonly signals: { readonly [Each in Signal]: boolean };
  readonly serviceName: string;
  /** Share of the traces without a sampled parent that are recorded, from 0 to 1. */
  readonly sampleRatio: number;
  readonly resourceAttributes: { readonly [name: string]: string };
  /** Milliseconds between two exports of metrics. */
  readonly metricsIntervalMs: number;
}

/** One POST to the collector. */
export interface OtlpRequest {
  readonly url: string;
  readonly contentType: string;
  readonly body: Uint8Array;
  /** Aborts when the request took too long. */
  readonly signal: AbortSignal;
}

/** The answer of the collector. The reader may leave `body` early, which closes the connection. */
export interface OtlpResponse {
  readonly status: number;
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Dependencies of the telemetry. */
export interface TelemetryDeps {
  /** Sends a request with the headers of the configuration. It follows no redirect. */
  readonly post: (request: OtlpRequest) => Promise<OtlpResponse>;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** A number from 0 to 1, for the time between two attempts. */
  readonly random: () => number;
  /** The version of this program. */
  readonly version: string;
  /** Unique for each run of a gateway. */
  readonly instanceId: string;
}

/** Limits of the telemetry. */
export interface TelemetryLimits {
  /** Bytes that wait to be sent, for one kind of telemetry. @default 8388608 */
  readonly signalMaxBytes: number;
  /** Bytes that wait to be sent, for all kinds together. @default 12582912 */
  readonly totalMaxBytes: number;
  /** Spans or records in one request. @default 256 */
  readonly batchMaxCount: number;
  /** Estimated bytes of one request. @default 1048576 */
  readonly batchMaxBytes: number;
  /** Milliseconds that spans and records are collected for a request. @default 5000 */
  readonly batchDelayMs: number;
  /** Milliseconds for one request with its response. @default 10000 */
  readonly requestTimeoutMs: number;
  /** Attempts for one request. @default 5 */
  readonly attempts: number;
  /** Milliseconds before the second attempt; each further one waits twice as long. @default 1000 */
  readonly retryDelayMs: number;
  /** Longest wait that a collector can ask for with `Retry-After`, in milliseconds. @default 60000 */
  readonly retryAfterMaxMs: number;
  /** Milliseconds to send the rest at shutdown, for all kinds together. @default 5000 */
  readonly drainMs: number;
  /** Combinations of attributes of one metric; further ones are counted together, as the OpenTelemetry specification says. @default 2000 */
  readonly cardinality: number;
}

export const defaultLimits: TelemetryLimits = {
  signalMaxBytes: 8 * 1024 * 1024,
  totalMaxBytes: 12 * 1024 * 1024,
  batchMaxCount: 256,
  batchMaxBytes: 1024 * 1024,
  batchDelayMs: 5000,
  requestTimeoutMs: 10_000,
  attempts: 5,
  retryDelayMs: 1000,
  retryAfterMaxMs: 60_000,
  drainMs: 5000,
  cardinality: 2000,
};

/** The state of one kind of telemetry. */
export interface SignalStatus {
  readonly signal: Signal;
  /** Spans, records or exports of metrics that the collector accepted. */
  readonly sent: number;
  /** Those that were discarded: the queue was full, or the collector refused them or did not answer. */
  readonly dropped: number;
  /** Those that wait. */
  readonly pending: number;
  /** RFC 3339 time of the last success. */
  readonly lastAt?: string;
  /** Why the last attempt failed; absent when it succeeded. */
  readonly reason?: string;
}

/** The state of the telemetry. */
export interface TelemetryStatus {
  readonly endpoint: string;
  readonly signals: readonly SignalStatus[];
}
