/**
 * Finds out whether a server still knows a session, for responses that do not
 * show it. A `ping` is sent, which has no effect at the server.
 */

import { readErrorBody } from "./http-request.ts";
import type { HttpRequester } from "./http-requester.ts";
import { sessionVerdict } from "./received-messages.ts";

/** Longest wait for the response to the ping. */
const checkTimeoutMs = 10_000;

/** Differs from the ids of requests, which are numbers. */
const checkId = "session-check";

/**
 * Whether the server refuses a ping because it does not know the session. Returns
 * false when the server cannot be reached: that is no statement about the session.
 */
export async function isSessionLost(requester: HttpRequester, signal: AbortSignal): Promise<boolean> {
  const ping = JSON.stringify({ jsonrpc: "2.0", id: checkId, method: "ping" });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(checkTimeoutMs)]);
  try {
    const { statusCode, body } = await requester.post(ping, {}, limit);
    if (statusCode >= 300) {
      const text = await readErrorBody(body);
      // The server may lack the method, and report that with 404 under our id.
      return sessionVerdict(statusCode, text, checkId) !== "unaffected" && !isUnknownMethod(text);
    }
    body.on("error", () => {}).destroy();
    return false;
  } catch {
    return false;
  }
}

function isUnknownMethod(text: string): boolean {
  return /"code"\s*:\s*-32601\b/.test(text);
}
