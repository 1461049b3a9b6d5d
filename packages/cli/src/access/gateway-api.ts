/**
 * Requests to the JSON API of the running gateway. They are limited in time and
 * size, and never follow a redirect, because they carry a token.
 */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { CliError } from "../cli-error.ts";

/** Time limit of one response, in milliseconds. */
const responseTimeoutMs = 5000;
/** Longest response, in characters. */
const responseMaxLength = 64 * 1024 * 1024;

/** The address of a gateway and the token for it. */
export interface GatewayAddress {
  /** Base URL without a slash at the end. */
  readonly url: string;
  /** Bearer token; `undefined` for a gateway that requires none. */
  readonly token: string | undefined;
}

/**
 * Returns the response to `GET path`.
 *
 * @throws {CliError} `CLI_GATEWAY_UNUSABLE`; the signal's reason.
 */
export async function getFromGateway(
  { url, token }: GatewayAddress,
  path: string,
  signal: AbortSignal,
): Promise<JsonValue> {
  const timeout = AbortSignal.timeout(responseTimeoutMs);
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
      ? `it did not respond within ${responseTimeoutMs / 1000} s`
      : messageOf((cause as Error).cause ?? cause);
    throw unusable(url, reason, cause);
  }
  if (response.ok) return parseResponse(url, text);
  throw unusable(url, `it responded with HTTP ${response.status}${reasonIn(text)}`);
}

function parseResponse(url: string, text: string): JsonValue {
  try {
    return parseJson(text, { maxLength: responseMaxLength });
  } catch (cause) {
    throw unusable(url, isCodedError(cause) ? cause.message : "its response is not valid JSON", cause);
  }
}

/** Returns the message of an error response, `{ error: { message } }`. */
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
