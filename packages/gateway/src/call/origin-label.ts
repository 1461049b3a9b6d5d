/**
 * The label by which a result says which server it comes from, and that the server is not
 * verified. It is set after everything else has read or changed the result, so that no
 * member of a server is in its place.
 */

import { CodedError } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";

/** Returns the label of what an unverified server sends. @param server id of the server */
export function unverifiedLabel(server: string): JsonObject {
  return { ...sourceLabel(server), "toolcrib/trustState": "unverified" };
}

/** Returns the label that names a server. */
export function sourceLabel(server: string): JsonObject {
  return { "toolcrib/server": server };
}

/** Returns `result` with `label` in its `_meta`. */
export function originLabelled(result: JsonObject, label: JsonObject | undefined): JsonObject {
  if (label === undefined) return result;
  const { _meta: meta } = result;
  return { ...result, _meta: { ...(isJsonObject(meta) ? meta : undefined), ...label } };
}

/** Returns an error with `label` in the data of the JSON-RPC error of the server; other errors are the gateway's own. */
export function errorLabelled(error: CodedError, label: JsonObject): CodedError {
  const { code, message, hint, cause, data } = error;
  if (typeof data?.["rpcCode"] !== "number") return error;
  const sent = data["rpcData"] as JsonValue | undefined;
  const rest = sent === undefined || isJsonObject(sent) ? sent : { data: sent };
  return new CodedError(code, message, { hint, cause, data: { ...data, rpcData: { ...rest, ...label } } });
}
