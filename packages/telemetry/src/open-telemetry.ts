/**
 * The telemetry of one gateway. The libraries of OpenTelemetry are loaded here and nowhere else, so that a gateway
 * without telemetry does not pay for them.
 */

import type { CallTrace, TracedCall } from "./call-trace.ts";
import {
  defaultLimits,
  type TelemetryDeps,
  type TelemetryLimits,
  type TelemetrySettings,
  type TelemetryStatus,
} from "./telemetry-types.ts";

/** Records calls and sends what was recorded. Disposal sends the rest, for 5 s at most. */
export interface Telemetry extends AsyncDisposable {
  /** Begins the trace of a call. */
  begin(call: TracedCall): CallTrace;
  /** Sends lines of the audit trail; undefined where logs are off. @param text lines, each with its line feed */
  readonly recorded: ((text: string) => void) | undefined;
  status(): TelemetryStatus;
}

/** Opens the telemetry. Nothing is sent before there is something to send. */
export async function openTelemetry(
  settings: TelemetrySettings,
  deps: TelemetryDeps,
  limits: Partial<TelemetryLimits> = {},
): Promise<Telemetry> {
  const { ExportingTelemetry } = await import("./exporting-telemetry.ts");
  return new ExportingTelemetry(settings, deps, { ...defaultLimits, ...limits });
}
