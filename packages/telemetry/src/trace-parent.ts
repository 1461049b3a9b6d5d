/**
 * The W3C trace context of a request: read from `_meta` of an MCP request, or else from the headers of its HTTP
 * request, and written to `_meta` for the server. Pure.
 */

import { type SpanContext, TraceFlags } from "@opentelemetry/api";
import { parseTraceParent, TraceState } from "@opentelemetry/core";
import type { JsonObject } from "@toolcrib/json";
import type { TraceHeaders } from "./call-trace.ts";

/** Longest `tracestate` that is read (W3C Trace Context, Tracestate Limits). */
const tracestateMaxLength = 512;

/** The contexts of a request. */
export interface IncomingTrace {
  /** The parent of the call; undefined for a call that begins a trace. */
  readonly parent: SpanContext | undefined;
  /** The span of the HTTP request, where `_meta` names another parent. */
  readonly linked: SpanContext | undefined;
}

/** Returns the contexts of a request. What is not valid does not exist. */
export function incomingTrace(meta: JsonObject | undefined, http: TraceHeaders | undefined): IncomingTrace {
  const own = contextOf(meta?.["traceparent"], meta?.["tracestate"]);
  const ofHttp = http === undefined ? undefined : contextOf(http.traceparent, http.tracestate);
  if (own === undefined) return { parent: ofHttp, linked: undefined };
  return { parent: own, linked: ofHttp?.spanId === own.spanId ? undefined : ofHttp };
}

function contextOf(traceparent: unknown, tracestate: unknown): SpanContext | undefined {
  // The longest form of version 00 has 55 characters; a later version can append more.
  if (typeof traceparent !== "string" || traceparent.length > 200) return undefined;
  const parsed = parseTraceParent(traceparent);
  if (parsed === null) return undefined;
  const isRead = typeof tracestate === "string" && tracestate.length <= tracestateMaxLength;
  const traceState = isRead ? new TraceState(tracestate) : undefined;
  const hasState = traceState !== undefined && traceState.serialize() !== "";
  return { ...parsed, isRemote: true, ...(hasState ? { traceState } : {}) };
}

/** Returns `meta` with `context` in place of the trace that it contains. */
export function metaWith(
  meta: JsonObject | undefined,
  { traceId, spanId, traceFlags, traceState }: SpanContext,
): JsonObject {
  const { traceparent: _parent, tracestate: _state, ...rest } = meta ?? {};
  const flags = (traceFlags & TraceFlags.SAMPLED) === 0 ? "00" : "01";
  const state = traceState?.serialize() ?? "";
  return {
    ...rest,
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(state === "" ? undefined : { tracestate: state }),
  };
}
