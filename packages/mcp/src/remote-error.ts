/** Errors of JSON-RPC that the peer sent. */

import { isJsonObject, type JsonObject, parseJson } from "@toolcrib/json";
import { McpError } from "./mcp-error.ts";
import { rpcCodes } from "./protocol.ts";

/** Converts the error object of an answer. @param scrub removes secrets from its message before it is cut */
export function remoteError({ code, message, data }: JsonObject, scrub?: (text: string) => string): McpError {
  return new McpError("MCP_REMOTE_ERROR", typeof message === "string" ? message : "Unknown error", {
    rpcCode: typeof code === "number" ? code : rpcCodes.internalError,
    rpcData: data,
    scrub,
  });
}

/** Returns the error that the body of a response is; undefined if it is none. @param scrub as for `remoteError` */
export function remoteErrorIn(text: string, scrub?: (text: string) => string): McpError | undefined {
  try {
    const value = parseJson(text);
    const error = isJsonObject(value) ? value["error"] : undefined;
    return isJsonObject(error) && typeof error["code"] === "number" ? remoteError(error, scrub) : undefined;
  } catch {
    // Most error responses are not JSON.
    return undefined;
  }
}
