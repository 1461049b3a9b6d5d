/**
 * Converts the outcome of a call to its form on the MCP wire. A denied or failed
 * tool call is a result with `isError`, so that the model reads the reason; errors
 * of the server itself keep their JSON-RPC code.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import type { GatewayPolicy } from "@toolcrib/inventory";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { McpError, rpcCodes } from "@toolcrib/mcp";
import { type Era, failedResult, type Identity, isOperator, type ToolResult } from "@toolcrib/tool";
import type { CallTarget } from "../call/call-target.ts";
import type { CallOutcome } from "../gateway.ts";
import { GatewayError } from "../gateway-error.ts";

export const engineFailed = "the policy engine failed; try again in a minute";

/**
 * Returns a denial as its client may read it: without the rules of the gateway, with the text that the author of the
 * rule wrote for clients. The operator reads everything.
 */
export function forClient(
  outcome: CallOutcome,
  identity: Identity,
  { shownName }: Pick<CallTarget, "shownName">,
): CallOutcome {
  if (outcome.kind !== "denied" || isOperator(identity)) return outcome;
  const { code, message, callId } = outcome;
  const denied = `the policy does not allow this call${message === undefined ? "" : `: ${message}`}`;
  const reason = `"${shownName}" was not called: ${code === "POLICY_DENIED" ? denied : engineFailed}`;
  return { ...outcome, reason, hint: `the operator sees the reason: toolcrib why ${callId}` };
}

/**
 * Whether a client gets the answer for an unknown name in place of a denial: what it may not list does not exist for
 * it. The denial is recorded.
 */
export function isConcealed(
  { kind }: CallOutcome,
  identity: Identity,
  { subject }: CallTarget,
  policy: GatewayPolicy,
): boolean {
  return kind === "denied" && !isOperator(identity) && !policy.allowsListing(identity, subject);
}

/**
 * Returns the result of an inner call. Its caller reads of a denial what a client may read: a composite passes on
 * what it is answered.
 *
 * @throws {CodedError} when the call was denied or failed
 */
export function toInnerResult(
  outcome: CallOutcome,
  identity: Identity,
  target: Pick<CallTarget, "shownName">,
): ToolResult {
  const shown = forClient(outcome, identity, target);
  if (shown.kind === "result") return shown.result;
  if (shown.kind === "failed") throw shown.error;
  throw new GatewayError(shown.code, shown.reason, { hint: shown.hint });
}

/** Converts the outcome of a tool call to a `CallToolResult`. @throws {McpError} the server's own JSON-RPC error */
export function toWireResult(outcome: CallOutcome, era: Era): JsonObject {
  if (outcome.kind === "result") return outcome.result as unknown as JsonObject;
  return failedResult(failureOf(outcome, era), outcome.callId) as unknown as JsonObject;
}

/** @throws {McpError} the server's own JSON-RPC error */
function failureOf(
  outcome: Exclude<CallOutcome, { kind: "result" }>,
  era: Era,
): Parameters<typeof failedResult>[0] {
  if (outcome.kind === "denied") {
    return { code: outcome.code, message: outcome.reason, hint: outcome.hint };
  }
  const { error } = outcome;
  const remote = remoteErrorOf(error, era);
  if (remote !== undefined) throw remote;
  return isCodedError(error) ? error : { code: "CALL_FAILED", message: error.message };
}

/** Converts the outcome of another request to its result. @throws {McpError} when it was denied or failed */
export function toRpcFailure(outcome: CallOutcome, era: Era): JsonObject {
  if (outcome.kind === "result") return outcome.result as unknown as JsonObject;
  if (outcome.kind === "denied") {
    throw new McpError(outcome.code, outcome.reason, { rpcCode: -32602, hint: outcome.hint });
  }
  throw toWireError(outcome.error, era);
}

/** Converts a failure to its wire form: a server's own JSON-RPC error unchanged, others as they are. */
export function toWireError(error: Error, era: Era): Error {
  return remoteErrorOf(error, era) ?? error;
}

/** A server's own JSON-RPC error, with the code of the client's era. */
function remoteErrorOf(error: Error, era: Era): McpError | undefined {
  if (!isCodedError(error) || typeof error.data?.["rpcCode"] !== "number") return undefined;
  const { rpcCode, rpcData } = error.data as { readonly rpcCode: number; readonly rpcData?: unknown };
  const code = codeIn(era, rpcCode, rpcData);
  return new McpError("MCP_REMOTE_ERROR", error.message, {
    rpcCode: code,
    rpcData,
    // 2026-07-28, Streamable HTTP: the status of an error that the client can act on.
    httpStatus: code === rpcCodes.missingClientCapability ? 400 : undefined,
  });
}

/** Codes about a request between the gateway and a server, which say nothing about that of the client. */
const hopCodes: ReadonlySet<number> = new Set([rpcCodes.headerMismatch, rpcCodes.unsupportedVersion]);

/** Returns the code of a server's error as clients of `era` know it. */
function codeIn(era: Era, code: number, data: unknown): number {
  if (hopCodes.has(code)) return rpcCodes.internalError;
  if (era === "modern") return code === rpcCodes.RESOURCE_NOT_FOUND ? rpcCodes.invalidParams : code;
  if (code === rpcCodes.missingClientCapability) return rpcCodes.invalidRequest;
  return isNotFound(code, data) ? rpcCodes.RESOURCE_NOT_FOUND : code;
}

/** Whether invalid parameters are a resource that does not exist: its URI is all that a server says about it. */
function isNotFound(code: number, data: unknown): boolean {
  return code === rpcCodes.invalidParams && isJsonObject(data) && Object.keys(data).join() === "uri";
}
