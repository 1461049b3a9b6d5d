/** Checks the telemetry of a configuration, and its state in the running gateway. Sends nothing. */

import { type GatewayConfig, resolveTelemetryConnection, SecretResolver } from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import type { GatewayStatus } from "@toolcrib/gateway";
import type { CliContext } from "../cli-context.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { type Finding, failed, ok, warning } from "./check.ts";

/** Checks `telemetry` of a configuration from this terminal. */
export async function checkTelemetry(
  { env, options }: CliContext,
  telemetry: GatewayConfig["telemetry"],
): Promise<Finding[]> {
  if (telemetry === undefined) return [];
  if (env["OTEL_SDK_DISABLED"]?.trim().toLowerCase() === "true")
    return [
      warning(
        "telemetry",
        "OTEL_SDK_DISABLED is true here: nothing is sent",
        "unset it in the environment of the gateway",
      ),
    ];
  const secrets = new SecretResolver({ env, readFile: readRegularFile, home: options.home });
  try {
    await resolveTelemetryConnection(telemetry, secrets);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return [failed("telemetry", error.message, error.hint)];
  }
  const kinds = Object.entries(telemetry.signals).flatMap(([kind, isOn]) => (isOn ? [kind] : []));
  return [ok("telemetry", `${kinds.join(", ")} for ${safeLine(telemetry.endpoint)}`)];
}

/** The state of each kind of telemetry in the running gateway. */
export function telemetryFindings({ signals }: NonNullable<GatewayStatus["telemetry"]>): Finding[] {
  return signals.map(({ signal, sent, dropped, reason }) => {
    const lost = dropped === 0 ? "" : `, ${dropped} lost`;
    if (reason === undefined)
      return ok("telemetry", `${safeLine(signal)}: ${counted(sent, "item")} sent${lost}`);
    return warning(
      "telemetry",
      `${safeLine(signal)} are not delivered: ${safeLine(reason)}${lost}`,
      "calls are not affected; check telemetry.otlp and the collector",
    );
  });
}
