/**
 * Failures of the wire as failures of a server: what callers see, what may be
 * tried again, and how a server's end is told to people.
 */

import { type CodedError, isCodedError, messageOf } from "@toolcrib/diagnostics";
import { McpError } from "@toolcrib/mcp";
import type { LaunchedProcess } from "@toolcrib/process";
import { UpstreamError } from "./upstream-error.ts";

/** What a caller sees of `error`; errors of the server itself keep their JSON-RPC code. */
export function toCallerError(server: string, error: unknown, isStopping: boolean): unknown {
  if (!(error instanceof McpError)) return error;
  if (error.code === "MCP_REMOTE_ERROR") {
    const { rpcCode, rpcData } = error;
    const data = rpcData === undefined ? { server, rpcCode } : { server, rpcCode, rpcData };
    return new UpstreamError("UPSTREAM_ERROR", error.message, { cause: error, data });
  }
  if (error.code !== "MCP_CONNECTION_CLOSED" && error.code !== "MCP_SESSION_EXPIRED") return error;
  const what = isStopping ? "was stopped" : "ended";
  return new UpstreamError("UPSTREAM_CLOSED", `The server "${server}" ${what} before it answered`, {
    cause: error,
    hint: "the call may have had an effect, so check before you repeat it",
    data: { server },
  });
}

/** Whether the session is unknown to the server, so that it never looked at the request. */
export function isExpired(error: unknown): boolean {
  return error instanceof McpError && error.code === "MCP_SESSION_EXPIRED";
}

/** Whether nothing listens at the server's address, so that its sessions are gone. */
export function isRefused(error: unknown): boolean {
  if (!(error instanceof McpError) || error.code !== "MCP_UNREACHABLE") return false;
  return (error.cause as { readonly code?: unknown } | undefined)?.code === "ECONNREFUSED";
}

/** Why something failed, in one line for people. */
export function reasonOf(error: unknown): string {
  const { hint } = error as Partial<CodedError>;
  return isCodedError(error) && hint !== undefined ? `${error.message} (${hint})` : messageOf(error);
}

/** How the process ended, once it did; undefined while it still runs half a second later. */
export async function exitText(process: LaunchedProcess): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const stillRuns = new Promise<boolean>((resolve) => {
    // On a machine that is busy the time may be over before its end was noticed: one turn notices it.
    timer = setTimeout(() => setImmediate(resolve, true), exitWaitMs);
  });
  const runs = await Promise.race([process.ended.then(() => false), stillRuns]);
  clearTimeout(timer);
  // What it had started is cleared away before its end is told, however long the machine takes for that.
  return runs ? undefined : (await process.exited).description;
}

/** An end that a crash explains is known within this. */
const exitWaitMs = 500;
