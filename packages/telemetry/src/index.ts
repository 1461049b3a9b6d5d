/** Traces, metrics and audit records of a gateway, sent to an OpenTelemetry collector. */

// For other packages here. The types of settings, dependencies, calls and status follow from `openTelemetry`.
export { toLogRecord } from "./log-record.ts";
export { openTelemetry } from "./open-telemetry.ts";
