/**
 * A message of the client, as the bridge keeps it until it is answered: its bytes as they were sent, and the few
 * members by which the transport chooses headers. The parsed value can take ten times the memory of the text, so it is
 * not kept.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { type HttpTransport, McpError, metaKeys, metaOf, type RpcId, rpcCodes } from "@toolcrib/mcp";

type Message = Parameters<HttpTransport["send"]>[0];

/** A request, a notification, or an answer. */
export interface ClientMessage {
  /** The id of a request or an answer. */
  readonly id: RpcId | undefined;
  /** Undefined for an answer. */
  readonly method: string | undefined;
  /** The message as JSON. */
  readonly body: Buffer;
  /** Bytes that are kept of it. */
  readonly size: number;
  /** The message without what only the gateway reads. */
  readonly head: Message;
  /** Whether a request belongs to no session (revision 2026-07-28). */
  readonly isModern: boolean;
}

/** A request of the client. */
export interface ClientRequest extends ClientMessage {
  readonly id: RpcId;
  readonly method: string;
}

/** Parameters by which headers are chosen, or which name another request. */
const headParams = ["name", "uri", "taskId", "requestId"];

/**
 * Reads a message; returns the error where it is none, or where a batch cannot be written anew without a change.
 *
 * @param text the message as it was sent
 */
export function readClientMessage(value: JsonValue, text: string): ClientMessage | McpError {
  if (!isJsonObject(value)) return noMessage("a message is a JSON object");
  const { id, method, params } = value;
  if (method !== undefined && typeof method !== "string") return noMessage('"method" is a text');
  const isAnswer = method === undefined;
  if (isAnswer && !("result" in value || "error" in value)) return noMessage('it has no "method"');
  const isId = isRpcId(id);
  if (!isId && (isAnswer || id !== undefined))
    return noMessage(`"id" is a text, or a number ${exactNumbers}`);
  const given = isJsonObject(params) ? params : {};
  const meta = metaOf(given);
  // Members of a batch are written anew, without such a number. The gateway refuses it in the same words.
  if (Number.isNaN(meta?.["progressToken"]))
    return refusal(`"progressToken" in "_meta" must be ${exactTokens}`, rpcCodes.invalidParams);
  const version = meta?.[metaKeys.protocolVersion];
  // The transport refuses other headers before it sends them, which looks like a gateway that is not there.
  const inHeaders = typeof version === "string" ? `${method ?? ""}${version}` : "";
  if (!/^[\x20-\x7e]*$/.test(inHeaders))
    return noMessage('"method" and the protocol version are printable ASCII');
  const kept: Record<string, JsonValue> = {};
  let keptLength = lengthOf(id) + lengthOf(method) + lengthOf(version);
  for (const name of headParams) {
    const parameter = given[name];
    // Anything else chooses no header and names no request.
    if (typeof parameter !== "string" && typeof parameter !== "number") continue;
    kept[name] = parameter;
    keptLength += lengthOf(parameter);
  }
  if (version !== undefined) kept["_meta"] = { [metaKeys.protocolVersion]: version };
  const body = Buffer.from(text);
  return {
    id: isId ? id : undefined,
    method,
    body,
    // A text has one or two bytes for each character.
    size: body.length + 2 * keptLength,
    head: {
      jsonrpc: "2.0",
      ...(isId && { id }),
      ...(isAnswer ? { result: {} } : { method, params: kept }),
    } as Message,
    isModern: version !== undefined,
  };
}

function noMessage(reason: string): McpError {
  return refusal(`The message is no JSON-RPC message: ${reason}`, rpcCodes.invalidRequest);
}

function refusal(text: string, rpcCode: number): McpError {
  return new McpError("MCP_INVALID_MESSAGE", text, { rpcCode });
}

function lengthOf(value: JsonValue | undefined): number {
  return typeof value === "string" ? value.length : 0;
}

/** Whether a value is an id that comes back as it was sent. The decoder of lines makes inexact ones NaN. */
export function isRpcId(id: unknown): id is RpcId {
  return typeof id === "string" || (typeof id === "number" && Math.abs(id) <= Number.MAX_SAFE_INTEGER);
}

const exactNumbers = `up to ${Number.MAX_SAFE_INTEGER} in its shortest form (1, not 1.0 or 1e0)`;

const exactTokens = `a string, or a number up to ${Number.MAX_SAFE_INTEGER} with at most 17 digits`;

/** Whether a message expects an answer. */
export function isRequest(message: ClientMessage): message is ClientRequest {
  return message.id !== undefined && message.method !== undefined;
}

/** Returns the parameters of a message. */
export function paramsIn({ body }: ClientMessage): JsonObject {
  const { params } = JSON.parse(body.toString()) as { readonly params?: JsonValue };
  return isJsonObject(params) ? params : {};
}

/** Requests that change nothing, so that they can be sent twice. */
export function isHarmless({ method }: ClientRequest): boolean {
  return harmless.test(method);
}

const harmless =
  /^(?:ping|initialize|server\/discover|(?:tools|prompts|resources|resources\/templates|tasks)\/list|prompts\/get|resources\/read|tasks\/(?:get|result)|completion\/complete|logging\/setLevel|resources\/(?:un)?subscribe|subscriptions\/listen)$/;
