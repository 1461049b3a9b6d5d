/**
 * Translates failures of the connection into failures of the server: the error
 * that a caller gets, whether a request can be repeated, and the reason that
 * people read.
 */

import { type CodedError, cutText, isCodedError, messageOf } from "@toolcrib/diagnostics";
import { McpError } from "@toolcrib/mcp";
import type { LaunchedProcess } from "@toolcrib/process";
import type { Health } from "@toolcrib/tool";
import { receivedErrorData, type Sender } from "./received.ts";
import { UpstreamError } from "./upstream-error.ts";
import type { UpstreamSettings } from "./upstream-options.ts";

/** Translates `error` for a caller. An error response of the server keeps its JSON-RPC code. */
export function toCallerError(sender: Sender, error: unknown, isStopping: boolean): unknown {
  if (!(error instanceof McpError)) return error;
  const { server } = sender;
  if (error.code === "MCP_REMOTE_ERROR") {
    const { rpcCode } = error;
    const rpcData = receivedErrorData(error.rpcData, sender);
    const data = rpcData === undefined ? { server, rpcCode } : { server, rpcCode, rpcData };
    return new UpstreamError("UPSTREAM_ERROR", error.message, { cause: error, data });
  }
  if (error.code !== "MCP_CONNECTION_CLOSED" && error.code !== "MCP_SESSION_EXPIRED") return error;
  const what = isStopping ? "was stopped" : "ended";
  const text = `The server "${server}" ${what} before it answered, and the call may have had an effect`;
  return new UpstreamError("UPSTREAM_CLOSED", text, {
    cause: error,
    hint: "check the effect before you repeat it",
    data: { server },
  });
}

/** Whether the server does not know the session, so that it did not process the request. */
export function isExpired(error: unknown): boolean {
  return error instanceof McpError && error.code === "MCP_SESSION_EXPIRED";
}

/** Whether the program of the server was still being fetched when the time for its launch was over. */
export function isFetching(error: unknown): boolean {
  return isCodedError(error) && error.code === "PACKAGE_FETCHING";
}

/** Whether the server rejected the credentials of a request. */
export function isUnauthenticated(error: unknown): boolean {
  return error instanceof McpError && error.code === "MCP_UNAUTHORIZED" && error.data?.["status"] === 401;
}

/** Whether nothing listens at the address of the server, so that its sessions no longer exist. */
export function isRefused(error: unknown): boolean {
  if (!(error instanceof McpError) || error.code !== "MCP_UNREACHABLE") return false;
  return (error.cause as { readonly code?: unknown } | undefined)?.code === "ECONNREFUSED";
}

/** Returns the milliseconds that the server asked to wait (`Retry-After`), up to `maxMs`; 0 if it did not. */
export function requestedWaitMs(error: unknown, maxMs: number): number {
  const waitMs = error instanceof McpError ? error.data?.["retryAfterMs"] : undefined;
  return typeof waitMs === "number" ? Math.min(waitMs, maxMs) : 0;
}

/** Characters of a reason: health, logs and the errors of calls repeat it. */
const reasonMaxLength = 4096;

/** Returns the reason of a failure in one line for people, cut where it is long. @param scrub removes secrets */
export function reasonOf(error: unknown, scrub: (text: string) => string): string {
  const { hint } = error as Partial<CodedError>;
  const reason = isCodedError(error) && hint !== undefined ? `${error.message} (${hint})` : messageOf(error);
  return reason.length <= reasonMaxLength
    ? scrub(reason)
    : `${cutText(reason, reasonMaxLength, scrub)}… (shortened)`;
}

/** Returns what programs can know about a failure; undefined for one without a code. */
export function failureOf(error: unknown): Health["failure"] {
  if (!isCodedError(error)) return undefined;
  const { status, usesOAuth } = error.data ?? {};
  const systemCode = (error.cause as { readonly code?: unknown } | undefined)?.code;
  return {
    code: error.code,
    ...(typeof systemCode === "string" && { systemCode }),
    ...(typeof status === "number" && { status }),
    ...(usesOAuth === true && { usesOAuth }),
  };
}

/** Returns how the process ended, or undefined when it still runs after half a second. */
export async function exitText(process: LaunchedProcess): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const stillRuns = new Promise<boolean>((resolve) => {
    // On a busy machine the timer can fire before the exit was processed: one more turn processes it.
    timer = setTimeout(() => setImmediate(resolve, true), exitWaitMs);
  });
  const runs = await Promise.race([process.ended.then(() => false), stillRuns]);
  clearTimeout(timer);
  // The description is complete only after the processes that it left behind have ended.
  return runs ? undefined : (await process.exited).description;
}

/** Last lines of standard error that advice about an end is based on. */
const lineCount = 60;

/** Returns advice about the end of a process, from the last lines of its standard error. */
export function adviceAbout(
  process: LaunchedProcess | undefined,
  advise: UpstreamSettings["advise"],
): string | undefined {
  return process === undefined ? undefined : advise?.(process.stderr.tail(lineCount).join("\n"));
}

/** After a connection ends, the exit of a crashed process is known within this time. */
const exitWaitMs = 500;
