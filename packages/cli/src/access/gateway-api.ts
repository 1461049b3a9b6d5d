/**
 * The small JSON API of the running gateway. Bounded in time and size; never
 * follows a redirect, because its requests carry a token.
 */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { CliError } from "../cli-error.ts";

/** Milliseconds for one answer. */
const answerTimeoutMs = 5000;
/** Longest answer in characters. */
const answerMaxLength = 64 * 1024 * 1024;

/** Where and as whom to ask. */
export interface GatewayAddress {
  /** Base URL without a slash at the end. */
  readonly url: string;
  /** Bearer token; `undefined` for a gateway that asks for none. */
  readonly token: string | undefined;
}

/**
 * The answer to `GET path`.
 *
 * @throws {CliError} `CLI_GATEWAY_UNUSABLE`; the signal's reason.
 */
export async function getFromGateway(
  { url, token }: GatewayAddress,
  path: string,
  signal: AbortSignal,
): Promise<JsonValue> {
  const timeout = AbortSignal.timeout(answerTimeoutMs);
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${url}${path}`, {
      headers: {
        accept: "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      redirect: "error",
      signal: AbortSignal.any([signal, timeout]),
    });
    text = await response.text();
  } catch (cause) {
    signal.throwIfAborted();
    const reason = timeout.aborted
      ? `it did not answer within ${answerTimeoutMs / 1000} s`
      : messageOf((cause as Error).cause ?? cause);
    throw unusable(url, reason, cause);
  }
  if (response.ok) return parseAnswer(url, text);
  throw unusable(url, `it answered HTTP ${response.status}${reasonIn(text)}`);
}

function parseAnswer(url: string, text: string): JsonValue {
  try {
    return parseJson(text, { maxLength: answerMaxLength });
  } catch (cause) {
    throw unusable(url, isCodedError(cause) ? cause.message : "its answer cannot be read", cause);
  }
}

/** The message of a refusal, which is `{ error: { message } }`. */
function reasonIn(text: string): string {
  try {
    const value = parseJson(text);
    const error = isJsonObject(value) ? value["error"] : undefined;
    const message = isJsonObject(error) ? error["message"] : undefined;
    return typeof message === "string" ? `: ${message}` : "";
  } catch {
    return "";
  }
}

function unusable(url: string, reason: string, cause?: unknown): CliError {
  return new CliError("CLI_GATEWAY_UNUSABLE", `The gateway at ${url} cannot be used: ${reason}`, {
    cause,
    hint: "see toolcrib doctor, or use the configuration without it: --config FILE",
  });
}
