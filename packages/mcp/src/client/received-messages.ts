/** Messages in HTTP responses: parsed, delivered to the receiver, and matched with the request that they answer. */

import { messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import type { RpcId } from "../json-rpc.ts";
import type { TransportReceiver } from "./transport.ts";

/**
 * Delivers a message or a batch.
 *
 * @returns whether it contains the response to request `id`.
 */
export function deliver(receiver: TransportReceiver, value: JsonValue, id: RpcId | undefined): boolean {
  let isAnswer = false;
  for (const one of Array.isArray(value) ? value : [value]) {
    isAnswer ||= isJsonObject(one) && one["method"] === undefined && one["id"] === id;
    receiver.message(one, id);
  }
  return isAnswer;
}

/**
 * Delivers the data of an event. Invalid data is reported and skipped.
 *
 * @returns whether it contains the response to request `id`.
 */
export function deliverEvent(
  receiver: TransportReceiver,
  data: string,
  id: RpcId | undefined,
  maxLength: number,
): boolean {
  if (data === "") return false;
  let value: JsonValue;
  try {
    value = parseJson(data, { maxLength });
  } catch (error) {
    receiver.invalid(`an event: ${messageOf(error)}`);
    return false;
  }
  return deliver(receiver, value, id);
}

/** Delivers the body of an error response. @returns whether it is a JSON-RPC error, the response to `id`. */
export function deliverError(receiver: TransportReceiver, text: string, id: RpcId): boolean {
  const error = errorIn(text);
  if (error === undefined) return false;
  receiver.message({ jsonrpc: "2.0", id, error }, id);
  return true;
}

/**
 * Whether an error response means that the server does not know our session:
 * 404 (2025-11-25, session management), or 400 with a message about the session,
 * which servers built from older SDK examples send.
 */
export function isUnknownSession(status: number, text: string): boolean {
  if (status === 404) return true;
  if (status !== 400) return false;
  const message = errorIn(text)?.["message"];
  return typeof message === "string" && /\bsession\b/i.test(message);
}

/** Returns the JSON-RPC error that is the whole of `text`, if it is one. */
function errorIn(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    const error = isJsonObject(value) ? value["error"] : undefined;
    return isJsonObject(error) && typeof error["code"] === "number" ? error : undefined;
  } catch {
    // Most error responses are not JSON.
    return undefined;
  }
}
