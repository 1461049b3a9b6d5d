/** Spans, metrics and audit records on their way to the collector: what is recorded, encoded and sent, and its end. */

import {
  JsonLogsSerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from "@opentelemetry/otlp-transformer";
import { defaultResource, type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { disposeOnce } from "@toolcrib/lifecycle";
import { RecentSpans, toLogRecords } from "./audit-logs.ts";
import { CallMetrics } from "./call-metrics.ts";
import type { CallTrace, TracedCall } from "./call-trace.ts";
import { type CallRecorders, createTracer, RecordedCall } from "./call-traces.ts";
import { ExportQueue, SharedBytes } from "./export-queue.ts";
import { MetricsPush } from "./metrics-push.ts";
import type { Telemetry } from "./open-telemetry.ts";
import { type SendOutcome, sendOtlp } from "./send-otlp.ts";
import { SignalState } from "./signal-state.ts";
import { SteadyClock } from "./steady-clock.ts";
import type {
  Signal,
  SignalStatus,
  TelemetryDeps,
  TelemetryLimits,
  TelemetrySettings,
  TelemetryStatus,
} from "./telemetry-types.ts";

const encodings = {
  "http/protobuf": {
    contentType: "application/x-protobuf",
    traces: ProtobufTraceSerializer,
    metrics: ProtobufMetricsSerializer,
    logs: ProtobufLogsSerializer,
  },
  "http/json": {
    contentType: "application/json",
    traces: JsonTraceSerializer,
    metrics: JsonMetricsSerializer,
    logs: JsonLogsSerializer,
  },
} as const;

/** Estimated bytes of a span in memory: of its attributes and of what they are kept in. */
const spanBytes = 2000;
/** Estimated bytes of a character of a line: most are kept in one byte, some in two. */
const characterBytes = 2;

/** A sender of one kind of telemetry. */
interface Sender {
  status(): SignalStatus;
  drain(late: AbortSignal): Promise<void>;
}

/** The telemetry of a gateway whose configuration has a section `telemetry`. */
export class ExportingTelemetry implements Telemetry {
  readonly recorded: Telemetry["recorded"];
  readonly #settings: TelemetrySettings;
  readonly #deps: TelemetryDeps;
  readonly #limits: TelemetryLimits;
  readonly #resource: Resource;
  readonly #senders: Sender[] = [];
  readonly #recorders: CallRecorders;
  readonly #metrics: CallMetrics | undefined;
  readonly #dispose = disposeOnce(() => this.#drain());

  constructor(settings: TelemetrySettings, deps: TelemetryDeps, limits: TelemetryLimits) {
    this.#settings = settings;
    this.#deps = deps;
    this.#limits = limits;
    this.#resource = toResource(settings, deps);
    const { signals } = settings;
    const shared = new SharedBytes(limits.totalMaxBytes);
    const recent = new RecentSpans();
    const clock = new SteadyClock(deps.now, deps.monotonicMs);
    const spans = signals.traces ? this.#openSpans(shared) : undefined;
    const logs = signals.logs ? this.#openLogs(shared, recent) : undefined;
    this.#metrics = signals.metrics ? this.#openMetrics() : undefined;
    const { version, randomBytes } = deps;
    this.#recorders = {
      tracer:
        spans === undefined
          ? undefined
          : createTracer({
              version,
              resource: this.#resource,
              sampleRatio: settings.sampleRatio,
              randomBytes,
              onEnd: (span) => spans.add(span, spanBytes),
            }),
      metrics: this.#metrics,
      clock: () => clock.now(),
      onSpan: signals.logs ? (callId, span) => recent.remember(callId, span.spanContext()) : undefined,
    };
    this.recorded =
      logs === undefined
        ? undefined
        : (text) => {
            for (const line of text.split("\n")) {
              if (line !== "") logs.add(line, line.length * characterBytes);
            }
          };
  }

  begin(call: TracedCall): CallTrace {
    return new RecordedCall(this.#recorders, call);
  }

  status(): TelemetryStatus {
    return {
      endpoint: this.#settings.endpoint,
      signals: this.#senders.map((sender) => sender.status()),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  #openSpans(shared: SharedBytes): ExportQueue<ReadableSpan> {
    const { traces } = encodings[this.#settings.protocol];
    return this.#openQueue("traces", shared, (spans: readonly ReadableSpan[], stopping) =>
      this.#post("traces", traces.serializeRequest([...spans]), stopping, (answer) => {
        return traces.deserializeResponse(answer).partialSuccess?.rejectedSpans;
      }),
    );
  }

  #openLogs(shared: SharedBytes, recent: RecentSpans): ExportQueue<string> {
    const { logs } = encodings[this.#settings.protocol];
    return this.#openQueue("logs", shared, (lines: readonly string[], stopping) =>
      this.#post(
        "logs",
        logs.serializeRequest(toLogRecords(lines, this.#resource, recent)),
        stopping,
        (answer) => logs.deserializeResponse(answer).partialSuccess?.rejectedLogRecords,
      ),
    );
  }

  #openQueue<Item>(
    signal: Signal,
    shared: SharedBytes,
    send: (items: readonly Item[], stopping: AbortSignal) => Promise<SendOutcome>,
  ): ExportQueue<Item> {
    const { random } = this.#deps;
    const state = new SignalState(signal, this.#deps);
    const queue = new ExportQueue<Item>({ send, state, shared, random }, this.#limits);
    this.#senders.push(queue);
    return queue;
  }

  #openMetrics(): CallMetrics {
    const { metrics: encoding } = encodings[this.#settings.protocol];
    const metrics = new CallMetrics({
      version: this.#deps.version,
      resource: this.#resource,
      cardinality: this.#limits.cardinality,
      status: () => this.#senders.map((sender) => sender.status()),
    });
    const push = async (stopping: AbortSignal) =>
      this.#post("metrics", encoding.serializeRequest(await metrics.collect()), stopping, (answer) => {
        return encoding.deserializeResponse(answer).partialSuccess?.rejectedDataPoints;
      });
    const state = new SignalState("metrics", this.#deps);
    const hasFigures = () => metrics.hasCounted;
    this.#senders.push(new MetricsPush(push, hasFigures, state, this.#settings.metricsIntervalMs));
    return metrics;
  }

  #post(
    signal: Signal,
    body: Uint8Array | undefined,
    stopping: AbortSignal,
    rejectedIn: (answer: Uint8Array) => number | undefined,
  ): Promise<SendOutcome> {
    const { protocol, endpoint } = this.#settings;
    const request = {
      url: signalUrl(endpoint, signal),
      contentType: encodings[protocol].contentType,
      body: body ?? new Uint8Array(),
      rejectedIn,
    };
    return sendOtlp(this.#deps, request, this.#limits.requestTimeoutMs, stopping);
  }

  async #drain(): Promise<void> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error("the gateway was stopped")), this.#limits.drainMs);
    try {
      await Promise.all(this.#senders.map((sender) => sender.drain(late.signal)));
      await this.#metrics?.close();
    } finally {
      clearTimeout(timer);
    }
  }
}

function toResource(
  { serviceName, resourceAttributes }: TelemetrySettings,
  { version, instanceId }: TelemetryDeps,
): Resource {
  return defaultResource().merge(
    resourceFromAttributes({
      ...resourceAttributes,
      "service.name": serviceName,
      "service.version": version,
      "service.instance.id": instanceId,
    }),
  );
}

/** The address of one kind of telemetry (OTLP/HTTP: `v1/…` is appended to the path). */
function signalUrl(endpoint: string, signal: Signal): string {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/${signal}`;
  return url.href;
}
