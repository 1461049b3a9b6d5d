/** A governed call in the form for its trace: names and ids, without arguments, results and URIs of resources. */

import type { TextScrubber } from "@toolcrib/redaction";
import type { AuditCallSubject } from "@toolcrib/store";
import type { openTelemetry } from "@toolcrib/telemetry";
import type { CallOrigin, CallTarget } from "../call/call-target.ts";

/** The telemetry of a gateway. */
export type Telemetry = Awaited<ReturnType<typeof openTelemetry>>;

/** The trace of one call. */
export type CallTrace = ReturnType<Telemetry["begin"]>;

/** Begins the trace of a call. @param subject the call as records show it, without secrets */
export type TraceCall = (subject: AuditCallSubject, target: CallTarget, origin: CallOrigin) => CallTrace;

/** Returns the facts about a call. Names of servers can contain a secret that a server was given. */
export function toTracedCall(
  { callId, parentId, depth, client, tool, server }: AuditCallSubject,
  target: CallTarget,
  { session, meta, httpTrace }: CallOrigin,
  scrubber: TextScrubber,
): Parameters<Telemetry["begin"]>[0] {
  const { feature } = target.subject;
  // A client chooses the URI of a resource.
  const isResource = feature?.kind === "resources";
  return {
    callId,
    parentId,
    depth,
    method: target.method,
    name: isResource ? undefined : scrubber.text(feature?.name ?? target.shownName),
    tool: isResource ? undefined : tool,
    origin: target.origin,
    isMcp: target.subject.facts.backendKind === "mcp",
    server,
    client: client.name,
    sessionId: session?.id,
    meta,
    http: depth === 0 ? httpTrace : undefined,
  };
}
