/** Traces, metrics and audit records of a gateway, sent to an OpenTelemetry collector. */

// For other packages here.
export type { CallTrace, TracedCall } from "./call-trace.ts";
export { toLogRecord } from "./log-record.ts";
export { openTelemetry, type Telemetry } from "./open-telemetry.ts";
export type { TelemetryDeps, TelemetrySettings, TelemetryStatus } from "./telemetry-types.ts";
