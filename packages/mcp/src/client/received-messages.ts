/** Messages in HTTP responses: parsed, delivered to the receiver, and matched with the request that they answer. */

import { messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { AnswerIdScanner } from "../framing/answer-id.ts";
import { faultOf, messageMaxValues } from "../framing/lines.ts";
import { parseMessage } from "../framing/parse-message.ts";
import type { SseEvent } from "../framing/sse.ts";
import type { RpcId } from "../json-rpc.ts";
import type { EventLimits } from "./http-request.ts";
import { answerError } from "./lost-answer.ts";
import type { TransportReceiver } from "./transport.ts";

/**
 * Delivers a message or a batch.
 *
 * @returns whether it contains the response to request `id`.
 */
export function deliver(receiver: TransportReceiver, value: JsonValue, id: RpcId | undefined): boolean {
  let answers = false;
  for (const one of Array.isArray(value) ? value : [value]) {
    answers ||= isJsonObject(one) && one["method"] === undefined && isSameId(one["id"], id);
    receiver.message(one, id);
  }
  return answers;
}

/** Whether a message is a response; a batch counts as what its first member is. */
export function isAnswer(value: unknown): boolean {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return isJsonObject(first) && first["method"] === undefined;
}

/**
 * Delivers the data of an event. Invalid data is reported and skipped, and so is an event that is not a message.
 *
 * @returns whether it contains the response to request `id`.
 */
export function deliverEvent(
  receiver: TransportReceiver,
  { event, data }: SseEvent,
  id: RpcId | undefined,
  { maxLength, flood }: EventLimits,
): boolean {
  if (data === "" || event !== "message") {
    flood?.spend(data.length);
    return false;
  }
  let value: JsonValue;
  try {
    value = parseMessage(data, { maxLength, maxValues: messageMaxValues });
  } catch (error) {
    flood?.spend(data.length);
    return reportUnparsed(receiver, data, error, maxLength) === id && id !== undefined;
  }
  if (!isAnswer(value)) flood?.spend(data.length);
  return deliver(receiver, value, id);
}

/**
 * Reports data that is not JSON within the limits. The request that it answers fails.
 *
 * @returns the id of that request.
 */
export function reportUnparsed(
  receiver: TransportReceiver,
  data: string,
  thrown: unknown,
  maxBytes: number,
): RpcId | undefined {
  const fault = faultOf(thrown);
  const error = answerError(fault, maxBytes, thrown);
  receiver.invalid(`an event: ${messageOf(thrown)}`, fault === "invalid" ? undefined : error);
  const scanner = new AnswerIdScanner();
  scanner.write(Buffer.from(data));
  const { answerId } = scanner;
  if (answerId !== undefined) receiver.failed(answerId, error);
  return answerId;
}

/** Delivers the body of an error response. @returns whether it is a JSON-RPC error, the response to `id`. */
export function deliverError(receiver: TransportReceiver, text: string, id: RpcId): boolean {
  const error = errorIn(text);
  if (error === undefined) return false;
  receiver.message({ jsonrpc: "2.0", id, error }, id);
  return true;
}

/** The meaning of an error response for the session: unaffected, certainly lost, or to be checked with a request of its own. */
export type SessionVerdict = "unaffected" | "lost" | "doubtful";

/**
 * Returns the meaning of an error response to request `id` for the session.
 * 404 means that the server did not process the request, because it does not know
 * the session (2025-11-25, session management), unless the body is an error under
 * the id of the request: the server processed it then. Servers built from
 * older SDK examples report an unknown session with 400 and a text about the session,
 * which an error of a tool can contain too.
 */
export function sessionVerdict(status: number, text: string, id: RpcId | undefined): SessionVerdict {
  if (status === 404) return id !== undefined && isErrorOf(text, id) ? "doubtful" : "lost";
  return status === 400 && /\bsession\b/i.test(text) ? "doubtful" : "unaffected";
}

/** Whether `text` is a JSON-RPC error under the id of our request. */
export function isErrorOf(text: string, id: RpcId): boolean {
  const message = messageIn(text);
  return isJsonObject(message?.["error"]) && isSameId(message["id"], id);
}

/** Whether a received id is that of our request. Some servers return a numeric id as a string. */
function isSameId(received: unknown, id: RpcId | undefined): boolean {
  return received === id || (typeof received === "string" && received === String(id));
}

/** Returns the JSON-RPC error that is the whole of `text`, if it is one. */
function errorIn(text: string): JsonObject | undefined {
  const error = messageIn(text)?.["error"];
  return isJsonObject(error) && typeof error["code"] === "number" ? error : undefined;
}

function messageIn(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    // Most error responses are not JSON.
    return undefined;
  }
}
