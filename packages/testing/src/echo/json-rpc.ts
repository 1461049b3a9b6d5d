/** JSON-RPC 2.0 messages as the echo server reads and writes them. No I/O, no validation of contents. */

export type JsonRpcId = string | number;

/** A JSON object whose members are not known yet. */
export type JsonObject = { readonly [key: string]: unknown };

/** Any message: `method` and `id` together tell a request, a notification and a response apart. */
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

/** Thrown by a handler to answer with a JSON-RPC error. */
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

/** The answer to a request whose handler threw: a `RpcFailure` as it is, anything else as -32603. */
export function failureOf(id: JsonRpcId | null, thrown: unknown): JsonRpcMessage {
  if (!(thrown instanceof RpcFailure))
    return { jsonrpc: "2.0", id, error: { code: -32603, message: String(thrown) } };
  const { code, message, data } = thrown;
  return { jsonrpc: "2.0", id, error: data === undefined ? { code, message } : { code, message, data } };
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
