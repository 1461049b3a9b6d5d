/**
 * A message of the client, as the bridge keeps it until it is answered: its text, and the few members by which the
 * transport chooses headers. The parsed value can take ten times the memory of the text, so it is not kept.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { type HttpTransport, metaKeys, metaOf, type RpcId } from "@toolcrib/mcp";

type Message = Parameters<HttpTransport["send"]>[0];

/** A request, a notification, or an answer. */
export interface ClientMessage {
  /** The id of a request or an answer. */
  readonly id: RpcId | undefined;
  /** Undefined for an answer. */
  readonly method: string | undefined;
  readonly text: string;
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

/** Reads a message; returns the reason where it is none. */
export function readClientMessage(value: JsonValue): ClientMessage | string {
  if (!isJsonObject(value)) return "a message is a JSON object";
  const { id, method, params } = value;
  if (method !== undefined && typeof method !== "string") return '"method" is a text';
  const isAnswer = method === undefined;
  if (isAnswer && !("result" in value || "error" in value)) return 'it has no "method"';
  const isId = typeof id === "string" || typeof id === "number";
  if (!isId && (isAnswer || id !== undefined)) return '"id" is a text or a number';
  const given = isJsonObject(params) ? params : {};
  const version = metaOf(given)?.[metaKeys.protocolVersion];
  // The transport refuses other headers before it sends them, which looks like a gateway that is not there.
  const inHeaders = typeof version === "string" ? `${method ?? ""}${version}` : "";
  if (!/^[\x20-\x7e]*$/.test(inHeaders)) return '"method" and the protocol version are printable ASCII';
  const kept: Record<string, JsonValue> = {};
  for (const name of headParams) if (given[name] !== undefined) kept[name] = given[name];
  if (version !== undefined) kept["_meta"] = { [metaKeys.protocolVersion]: version };
  return {
    id: isId ? id : undefined,
    method,
    text: JSON.stringify(value),
    head: {
      jsonrpc: "2.0",
      ...(isId && { id }),
      ...(isAnswer ? { result: {} } : { method, params: kept }),
    } as Message,
    isModern: version !== undefined,
  };
}

/** Whether a message expects an answer. */
export function isRequest(message: ClientMessage): message is ClientRequest {
  return message.id !== undefined && message.method !== undefined;
}

/** Returns the parameters of a message. */
export function paramsIn({ text }: ClientMessage): JsonObject {
  const { params } = JSON.parse(text) as { readonly params?: JsonValue };
  return isJsonObject(params) ? params : {};
}

/** Requests that change nothing, so that they can be sent twice. */
export function isHarmless({ method }: ClientRequest): boolean {
  return harmless.test(method);
}

const harmless =
  /^(?:ping|initialize|server\/discover|(?:tools|prompts|resources|resources\/templates|tasks)\/list|prompts\/get|resources\/read|tasks\/(?:get|result)|completion\/complete|logging\/setLevel|resources\/(?:un)?subscribe|subscriptions\/listen)$/;
