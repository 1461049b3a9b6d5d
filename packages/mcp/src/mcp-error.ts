/**
 * The error class of this package, and the conversion of any error to a JSON-RPC
 * error object. Messages and hints are sent, the hint in the message too: most clients
 * show only the message to models and people. Causes are never sent.
 */

import { CodedError, type CodedErrorOptions, cutText, isCodedError } from "@toolcrib/diagnostics";
import { type JsonValue, jsonSize } from "@toolcrib/json";
import { rpcCodes } from "./protocol.ts";

/** Options of `McpError`. */
export interface McpErrorOptions extends CodedErrorOptions {
  /** JSON-RPC error code on the wire. @default -32603 */
  readonly rpcCode?: number;
  /** `data` member of the JSON-RPC error, received or to be sent. */
  readonly rpcData?: unknown;
  /** HTTP status of the response, if the error has a response of its own. @default 200 for answers to requests */
  readonly httpStatus?: number;
  /** Removes secrets from the message of a peer before it is cut. @default it has none */
  readonly scrub?: ((text: string) => string) | undefined;
}

/** The part that is kept of an error of a peer. */
interface RemoteErrorLimits {
  /** Characters of the message of an error that a peer sends. @default 65,536 */
  readonly messageMaxLength: number;
  /** Bytes of the data of an error that a peer sends; larger data is left out. @default 1,048,576 */
  readonly dataMaxBytes: number;
}

const remoteLimits: RemoteErrorLimits = { messageMaxLength: 65_536, dataMaxBytes: 1_048_576 };
/** Characters of the note that says how much is left out. */
const noteMaxLength = 1024;

/** Reports an MCP operation that failed; `code` is one of this package's codes, `rpcCode` its JSON-RPC code. */
export class McpError extends CodedError {
  readonly rpcCode: number;
  readonly rpcData: unknown;
  readonly httpStatus: number | undefined;

  constructor(code: string, message: string, options: McpErrorOptions = {}) {
    const isRemote = code === "MCP_REMOTE_ERROR";
    const { message: text, data } = isRemote
      ? kept(message, options.rpcData, options.scrub)
      : { message, data: options.rpcData };
    super(code, text, options);
    this.rpcCode = options.rpcCode ?? rpcCodes.internalError;
    this.rpcData = data;
    this.httpStatus = options.httpStatus;
  }
}

/** Returns what is kept of the error of a peer, whose message says how much is left out. */
function kept(
  message: string,
  data: unknown,
  scrub: McpErrorOptions["scrub"],
): { readonly message: string; readonly data: unknown } {
  const { messageMaxLength, dataMaxBytes } = remoteLimits;
  const isTooLarge = jsonSize(data as JsonValue | undefined, dataMaxBytes) > dataMaxBytes;
  const note = isTooLarge ? ` [its data is left out: it is larger than ${dataMaxBytes} bytes]` : "";
  if (message.length + note.length <= messageMaxLength)
    return { message: `${message}${note}`, data: isTooLarge ? undefined : data };
  const text = cutText(message, messageMaxLength - noteMaxLength, scrub);
  const cut = `${text}… [${message.length - text.length} more characters are left out]`;
  return { message: `${cut}${note}`, data: isTooLarge ? undefined : data };
}

/** JSON-RPC error object (JSON-RPC 2.0 section 5.1). */
export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Returns `message` with `hint`, for a reader who sees only one text. */
function withHint(message: string, hint: string | undefined): string {
  return hint === undefined ? message : `${message} (${hint})`;
}

/** Returns the message of an error that `toRpcError` converted, without the hint in it. */
export function withoutHint(message: string, hint: string): string {
  const suffix = withHint("", hint);
  return message.endsWith(suffix) ? message.slice(0, -suffix.length) : message;
}

/** Converts `thrown` to its wire form. An error without a code becomes `Internal error`, without details. */
export function toRpcError(thrown: unknown): RpcErrorObject {
  if (thrown instanceof McpError && thrown.code === "MCP_REMOTE_ERROR") {
    return thrown.rpcData === undefined
      ? { code: thrown.rpcCode, message: thrown.message }
      : { code: thrown.rpcCode, message: thrown.message, data: thrown.rpcData };
  }
  if (!isCodedError(thrown)) return { code: rpcCodes.internalError, message: "Internal error" };
  // Errors of other packages may carry a JSON-RPC code.
  const { rpcCode = rpcCodes.internalError } = thrown as { readonly rpcCode?: number };
  const data = {
    ...(thrown instanceof McpError && typeof thrown.rpcData === "object" ? thrown.rpcData : undefined),
    ...thrown.data,
    code: thrown.code,
    ...(thrown.hint === undefined ? undefined : { hint: thrown.hint }),
  };
  return { code: rpcCode, message: withHint(thrown.message, thrown.hint), data };
}

/** Creates the error for a message that violates JSON-RPC or the parameters of its method. */
export function invalidRequest(
  message: string,
  rpcCode: number = rpcCodes.invalidRequest,
  httpStatus?: number,
): McpError {
  return new McpError("MCP_INVALID_MESSAGE", message, { rpcCode, httpStatus });
}

/** Creates the error for a method that this side does not have. */
export function methodNotFound(method: string): McpError {
  return new McpError("MCP_METHOD_NOT_FOUND", `Method not found: "${method}"`, {
    rpcCode: rpcCodes.methodNotFound,
    httpStatus: 404,
  });
}

/** Creates the error for a modern POST whose headers differ from its body. */
export function headerMismatch(detail: string): McpError {
  return new McpError("MCP_INVALID_MESSAGE", `Header mismatch: ${detail}`, {
    rpcCode: rpcCodes.headerMismatch,
    httpStatus: 400,
  });
}
