/** The progress token of a request: it comes back in notifications as the number or text that the client sent. */

import type { JsonObject } from "@toolcrib/json";
import { invalidRequest } from "../mcp-error.ts";
import { rpcCodes } from "../protocol.ts";

/**
 * Returns the token in the `_meta` of a request; undefined where it asks for no progress.
 *
 * @throws {McpError} -32602 for a number that may be another one than the client sent, as ids are refused.
 */
export function progressTokenOf(meta: JsonObject | undefined): string | number | undefined {
  const token = meta?.["progressToken"];
  if (typeof token === "string") return token;
  if (typeof token !== "number") return undefined;
  // `parseMessage` makes one NaN that is another number than its text. -0 is written as 0.
  if (Math.abs(token) <= Number.MAX_SAFE_INTEGER) return token;
  const allowed = `a string, or a number up to ${Number.MAX_SAFE_INTEGER} with at most 17 digits`;
  throw invalidRequest(`"progressToken" in "_meta" must be ${allowed}`, rpcCodes.invalidParams, 400);
}
