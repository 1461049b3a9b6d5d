/**
 * The headers and certificates for a collector with every secret in its place. Findings name the reference, never a
 * value.
 */

import { readCertificateFile } from "@toolcrib/files";
import type { NetworkSettings } from "@toolcrib/mcp";
import { ConfigError } from "./config-error.ts";
import type { ConfigText, TelemetryConfig } from "./config-types.ts";
import { quote } from "./display-source.ts";
import type { SecretResolver } from "./secret-resolver.ts";

/** Headers and certificates of requests to the collector. */
export interface TelemetryConnection {
  readonly headers: { readonly [name: string]: string };
  readonly network: NetworkSettings;
}

/**
 * Resolves the headers and certificates of `telemetry.otlp`.
 *
 * @throws {ConfigError} `CONFIG_SECRET_…` for the first secret that cannot be read or sent, `CONFIG_CA_FILE_INVALID`.
 */
export async function resolveTelemetryConnection(
  config: Pick<TelemetryConfig, "headers" | "caFile" | "clientCertificate" | "clientKey">,
  resolver: SecretResolver,
): Promise<TelemetryConnection> {
  const resolved: [string, string][] = [];
  for (const [name, value] of Object.entries(config.headers)) {
    const field = `telemetry.otlp.headers.${name}`;
    const content = await contentOf(value, field, resolver);
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(content)) {
      throw new ConfigError(
        "CONFIG_SECRET_UNUSABLE",
        `Cannot send header ${quote(name)} (${field}): its value contains a line break or another character that a header cannot carry`,
        { hint: "store the value in one line" },
      );
    }
    resolved.push([name, content]);
  }
  return { headers: Object.fromEntries(resolved), network: await networkOf(config, resolver) };
}

async function networkOf(
  {
    caFile,
    clientCertificate,
    clientKey,
  }: Pick<TelemetryConfig, "caFile" | "clientCertificate" | "clientKey">,
  resolver: SecretResolver,
): Promise<NetworkSettings> {
  const network: { -readonly [K in keyof NetworkSettings]: NetworkSettings[K] } = {};
  if (caFile !== undefined) {
    const file = await readCertificateFile(caFile);
    if (file.kind !== "read") {
      const message = `Cannot use telemetry.otlp.ca_file ${quote(caFile)}: ${file.reason}`;
      throw new ConfigError("CONFIG_CA_FILE_INVALID", message, { hint: "name a PEM file" });
    }
    network.ca = file.pem;
  }
  if (clientCertificate !== undefined && clientKey !== undefined) {
    network.clientCertificate = {
      certificate: await contentOf(clientCertificate, "telemetry.otlp.client_certificate", resolver),
      key: await contentOf(clientKey, "telemetry.otlp.client_key", resolver),
    };
  }
  return network;
}

/** @param field the place in the configuration, for errors */
async function contentOf(value: ConfigText, field: string, resolver: SecretResolver): Promise<string> {
  if (value.kind !== "secret") return "text" in value ? value.text : "";
  // Paths are complete already.
  const resolution = await resolver.resolve(value.ref, "");
  if (resolution.kind === "failed") {
    const { code, message, hint } = resolution;
    throw new ConfigError(code, `${message} (${field})`, { hint });
  }
  return `${value.prefix}${resolution.value}`;
}
