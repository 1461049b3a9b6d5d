/**
 * The one error of this package, and how any error becomes a JSON-RPC error
 * object. Messages and hints go out; causes never do.
 */

import { CodedError, type CodedErrorOptions, isCodedError } from "@toolcrib/diagnostics";
import { rpcCodes } from "./protocol.ts";

/** Options of `McpError`. */
export interface McpErrorOptions extends CodedErrorOptions {
  /** JSON-RPC error code that stands for it on the wire. @default -32603 */
  readonly rpcCode?: number;
  /** `data` member of the JSON-RPC error, as it came or as it goes out. */
  readonly rpcData?: unknown;
  /** HTTP status where the answer is an HTTP response of its own. @default 200 for answers to requests */
  readonly httpStatus?: number;
}

/** An MCP operation failed; `code` is one of this package's codes, `rpcCode` its JSON-RPC code. */
export class McpError extends CodedError {
  readonly rpcCode: number;
  readonly rpcData: unknown;
  readonly httpStatus: number | undefined;

  constructor(code: string, message: string, options: McpErrorOptions = {}) {
    super(code, message, options);
    this.rpcCode = options.rpcCode ?? rpcCodes.internalError;
    this.rpcData = options.rpcData;
    this.httpStatus = options.httpStatus;
  }
}

/** JSON-RPC error object (JSON-RPC 2.0 section 5.1). */
export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** `thrown` as it goes over the wire. Errors that nobody coded say only `Internal error`. */
export function toRpcError(thrown: unknown): RpcErrorObject {
  if (thrown instanceof McpError && thrown.code === "MCP_REMOTE_ERROR") {
    return thrown.rpcData === undefined
      ? { code: thrown.rpcCode, message: thrown.message }
      : { code: thrown.rpcCode, message: thrown.message, data: thrown.rpcData };
  }
  if (!isCodedError(thrown)) return { code: rpcCodes.internalError, message: "Internal error" };
  // Errors of other packages may name their own JSON-RPC code.
  const { rpcCode = rpcCodes.internalError } = thrown as { readonly rpcCode?: number };
  const data = {
    ...(thrown instanceof McpError && typeof thrown.rpcData === "object" ? thrown.rpcData : undefined),
    ...thrown.data,
    code: thrown.code,
    ...(thrown.hint === undefined ? undefined : { hint: thrown.hint }),
  };
  return { code: rpcCode, message: thrown.message, data };
}

/** A message that breaks JSON-RPC or its method's parameters. */
export function invalidRequest(
  message: string,
  rpcCode: number = rpcCodes.invalidRequest,
  httpStatus?: number,
): McpError {
  return new McpError("MCP_INVALID_MESSAGE", message, { rpcCode, httpStatus });
}

/** A method that this side does not have. */
export function methodNotFound(method: string): McpError {
  return new McpError("MCP_METHOD_NOT_FOUND", `Method not found: "${method}"`, {
    rpcCode: rpcCodes.methodNotFound,
    httpStatus: 404,
  });
}

/** A modern POST whose headers do not say what its body says. */
export function headerMismatch(detail: string): McpError {
  return new McpError("MCP_INVALID_MESSAGE", `Header mismatch: ${detail}`, {
    rpcCode: rpcCodes.headerMismatch,
    httpStatus: 400,
  });
}
