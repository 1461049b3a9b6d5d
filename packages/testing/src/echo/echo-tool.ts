/** The shape of a tool of the echo server and of one call of it. Types and small constructors only. */

import type { EchoServer } from "./echo-server.ts";
import type { JsonObject, JsonRpcId } from "./json-rpc.ts";

/** One call, as its tool sees it. */
export interface EchoCall {
  readonly id: JsonRpcId;
  /** The request's parameters as they came, `_meta` included. */
  readonly params: JsonObject;
  readonly server: EchoServer;
  /** The HTTP headers of the request; undefined on stdio. */
  readonly headers: { readonly [name: string]: string | string[] | undefined } | undefined;
  /** Aborts when the client cancels the call or the connection closes; a cancelled call is not answered. */
  readonly signal: AbortSignal;
  /** Report progress, where the client sent a token. */
  progress(progress: number, total: number, message: string): void;
  /** Send a log message, where the client wants its level. */
  log(level: string, data: unknown): void;
  /** Ask the client, by a request or (2026-07-28) by an input-required result. */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
  /** Answer now, besides the answer that the tool returns. */
  respond(id: JsonRpcId, result: JsonObject): void;
  /** Write text where a message is expected. */
  writeText(text: string): void;
  /** Break the connection, or the response stream, that the answer would take. */
  breakOff(): void;
  /** Forget the session of the call, so that its next request meets 404 (HTTP). */
  expireSession(): void;
}

export interface EchoTool {
  readonly definition: JsonObject & { readonly name: string };
  /** Returns the result of `tools/call`, at once where it can: a promise costs a turn of the loop. */
  call(given: JsonObject, call: EchoCall): JsonObject | Promise<JsonObject>;
}

/** A result with one text. */
export function textResult(text: string): JsonObject {
  return { content: [{ type: "text", text }] };
}

/** A tool whose input schema lists `properties`, with `required` ones by name. */
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

/** The number given as `name`, or `otherwise`. */
export function numberOf(given: JsonObject, name: string, otherwise: number): number {
  const value = given[name];
  return typeof value === "number" ? value : otherwise;
}

/** The string given as `name`, or `otherwise`. */
export function stringOf(given: JsonObject, name: string, otherwise: string): string {
  const value = given[name];
  return typeof value === "string" ? value : otherwise;
}

export const text = { type: "string" } as const;
export const count = { type: "integer", minimum: 0 } as const;
export const flag = { type: "boolean" } as const;
