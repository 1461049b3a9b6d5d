/** JSON-RPC 2.0 messages of the echo server. No I/O, and no validation of their contents. */

export type JsonRpcId = string | number;

/** A JSON object with unknown members. */
export type JsonObject = { readonly [key: string]: unknown };

/** Any message: `method` and `id` distinguish a request, a notification and a response. */
export interface JsonRpcMessage {
  readonly jsonrpc: "2.0";
  readonly id?: JsonRpcId | null;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: JsonRpcError;
}

export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Thrown by a handler to respond with a JSON-RPC error. */
export class RpcFailure extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = "RpcFailure";
    this.code = code;
    this.data = data;
  }
}

export function notificationOf(method: string, params?: JsonObject): JsonRpcMessage {
  return params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params };
}

export function resultOf(id: JsonRpcId, result: JsonObject): JsonRpcMessage {
  return { jsonrpc: "2.0", id, result };
}

/** Returns the response to a request whose handler threw: the error of a `RpcFailure`, otherwise -32603. */
export function failureOf(id: JsonRpcId | null, thrown: unknown): JsonRpcMessage {
  if (!(thrown instanceof RpcFailure))
    return { jsonrpc: "2.0", id, error: { code: -32603, message: String(thrown) } };
  const { code, message, data } = thrown;
  return { jsonrpc: "2.0", id, error: data === undefined ? { code, message } : { code, message, data } };
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
