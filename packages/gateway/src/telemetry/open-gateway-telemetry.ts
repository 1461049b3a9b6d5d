/**
 * Connects a gateway with its telemetry: the collector's address, headers and certificates from the configuration, the
 * secrets in them, and the connections. Only where the configuration has a section `telemetry`.
 */

import { promisify } from "node:util";
import { type GatewayConfig, resolveTelemetryConnection, SecretResolver } from "@toolcrib/config";
import { readRegularFile } from "@toolcrib/files";
import { createHttpClient } from "@toolcrib/mcp";
import type { SecretScrubber } from "@toolcrib/redaction";
import { openTelemetry } from "@toolcrib/telemetry";
import { type Telemetry, type TraceCall, toTracedCall } from "./traced-call.ts";

type TelemetryConfig = NonNullable<GatewayConfig["telemetry"]>;
type TelemetryDeps = Parameters<typeof openTelemetry>[1];

/** Dependencies of the telemetry of a gateway. */
export interface GatewayTelemetryDeps extends Omit<TelemetryDeps, "post"> {
  readonly home: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly scrubber: SecretScrubber;
  /** Options of the connections. */
  readonly network: Parameters<typeof createHttpClient>[0];
}

/** The telemetry of a gateway. */
export interface GatewayTelemetry {
  readonly trace: TraceCall;
  readonly recorded: Telemetry["recorded"];
  readonly status: Telemetry["status"];
}

/** Milliseconds for which headers and certificates are used before their secrets are read again. */
const headersMaxMs = 300_000;

/** Opens the telemetry that `config` describes; `undefined` where nothing is sent. `opening` disposes of it. */
export async function openGatewayTelemetry(
  config: TelemetryConfig | undefined,
  deps: GatewayTelemetryDeps,
  opening: AsyncDisposableStack,
): Promise<GatewayTelemetry | undefined> {
  if (config === undefined) return undefined;
  const { env, scrubber, logger } = deps;
  // The one variable of OpenTelemetry that is read: it can only stop the sending.
  if (env["OTEL_SDK_DISABLED"]?.trim().toLowerCase() === "true") {
    logger.info({ variable: "OTEL_SDK_DISABLED" }, "telemetry is off");
    return undefined;
  }
  const client = createHttpClient(deps.network);
  opening.defer(() => client.destroy());
  const post = createPost(config, deps, client);
  const telemetry = opening.use(await openTelemetry(config, { ...deps, post }));
  return {
    trace: (subject, target, origin) => telemetry.begin(toTracedCall(subject, target, origin, scrubber)),
    recorded: telemetry.recorded,
    status: () => telemetry.status(),
  };
}

type HttpClient = ReturnType<typeof createHttpClient>;

/** The connections to the collector, and the headers of its requests. */
interface Prepared {
  readonly headers: { readonly [name: string]: string };
  /** The certificates of the connections. */
  readonly network: string;
  readonly connections: ReturnType<HttpClient["connect"]>;
}

function createPost(
  config: TelemetryConfig,
  { home, env, scrubber, now, version }: GatewayTelemetryDeps,
  client: HttpClient,
): TelemetryDeps["post"] {
  const secrets = new SecretResolver({ env, readFile: readRegularFile, home });
  let kept: Prepared | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  const prepare = async (): Promise<Prepared> => {
    if (kept !== undefined && now() - readAt < headersMaxMs) return kept;
    try {
      const { headers, network } = await resolveTelemetryConnection(config, secrets);
      const text = JSON.stringify(network);
      const previous = kept;
      const isSame = previous?.network === text;
      kept = { headers, network: text, connections: isSame ? previous.connections : client.connect(network) };
      readAt = now();
      // Requests on the previous connections fail, and are sent again.
      if (!isSame) void previous?.connections.close();
      return kept;
    } finally {
      for (const value of secrets.values()) scrubber.learn("telemetry", value);
    }
  };
  return async ({ url, contentType, body, signal }) => {
    const { origin, pathname } = new URL(url);
    const { headers: own, connections } = await prepare();
    const isCompressed = config.compression === "gzip";
    const {
      statusCode,
      headers,
      body: answer,
    } = await connections.calls.request({
      origin,
      path: pathname,
      method: "POST",
      headers: {
        ...own,
        "content-type": contentType,
        ...(isCompressed ? { "content-encoding": "gzip" } : {}),
        "user-agent": `toolcrib/${version}`,
      },
      body: isCompressed ? await promisify(process.getBuiltinModule("node:zlib").gzip)(body) : body,
      signal,
    });
    // The secret can have been replaced.
    if (statusCode === 401 || statusCode === 403) readAt = Number.NEGATIVE_INFINITY;
    const retryAfter = headers["retry-after"];
    return {
      status: statusCode,
      retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
      body: answer,
    };
  };
}
