/** Types of the echo server's tools and calls, and small constructors. */

import type { EchoServer } from "./echo-server.ts";
import type { JsonObject, JsonRpcId } from "./json-rpc.ts";

/** The interface of a call to its tool. */
export interface EchoCall {
  readonly id: JsonRpcId;
  /** The original parameters of the request, including `_meta`. */
  readonly params: JsonObject;
  readonly server: EchoServer;
  /** The HTTP headers of the request; undefined on stdio. */
  readonly headers: { readonly [name: string]: string | string[] | undefined } | undefined;
  /** Aborts when the client cancels the call or the connection closes; a cancelled call is not answered. */
  readonly signal: AbortSignal;
  /** Sends progress if the client sent a token. */
  progress(progress: number, total: number, message: string): void;
  /** Sends a log message if the client enabled its level. */
  log(level: string, data: unknown): void;
  /** Sends a request to the client, or (2026-07-28) returns an input-required result. */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
  /** Sends a response now, in addition to the one that the tool returns. */
  respond(id: JsonRpcId, result: JsonObject): void;
  /** Writes text in place of a message. */
  writeText(text: string): void;
  /** Breaks the connection or the response stream of the call. */
  breakOff(): void;
  /** Drops the session of the call, so that its next request gets 404 (HTTP). */
  expireSession(): void;
}

export interface EchoTool {
  readonly definition: JsonObject & { readonly name: string };
  /** Returns the result of `tools/call`, synchronously if possible, because a promise costs a turn of the event loop. */
  call(given: JsonObject, call: EchoCall): JsonObject | Promise<JsonObject>;
}

/** Returns a result with one text. */
export function textResult(text: string): JsonObject {
  return { content: [{ type: "text", text }] };
}

/** Returns a tool whose input schema has `properties`; `required` lists names of them. */
export function defineTool(
  name: string,
  description: string,
  properties: JsonObject,
  required: readonly string[],
  call: EchoTool["call"],
): EchoTool {
  const inputSchema = { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
  return { definition: { name, description, inputSchema }, call };
}

/** Returns the number argument `name`, or `otherwise`. */
export function numberOf(given: JsonObject, name: string, otherwise: number): number {
  const value = given[name];
  return typeof value === "number" ? value : otherwise;
}

/** Returns the string argument `name`, or `otherwise`. */
export function stringOf(given: JsonObject, name: string, otherwise: string): string {
  const value = given[name];
  return typeof value === "string" ? value : otherwise;
}

export const text = { type: "string" } as const;
export const count = { type: "integer", minimum: 0 } as const;
export const flag = { type: "boolean" } as const;
