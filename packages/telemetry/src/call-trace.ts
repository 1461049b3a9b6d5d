/** The trace of one call, as the code that executes calls sees it. Types only: nothing of OpenTelemetry is loaded. */

import type { JsonObject } from "@toolcrib/json";

/** A call that begins. No field contains arguments or a secret. */
export interface TracedCall {
  readonly callId: string;
  readonly parentId: string | undefined;
  /** 0 for a call by a client. */
  readonly depth: number;
  /** The method of MCP: `tools/call`, `resources/read`, … */
  readonly method: string;
  /** Name of the tool as its client sees it, or of the prompt at its server; undefined for resources, whose URIs are chosen by clients. */
  readonly name: string | undefined;
  /** Id of the tool or prompt in the audit trail. */
  readonly tool: string | undefined;
  readonly origin: string;
  /** Whether it is run by an MCP server, which the call is sent to. */
  readonly isMcp: boolean;
  /** Id of the configured source; undefined for tools that have none. */
  readonly server: string | undefined;
  /** Name of the client. */
  readonly client: string;
  readonly sessionId: string | undefined;
  /** `_meta` of the request, with the trace of the client if it sent one. */
  readonly meta: JsonObject | undefined;
  /** The trace in the headers of the HTTP request. */
  readonly http: TraceHeaders | undefined;
}

/** The W3C trace context of an HTTP request, unchecked. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/** Receives the events of one call, in order: `dispatched` and `finished`, or `denied`. */
export interface CallTrace {
  /** Returns `_meta` for the target: `meta` with a trace that names this call, or as it is where there are no spans. */
  metaOf(meta: JsonObject | undefined): JsonObject | undefined;
  /** The call is executed from now on. */
  dispatched(facts: {
    readonly rule: string;
    readonly containment: string | undefined;
    readonly approval: string | undefined;
  }): void;
  /** The call was refused. */
  denied(facts: {
    readonly decision: "deny" | "approve";
    readonly rule: string | undefined;
    readonly code: string;
  }): void;
  /** The call ended after it was dispatched. */
  finished(facts: {
    readonly outcome: "ok" | "tool_error" | "failed" | "cancelled";
    readonly code: string | undefined;
    readonly durationMs: number;
    readonly resultBytes?: number | undefined;
  }): void;
}
