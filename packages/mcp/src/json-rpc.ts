/** JSON-RPC 2.0 messages as MCP uses them. Data only. */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { RpcErrorObject } from "./mcp-error.ts";

/** Request id; `1` and `"1"` are two. MCP forbids null. */
export type RpcId = string | number;

/** A message that wants an answer. */
export interface RpcRequest {
  readonly jsonrpc: "2.0";
  readonly id: RpcId;
  readonly method: string;
  readonly params?: JsonObject;
}

/** A message that wants none. */
export interface RpcNotification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: JsonObject;
}

/** The answer to a request; its id is null where the request's could not be read. */
export type RpcResponse =
  | { readonly jsonrpc: "2.0"; readonly id: RpcId; readonly result: JsonObject }
  | { readonly jsonrpc: "2.0"; readonly id: RpcId | null; readonly error: RpcErrorObject };

/** Any JSON-RPC 2.0 message. */
export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

/** A received value that is a message, and of which kind. */
export type ClassifiedMessage =
  | { readonly kind: "request"; readonly message: RpcRequest }
  | { readonly kind: "notification"; readonly message: RpcNotification }
  | { readonly kind: "response"; readonly message: RpcResponse };

/** What a received value is. */
export type Classified =
  | ClassifiedMessage
  | { readonly kind: "invalid"; readonly reason: string; readonly id: RpcId | null };

const noParams: JsonObject = Object.freeze({});

/** The parameters of a message; an empty object when it has none. */
export function paramsOf(message: { readonly params?: JsonObject }): JsonObject {
  return message.params ?? noParams;
}

/** `_meta` of parameters or a result; undefined when there is none or it is no object. */
export function metaOf(params: JsonObject): JsonObject | undefined {
  const meta = params["_meta"];
  return isJsonObject(meta) ? meta : undefined;
}

/** Tell what `value` is, or why it is not a JSON-RPC 2.0 message. */
export function classify(value: unknown): Classified {
  if (!isJsonObject(value)) return { kind: "invalid", reason: "a message must be a JSON object", id: null };
  const id = value["id"];
  // Past the safe integers two ids of the other side can become one number here.
  const hasId = typeof id === "string" || (typeof id === "number" && Math.abs(id) <= Number.MAX_SAFE_INTEGER);
  const knownId = hasId ? id : null;
  if (value["jsonrpc"] !== "2.0") return invalid('"jsonrpc" must be "2.0"', knownId);
  const method = value["method"];
  if (method !== undefined) {
    if (typeof method !== "string") return invalid('"method" must be a string', knownId);
    const params = value["params"];
    if (params !== undefined && !isJsonObject(params)) return invalid('"params" must be an object', knownId);
    if (hasId) return { kind: "request", message: value as unknown as RpcRequest };
    if (id === undefined) return { kind: "notification", message: value as unknown as RpcNotification };
    return invalid('"id" must be a string or a number within the safe integers', knownId);
  }
  if (isJsonObject(value["error"]) && (hasId || id === null || id === undefined)) {
    return { kind: "response", message: value as unknown as RpcResponse };
  }
  if (hasId && isJsonObject(value["result"]))
    return { kind: "response", message: value as unknown as RpcResponse };
  return invalid('a message needs a "method", a "result" object or an "error" object', knownId);
}

function invalid(reason: string, id: RpcId | null): Classified {
  return { kind: "invalid", reason, id };
}
