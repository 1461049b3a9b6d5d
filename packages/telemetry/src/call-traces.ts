/**
 * Spans of calls. A call of a client is a span, with the client's span as its parent; inner calls are its children.
 * The relation is in `_meta`: each call gives its target a trace context that names its span, and an inner call
 * inherits `_meta` of the call that makes it. A server receives the same context.
 */

import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import {
  ParentBasedSampler,
  type ReadableSpan,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { JsonObject } from "@toolcrib/json";
import { type CallEnd, errorTypeOf, shown, spanNameOf, subjectOf } from "./call-facts.ts";
import type { CallMetrics } from "./call-metrics.ts";
import type { CallTrace, TracedCall } from "./call-trace.ts";
import { RandomIds } from "./random-ids.ts";
import { incomingTrace, metaWith } from "./trace-parent.ts";

/** Options of the tracer. */
export interface TracerOptions {
  readonly version: string;
  readonly resource: Resource;
  readonly sampleRatio: number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Called with each span that ended and was sampled. */
  readonly onEnd: (span: ReadableSpan) => void;
}

/** Creates a tracer that is not registered anywhere. */
export function createTracer(options: TracerOptions): Tracer {
  const { version, resource, sampleRatio, randomBytes, onEnd } = options;
  const provider = new TracerProvider({
    resource,
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    idGenerator: new RandomIds(randomBytes),
    spanProcessors: [{ onStart() {}, onEnd, async forceFlush() {}, async shutdown() {} }],
  });
  return provider.getTracer("toolcrib", version);
}

/** The receiver of the events of calls. */
export interface CallRecorders {
  /** undefined: no spans, and `_meta` stays as it is. */
  readonly tracer: Tracer | undefined;
  readonly metrics: CallMetrics | undefined;
  /** Milliseconds since the epoch, with fractions. */
  readonly clock: () => number;
  /** Called with the span of each call. */
  readonly onSpan: ((callId: string, span: Span) => void) | undefined;
}

/** The trace of one call. */
export class RecordedCall implements CallTrace {
  readonly #recorders: CallRecorders;
  readonly #call: TracedCall;
  readonly #span: Span | undefined;
  #facts: Attributes | undefined;

  constructor(recorders: CallRecorders, call: TracedCall) {
    this.#recorders = recorders;
    this.#call = call;
    this.#span = startSpan(recorders, call);
    if (this.#span !== undefined) recorders.onSpan?.(call.callId, this.#span);
  }

  metaOf(meta: JsonObject | undefined): JsonObject | undefined {
    return this.#span === undefined ? meta : metaWith(meta, this.#span.spanContext());
  }

  dispatched({ rule, containment, approval }: Parameters<CallTrace["dispatched"]>[0]): void {
    this.#recorders.metrics?.started(this.#call);
    if (this.#span?.isRecording() !== true) return;
    this.#facts = { "toolcrib.decision": "allow", "toolcrib.rule": shown(rule) };
    if (containment !== undefined) this.#facts["toolcrib.containment"] = containment;
    if (approval !== undefined) this.#facts["toolcrib.approval"] = approval;
  }

  denied({ decision, rule, code }: Parameters<CallTrace["denied"]>[0]): void {
    const end: CallEnd = { outcome: "denied", code };
    this.#recorders.metrics?.denied(this.#call, end);
    this.#facts = { "toolcrib.decision": decision };
    if (rule !== undefined) this.#facts["toolcrib.rule"] = shown(rule);
    this.#end(end);
  }

  finished({ outcome, code, durationMs, resultBytes }: Parameters<CallTrace["finished"]>[0]): void {
    const end: CallEnd = { outcome, code };
    this.#recorders.metrics?.finished(this.#call, end, durationMs / 1000);
    if (this.#facts !== undefined && resultBytes !== undefined)
      this.#facts["toolcrib.result_bytes"] = resultBytes;
    this.#end(end);
  }

  #end(end: CallEnd): void {
    const span = this.#span;
    if (span === undefined) return;
    if (span.isRecording()) {
      const errorType = errorTypeOf(end);
      span.setAttributes({ ...subjectOf(this.#call), ...this.#facts, "toolcrib.outcome": end.outcome });
      if (errorType !== undefined) {
        span.setAttribute("error.type", errorType);
        // Without a description: messages of errors can contain arguments and data of tools.
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
    }
    span.end(this.#recorders.clock());
  }
}

function startSpan({ tracer, clock }: CallRecorders, call: TracedCall): Span | undefined {
  if (tracer === undefined) return undefined;
  const { parent, linked } = incomingTrace(call.meta, call.http);
  const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
  const options = {
    kind: kindOf(call),
    startTime: clock(),
    ...(linked === undefined ? undefined : { links: [{ context: linked }] }),
  };
  return tracer.startSpan(spanNameOf(call), options, context);
}

/** A client's own call is served; an inner call of a server's tool is made; other inner calls leave nothing. */
function kindOf({ depth, isMcp }: TracedCall): SpanKind {
  if (depth === 0) return SpanKind.SERVER;
  return isMcp ? SpanKind.CLIENT : SpanKind.INTERNAL;
}
