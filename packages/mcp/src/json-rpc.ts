/** JSON-RPC 2.0 messages as used by MCP. Data only. */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { RpcErrorObject } from "./mcp-error.ts";

/** Request id; `1` and `"1"` are different. MCP forbids null. */
export type RpcId = string | number;

/** A message that expects a response. */
export interface RpcRequest {
  readonly jsonrpc: "2.0";
  readonly id: RpcId;
  readonly method: string;
  readonly params?: JsonObject;
}

/** A message without a response. */
export interface RpcNotification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: JsonObject;
}

/** The response to a request; its id is null if the id of the request could not be read. */
export type RpcResponse =
  | { readonly jsonrpc: "2.0"; readonly id: RpcId; readonly result: JsonObject }
  | { readonly jsonrpc: "2.0"; readonly id: RpcId | null; readonly error: RpcErrorObject };

/** Any JSON-RPC 2.0 message. */
export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

/** A received value that is a message, by kind. */
export type ClassifiedMessage =
  | { readonly kind: "request"; readonly message: RpcRequest }
  | { readonly kind: "notification"; readonly message: RpcNotification }
  | { readonly kind: "response"; readonly message: RpcResponse };

/** A received value: a message, or invalid. */
export type Classified =
  | ClassifiedMessage
  | { readonly kind: "invalid"; readonly reason: string; readonly id: RpcId | null };

const noParams: JsonObject = Object.freeze({});

/** Returns the parameters of a message; an empty object if it has none. */
export function paramsOf(message: { readonly params?: JsonObject }): JsonObject {
  return message.params ?? noParams;
}

/** Returns the `_meta` of parameters or of a result; undefined if it is absent or not an object. */
export function metaOf(params: JsonObject): JsonObject | undefined {
  const meta = params["_meta"];
  return isJsonObject(meta) ? meta : undefined;
}

/** Classifies a received value, with the reason if it is not a JSON-RPC 2.0 message. */
export function classify(value: unknown): Classified {
  if (!isJsonObject(value)) return { kind: "invalid", reason: "a message must be a JSON object", id: null };
  const id = value["id"];
  // Two different ids beyond the safe integers could become the same number. `parseMessage` makes others NaN.
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
    return invalid(
      '"id" must be a string, or a number up to 9007199254740991 in its shortest form (1, not 1.0 or 1e0)',
      knownId,
    );
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
