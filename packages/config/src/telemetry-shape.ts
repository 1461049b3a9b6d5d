/**
 * The section `telemetry`: which telemetry of calls is sent to an OpenTelemetry collector, and where. Its URL is
 * checked like those of servers, and its headers refer to secrets like theirs.
 */

import {
  choice,
  type DocumentNode,
  decimal,
  dictionary,
  fieldOf,
  flag,
  integer,
  invalid,
  type Place,
  record,
  reportAt,
  reportAtMap,
  text,
  type ValueOf,
} from "@toolcrib/document";
import { looksLikeCredential } from "@toolcrib/redaction";
import type { ConfigText, TelemetryConfig } from "./config-types.ts";
import { quote } from "./display-source.ts";
import { toCompletePath } from "./egress-shape.ts";
import { lintServerUrl } from "./server-url.ts";
import { inspectVariables, reportInline } from "./text-shape.ts";
import {
  certificateFields,
  headersShape,
  inspectClientCertificate,
  urlContainsCredential,
} from "./transport-shape.ts";

/** Attributes that Toolcrib sets. */
const ownAttributes: ReadonlySet<string> = new Set([
  "service.name",
  "service.version",
  "service.instance.id",
]);

const defaults = { metricsIntervalSeconds: 60, serviceName: "toolcrib" } as const;

const otlpShape = record({
  description: "The collector. It receives OTLP over HTTP.",
  name: "TelemetryOtlp",
  fields: {
    endpoint: {
      required: text({
        description:
          "The base URL; /v1/traces, /v1/metrics and /v1/logs are appended. https; http to this machine only, unless allow_http. No user name or password, no credential.",
        maxLength: 4096,
        examples: ["http://127.0.0.1:4318", "https://otlp.example.com"],
        inspect(value, node, place) {
          inspectVariables(value, node, place);
          if (!urlContainsCredential(value)) return;
          const hint = "send it in a header: headers: { Authorization: { secret_key_ref: NAME } }";
          reportInline(node, place, "telemetry.otlp.endpoint contains a possible secret", hint);
        },
      }),
      missing: {
        code: "CONFIG_URL_REQUIRED",
        message: "telemetry.otlp.endpoint required",
        hint: "add endpoint: with the URL of the collector, such as http://127.0.0.1:4318",
      },
    },
    protocol: choice({
      description: "Encoding of what is sent.",
      values: ["http/protobuf", "http/json"],
      aliases: {
        protobuf: "http/protobuf",
        proto: "http/protobuf",
        "http/proto": "http/protobuf",
        json: "http/json",
      },
      default: "http/protobuf",
    }),
    compression: choice({
      description: "Compression of what is sent.",
      values: ["none", "gzip"],
      aliases: { gz: "gzip", off: "none" },
      default: "none",
    }),
    headers: headersShape,
    ...certificateFields,
    allow_http: flag("Whether endpoint may be plain http to another machine.", { default: false }),
  },
  hints: {
    url: "did you mean endpoint?",
    traces_endpoint: "write one endpoint: /v1/traces is appended to it",
    insecure: "write endpoint: http://…, and allow_http: true for another machine",
    token: "write headers: { Authorization: { secret_key_ref: NAME } }",
    certificate: "did you mean ca_file?",
    ca_files: "did you mean ca_file?",
    client_cert: "did you mean client_certificate?",
    timeout: "remove it: a request has 10 seconds",
  },
  inspect: inspectOtlp,
});

function inspectOtlp(
  value: {
    readonly endpoint?: string | undefined;
    readonly allow_http?: boolean | undefined;
    readonly client_certificate?: ConfigText | undefined;
    readonly client_key?: ConfigText | undefined;
  },
  node: DocumentNode,
  place: Place,
): void {
  inspectClientCertificate(value, node, place);
  const endpointNode = fieldOf(node, "endpoint");
  if (value.endpoint === undefined || endpointNode === undefined) return;
  const at = { ...place, path: `${place.path}.endpoint` };
  const endpoint = value.endpoint.trim();
  const problem = lintServerUrl(endpoint, value.allow_http === true, at.path);
  if (problem !== undefined) {
    reportAt(endpointNode, at, problem);
    return;
  }
  const { pathname, search, hash } = new URL(endpoint);
  const signal = /\/v1\/(?:traces|metrics|logs)\/*$/.exec(pathname)?.[0];
  if (signal !== undefined) {
    const message = `${quote(at.path)} must be the base URL, but ends in ${quote(signal)}`;
    invalid(endpointNode, at, message, "remove that: Toolcrib appends it for each kind of telemetry");
  } else if ((search !== "" || hash !== "") && !urlContainsCredential(endpoint)) {
    invalid(
      endpointNode,
      at,
      `${quote(at.path)} cannot have a query or a fragment`,
      "remove the text from the ? or # on",
    );
  }
}

export const telemetryShape = record({
  description:
    "Telemetry of calls for an OpenTelemetry collector. Without this section, nothing is sent. Spans and metrics never contain arguments or results.",
  fields: {
    otlp: {
      required: otlpShape,
      missing: {
        code: "CONFIG_URL_REQUIRED",
        message: "telemetry.otlp required",
        hint: "write otlp: { endpoint: http://127.0.0.1:4318 }; environment variables name no collector",
      },
    },
    traces: flag("Whether each call is a span.", { default: true }),
    metrics: flag("Whether calls are counted and their durations measured.", { default: true }),
    logs: flag(
      "Whether records of the audit trail are sent. They contain arguments of calls as the trail shows them.",
      { default: false },
    ),
    service_name: text({
      description: "service.name of everything that is sent.",
      maxLength: 256,
      default: defaults.serviceName,
      examples: ["toolcrib-ci"],
    }),
    sample_ratio: decimal({
      description:
        "Share of traces that are sent. It decides about traces that begin here; a trace of a client is sent if the client sampled it. Default: 1.",
      minimum: 0,
      maximum: 1,
    }),
    resource_attributes: dictionary(
      text({
        description: "The value; never a credential.",
        maxLength: 1024,
        inspect(value, node, place) {
          inspectVariables(value, node, place);
          if (!looksLikeCredential(value)) return;
          const hint = "remove it: attributes are sent with everything, and shown to everybody who reads it";
          reportInline(node, place, `attribute ${quote(place.key)} contains a possible secret`, hint);
        },
      }),
      {
        description: "Attributes of everything that is sent.",
        maxEntries: 64,
        key: {
          source: "[A-Za-z][A-Za-z0-9_.-]{0,127}",
          meaning: "letters, digits and _ . -, such as deployment.environment.name",
        },
        inspect(_value, node, place) {
          for (const { key, keySpan } of node.kind === "map" ? node.entries : []) {
            if (!ownAttributes.has(key)) continue;
            place.reporter.report({
              code: "CONFIG_INVALID_VALUE",
              message: `${quote(key)} cannot be declared in ${quote(place.path)}: Toolcrib sets it`,
              hint: key === "service.name" ? "write telemetry.service_name" : "remove it",
              span: keySpan,
              path: place.path,
            });
          }
        },
      },
    ),
    metrics_interval_seconds: integer({
      description: "Seconds between two exports of metrics.",
      minimum: 1,
      maximum: 3600,
      default: defaults.metricsIntervalSeconds,
    }),
  },
  hints: {
    enabled: "remove it: the section turns telemetry on",
    endpoint: "write it below otlp: otlp: { endpoint: … }",
    headers: "write them below otlp: otlp: { headers: … }",
    spans: "did you mean traces?",
    sampling: "did you mean sample_ratio?",
    attributes: "did you mean resource_attributes?",
  },
  inspect(value, node, place) {
    if (value.traces !== false || value.metrics !== false || value.logs === true) return;
    reportAtMap(node, place, {
      code: "CONFIG_INVALID_VALUE",
      message: `${quote(place.path)} sends nothing: traces, metrics and logs are off`,
      hint: "turn one on, or remove the section",
    });
  },
});

/** `telemetry` as written. */
type TelemetryDocument = ValueOf<typeof telemetryShape>;

/** Returns `document` with complete paths of certificates and secrets. */
export function withCompleteTelemetryPaths(
  document: TelemetryDocument | undefined,
  fileName: string,
): TelemetryDocument | undefined {
  if (document === undefined) return document;
  const { headers, ca_file, client_certificate, client_key } = document.otlp;
  const completed = Object.entries(headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), withCompletePath(value, fileName)] as const,
  );
  const otlp = {
    ...document.otlp,
    ...(headers === undefined ? undefined : { headers: Object.fromEntries(completed) }),
    ...(ca_file === undefined ? undefined : { ca_file: toCompletePath(ca_file, fileName) }),
    ...(client_certificate === undefined
      ? undefined
      : { client_certificate: withCompletePath(client_certificate, fileName) }),
    ...(client_key === undefined ? undefined : { client_key: withCompletePath(client_key, fileName) }),
  };
  return { ...document, otlp };
}

function withCompletePath(value: ConfigText, fileName: string): ConfigText {
  if (value.kind !== "secret" || value.ref.kind !== "file") return value;
  return { ...value, ref: { kind: "file", path: toCompletePath(value.ref.path, fileName) } };
}

/** Translates `telemetry` and fills in its defaults. */
export function toTelemetryConfig(document: TelemetryDocument | undefined): TelemetryConfig | undefined {
  if (document === undefined) return undefined;
  const { otlp, traces, metrics, logs } = document;
  return {
    endpoint: otlp.endpoint.trim(),
    protocol: otlp.protocol ?? "http/protobuf",
    compression: otlp.compression ?? "none",
    headers: otlp.headers ?? {},
    ...(otlp.ca_file === undefined ? undefined : { caFile: otlp.ca_file }),
    ...(otlp.client_certificate === undefined ? undefined : { clientCertificate: otlp.client_certificate }),
    ...(otlp.client_key === undefined ? undefined : { clientKey: otlp.client_key }),
    signals: { traces: traces ?? true, metrics: metrics ?? true, logs: logs ?? false },
    serviceName: document.service_name ?? defaults.serviceName,
    sampleRatio: document.sample_ratio ?? 1,
    resourceAttributes: document.resource_attributes ?? {},
    metricsIntervalMs: (document.metrics_interval_seconds ?? defaults.metricsIntervalSeconds) * 1000,
  };
}
