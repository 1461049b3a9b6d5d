/** The headers for a collector with every secret in its place. Findings name the reference, never a value. */

import { ConfigError } from "./config-error.ts";
import type { TelemetryConfig } from "./config-types.ts";
import { quote } from "./display-source.ts";
import type { SecretResolver } from "./secret-resolver.ts";

/**
 * Resolves the headers of `telemetry.otlp`.
 *
 * @throws {ConfigError} `CONFIG_SECRET_…` for the first secret that cannot be read or sent.
 */
export async function resolveTelemetryHeaders(
  { headers }: Pick<TelemetryConfig, "headers">,
  resolver: SecretResolver,
): Promise<{ readonly [name: string]: string }> {
  const resolved: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    const field = `telemetry.otlp.headers.${name}`;
    let content = "text" in value ? value.text : "";
    if (value.kind === "secret") {
      // Paths are complete already.
      const resolution = await resolver.resolve(value.ref, "");
      if (resolution.kind === "failed") {
        const { code, message, hint } = resolution;
        throw new ConfigError(code, `${message} (${field})`, { hint });
      }
      content = `${value.prefix}${resolution.value}`;
    }
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(content)) {
      throw new ConfigError(
        "CONFIG_SECRET_UNUSABLE",
        `Cannot send header ${quote(name)} (${field}): its value contains a line break or another character that a header cannot carry`,
        { hint: "store the value in one line" },
      );
    }
    resolved.push([name, content]);
  }
  return Object.fromEntries(resolved);
}
