/** Finds out about a request from its error: whether a gateway began with it, and whether another attempt can succeed. */

import { McpError, withoutHint } from "@toolcrib/mcp";
import { CliError } from "../cli-error.ts";
import type { GatewayMessage } from "./own-requests.ts";

/** Whether a gateway gave up a request, or did not take it, because it ends. */
export function isShuttingDown(error: GatewayMessage["error"]): boolean {
  const { code } = (error?.data ?? {}) as { readonly code?: unknown };
  return code === "MCP_SHUTTING_DOWN";
}

/**
 * Returns the error by which a gateway refused a request before it began with it: with status 503 and the time to wait.
 * A request that it gives up later has no such time.
 */
export function refusalOf({ code, data, cause }: McpError): McpError | undefined {
  const isRefused =
    code === "MCP_HTTP_ERROR" && data?.["status"] === 503 && data["retryAfterMs"] !== undefined;
  return isRefused && cause instanceof McpError ? cause : undefined;
}

/** Whether no gateway began with a request that failed, so that the next one can. */
export function wasNotBegun(error: McpError): boolean {
  if (error.code === "MCP_UNREACHABLE" || error.code === "MCP_SESSION_EXPIRED") return true;
  const { message, rpcData } = refusalOf(error) ?? {};
  return isShuttingDown({ message, data: rpcData } as GatewayMessage["error"]);
}

/** Whether an error of a new connection is that of a gateway that ends. */
export function mayPass(error: unknown): boolean {
  return error instanceof McpError && (error.code === "MCP_CONNECTION_CLOSED" || wasNotBegun(error));
}

/** Returns the error of the command where the gateway has no such profile for the client; undefined for other errors. */
export function unknownProfile(error: GatewayMessage["error"]): CliError | undefined {
  const { code, hint } = (error?.data ?? {}) as { readonly code?: unknown; readonly hint?: unknown };
  if (error === undefined || code !== "PROFILE_NOT_FOUND") return undefined;
  const advice = String(hint);
  return new CliError("CLI_PROFILE_NOT_FOUND", withoutHint(String(error.message), advice), { hint: advice });
}
