/** A telemetry that sends to a collector of the test, and calls for it. */

import { randomBytes } from "node:crypto";
import { openTelemetry } from "@toolcrib/telemetry";
import type { OtlpCollector } from "@toolcrib/testing";

type Telemetry = Awaited<ReturnType<typeof openTelemetry>>;
type TracedCall = Parameters<Telemetry["begin"]>[0];
type Settings = Parameters<typeof openTelemetry>[0];
type Limits = NonNullable<Parameters<typeof openTelemetry>[2]>;

/** Everything that was logged. */
export const logged: { readonly fields: object; readonly message: string }[] = [];

/** Opens a telemetry; metrics are sent at the end only. */
export function openTo(
  { url }: Pick<OtlpCollector, "url">,
  settings: Partial<Settings> = {},
  limits: Limits = {},
): Promise<Telemetry> {
  const log = (fields: object, message: string) => void logged.push({ fields, message });
  return openTelemetry(
    {
      endpoint: url,
      protocol: "http/json",
      signals: { traces: true, metrics: false, logs: false },
      serviceName: "test",
      sampleRatio: 1,
      resourceAttributes: {},
      metricsIntervalMs: 3_600_000,
      ...settings,
    },
    {
      async post({ url: to, contentType, body, signal }) {
        const response = await fetch(to, {
          method: "POST",
          headers: { "content-type": contentType },
          body: Buffer.from(body),
          signal,
          redirect: "manual",
        });
        return {
          status: response.status,
          retryAfter: response.headers.get("retry-after") ?? undefined,
          body: (response.body ?? []) as AsyncIterable<Uint8Array>,
        };
      },
      logger: { debug: log, info: log, warn: log, error: log },
      now: Date.now,
      monotonicMs: () => performance.now(),
      random: () => 0.5,
      randomBytes,
      version: "1.2.3",
      instanceId: "instance",
    },
    { retryDelayMs: 1, ...limits },
  );
}

/** A call of a tool. */
export function callOf(more: Partial<TracedCall> = {}): TracedCall {
  return {
    callId: "call",
    parentId: undefined,
    depth: 0,
    method: "tools/call",
    name: "s__get",
    tool: "s:get",
    origin: "server",
    isMcp: true,
    server: "s",
    client: "web",
    sessionId: undefined,
    meta: undefined,
    http: undefined,
    ...more,
  };
}

/** Makes a call that succeeds. */
export function succeed(telemetry: Telemetry, more: Partial<TracedCall> = {}): void {
  const trace = telemetry.begin(callOf(more));
  trace.dispatched({ rule: "default", containment: undefined, approval: undefined });
  trace.finished({ outcome: "ok", code: undefined, durationMs: 3, resultBytes: 2 });
}
