/**
 * Metrics of calls, the same figures as those for Prometheus, by server and tool. Combinations of attributes beyond
 * the limit are counted together under `otel.metric.overflow` (OpenTelemetry specification, Cardinality limits).
 */

import type { Attributes, Counter, Histogram, UpDownCounter } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import { MeterProvider, MetricReader, type ResourceMetrics } from "@opentelemetry/sdk-metrics";
import { type CallEnd, errorTypeOf, operationOf, serverOf } from "./call-facts.ts";
import type { TracedCall } from "./call-trace.ts";
import type { SignalStatus } from "./telemetry-types.ts";

/** Bounds of durations in seconds, as the semantic conventions for MCP recommend them. */
const durationBounds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** A reader that collects when it is asked. It has no timer. */
class OnDemandReader extends MetricReader {
  protected async onForceFlush(): Promise<void> {}
  protected async onShutdown(): Promise<void> {}
}

/** Options of the metrics. */
export interface CallMetricsOptions {
  readonly version: string;
  readonly resource: Resource;
  /** Combinations of attributes of one metric. */
  readonly cardinality: number;
  /** Returns the numbers of each signal: sent, dropped and pending. */
  readonly status: () => readonly SignalStatus[];
}

/** Counts calls. */
export class CallMetrics {
  readonly #reader: OnDemandReader;
  readonly #provider: MeterProvider;
  readonly #operations: Histogram;
  readonly #durations: Histogram;
  readonly #calls: Counter;
  readonly #inFlight: UpDownCounter;
  #hasCounted = false;

  constructor({ version, resource, cardinality, status }: CallMetricsOptions) {
    // The SDK counts the attribute set for the overflow as one of the limit.
    this.#reader = new OnDemandReader({ cardinalitySelector: () => cardinality });
    this.#provider = new MeterProvider({ resource, readers: [this.#reader] });
    const meter = this.#provider.getMeter("toolcrib", version);
    const advice = { explicitBucketBoundaries: durationBounds };
    this.#operations = meter.createHistogram("mcp.server.operation.duration", {
      description: "Time from the start of a client's call to its end.",
      unit: "s",
      advice,
    });
    this.#durations = meter.createHistogram("toolcrib.call.duration", {
      description: "Time from the start of a call to its end, inner calls included.",
      unit: "s",
      advice,
    });
    this.#calls = meter.createCounter("toolcrib.calls", {
      description: "Calls by outcome, denied ones and inner calls included.",
      unit: "{call}",
    });
    this.#inFlight = meter.createUpDownCounter("toolcrib.calls.in_flight", {
      description: "Calls that are executed at the moment, inner calls included.",
      unit: "{call}",
    });
    const sent = meter.createObservableCounter("toolcrib.telemetry.sent", {
      description: "Spans, log records and exports of metrics that the collector accepted.",
      unit: "{item}",
    });
    const dropped = meter.createObservableCounter("toolcrib.telemetry.dropped", {
      description: "Spans, log records and exports of metrics that were discarded.",
      unit: "{item}",
    });
    meter.addBatchObservableCallback(
      (result) => {
        for (const one of status()) {
          result.observe(sent, one.sent, { "toolcrib.signal": one.signal });
          result.observe(dropped, one.dropped, { "toolcrib.signal": one.signal });
        }
      },
      [sent, dropped],
    );
  }

  /** Whether a call ended. */
  get hasCounted(): boolean {
    return this.#hasCounted;
  }

  /** Counts a call that is executed from now on. */
  started(call: TracedCall): void {
    this.#inFlight.add(1, toolOf(call));
  }

  finished(call: TracedCall, end: CallEnd, seconds: number): void {
    const tool = toolOf(call);
    this.#inFlight.add(-1, tool);
    this.#durations.record(seconds, tool);
    if (call.depth === 0) {
      const errorType = errorTypeOf(end);
      const attributes = operationOf(call);
      attributes["toolcrib.server"] = serverOf(call);
      if (errorType !== undefined) attributes["error.type"] = errorType;
      this.#operations.record(seconds, attributes);
    }
    this.#count(tool, end);
  }

  denied(call: TracedCall, end: CallEnd): void {
    this.#count(toolOf(call), end);
  }

  /** Returns the figures of this moment, since the start. */
  async collect(): Promise<ResourceMetrics> {
    return (await this.#reader.collect()).resourceMetrics;
  }

  close(): Promise<void> {
    return this.#provider.shutdown();
  }

  #count(tool: Attributes, end: CallEnd): void {
    this.#hasCounted = true;
    const errorType = errorTypeOf(end);
    this.#calls.add(1, {
      ...tool,
      "toolcrib.outcome": end.outcome,
      ...(errorType === undefined ? undefined : { "error.type": errorType }),
    });
  }
}

function toolOf(call: TracedCall): Attributes {
  const attributes = operationOf(call);
  attributes["toolcrib.server"] = serverOf(call);
  return attributes;
}
