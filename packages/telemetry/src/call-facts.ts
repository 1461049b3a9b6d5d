/**
 * The attributes of calls in spans and metrics. Names without `toolcrib.` are those of the semantic conventions for
 * MCP and for generative AI (open-telemetry/semantic-conventions-genai, revision 0393513c). Pure.
 *
 * No attribute contains arguments, results, URIs of resources or messages of errors.
 */

import { hash } from "node:crypto";
import type { Attributes } from "@opentelemetry/api";
import type { TracedCall } from "./call-trace.ts";

/** The outcome of a call. */
export interface CallEnd {
  readonly outcome: "ok" | "tool_error" | "failed" | "cancelled" | "denied";
  readonly code: string | undefined;
}

/** Longest text of an attribute. */
const textMaxLength = 300;

/** The class of an error: the code of Toolcrib, `tool_error` for a tool that reported one; undefined for a success. */
export function errorTypeOf({ outcome, code }: CallEnd): string | undefined {
  if (outcome === "ok") return undefined;
  if (code === undefined) return outcome === "tool_error" ? "tool_error" : "_OTHER";
  return /^[A-Z][A-Z0-9_]{0,99}$/.test(code) ? code : "_OTHER";
}

/** `tools/call NAME`; only `resources/read` for resources, whose URIs are chosen by clients. */
export function spanNameOf({ method, name }: TracedCall): string {
  return name === undefined ? method : `${method} ${shown(name)}`;
}

/** The attributes that name the operation: their values are bounded by the tools and prompts of the gateway. */
export function operationOf({ method, name }: TracedCall): Attributes {
  const attributes: Attributes = { "mcp.method.name": method };
  if (method === "tools/call") {
    attributes["gen_ai.operation.name"] = "execute_tool";
    if (name !== undefined) attributes["gen_ai.tool.name"] = shown(name);
  } else if (name !== undefined) attributes["gen_ai.prompt.name"] = shown(name);
  return attributes;
}

/** The server of a call as in the metrics for Prometheus: the configured source, or the origin of a tool without one. */
export function serverOf({ server, origin }: TracedCall): string {
  return server ?? origin;
}

/** The attributes of a span that are known when the call begins. */
export function subjectOf(call: TracedCall): Attributes {
  const { callId, parentId, depth, tool, origin, server, client, sessionId } = call;
  const attributes: Attributes = operationOf(call);
  attributes["toolcrib.call_id"] = callId;
  attributes["toolcrib.depth"] = depth;
  attributes["toolcrib.origin"] = origin;
  attributes["toolcrib.client"] = shown(client);
  if (parentId !== undefined) attributes["toolcrib.parent_id"] = parentId;
  if (tool !== undefined) attributes["toolcrib.tool"] = shown(tool);
  if (server !== undefined) attributes["toolcrib.server"] = server;
  if (sessionId !== undefined) attributes["mcp.session.id"] = sessionDigest(sessionId);
  return attributes;
}

/** The id of a session is part of what opens it, so that its digest is sent in its place. */
function sessionDigest(sessionId: string): string {
  return hash("sha256", sessionId, "hex").slice(0, 32);
}

/** Returns well-formed text of limited length. */
export function shown(text: string): string {
  const short = text.length <= textMaxLength ? text : `${text.slice(0, textMaxLength)}…`;
  return short.toWellFormed();
}
