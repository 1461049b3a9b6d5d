/**
 * Requests to the JSON API of the running gateway. They use its control
 * socket, which needs no token, and are limited in time and size.
 */

import { existsSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import { CodedError, isCodedError, messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { CliError } from "../cli-error.ts";

// An `import` reads every export of the module, and `WebSocket` alone loads Node's whole fetch.
const { request } = createRequire(import.meta.url)("node:http") as typeof import("node:http");

/** Time limit of one response, in milliseconds. */
const responseTimeoutMs = 5000;
/** Time limit of a list of tools, in milliseconds: it can wait for starting servers (`serve.list_wait_seconds`, at most 60). */
export const listTimeoutMs = 65_000;
/** Longest response, in characters. */
const responseMaxLength = 64 * 1024 * 1024;

/** The addresses of a running gateway. */
export interface GatewayAddress {
  /** Base URL without a slash at the end, for messages. */
  readonly url: string;
  /** Path of the control socket; `undefined` for a gateway of an earlier version. */
  readonly controlPath: string | undefined;
}

/** The origin of URLs on the control socket. */
export const controlOrigin = "http://localhost";

/**
 * Returns the path of the control socket.
 *
 * @throws {CliError} `CLI_GATEWAY_UNUSABLE` when the gateway has none.
 */
export function controlPathOf({ url, controlPath }: GatewayAddress): string {
  if (controlPath === undefined) throw withoutSocket(url, "it has no control socket");
  if (!controlPath.startsWith("\\\\") && !existsSync(controlPath)) {
    throw withoutSocket(url, `its control socket "${controlPath}" is missing`);
  }
  return controlPath;
}

/**
 * Returns the response to `GET path`.
 *
 * @throws {CliError} `CLI_GATEWAY_UNUSABLE`; the signal's reason.
 */
export function getFromGateway(
  address: GatewayAddress,
  path: string,
  signal: AbortSignal,
  timeoutMs: number = responseTimeoutMs,
): Promise<JsonValue> {
  return requestGateway(address, { method: "GET", path, timeoutMs }, signal);
}

/** Returns the response to `POST path` without a body. @throws {CliError} what `getFromGateway` throws. */
export function postToGateway(
  address: GatewayAddress,
  path: string,
  signal: AbortSignal,
): Promise<JsonValue> {
  return requestGateway(address, { method: "POST", path, timeoutMs: responseTimeoutMs }, signal);
}

async function requestGateway(
  address: GatewayAddress,
  { method, path, timeoutMs }: { readonly method: string; readonly path: string; readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<JsonValue> {
  const { url } = address;
  const socketPath = controlPathOf(address);
  const timeout = AbortSignal.timeout(timeoutMs);
  let status: number;
  let text: string;
  try {
    const response = await send(method, socketPath, path, AbortSignal.any([signal, timeout]));
    status = response.statusCode ?? 0;
    text = await readText(response);
  } catch (cause) {
    signal.throwIfAborted();
    const reason = timeout.aborted ? `it did not respond within ${timeoutMs / 1000} s` : messageOf(cause);
    throw unusable(url, reason, cause);
  }
  if (status === 200) return parseResponse(url, text);
  const refusal = status === 409 ? refusalIn(text) : undefined;
  if (refusal !== undefined) throw refusal;
  throw unusable(url, `it responded with HTTP ${status}${reasonIn(text)}`);
}

function send(
  method: string,
  socketPath: string,
  path: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { accept: "application/json" };
    request({ method, socketPath, path, headers, signal, agent: false }, resolve).once("error", reject).end();
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = "";
  response.setEncoding("utf8");
  for await (const chunk of response) {
    text += chunk as string;
    if (text.length > responseMaxLength) throw new Error("its response is too long");
  }
  return text;
}

function parseResponse(url: string, text: string): JsonValue {
  try {
    return parseJson(text, { maxLength: responseMaxLength });
  } catch (cause) {
    throw unusable(url, isCodedError(cause) ? cause.message : "its response is not valid JSON", cause);
  }
}

/** Returns the coded error of a response to a request that the state of the gateway does not allow. */
function refusalIn(text: string): CodedError | undefined {
  const value = parseJson(text);
  const error = isJsonObject(value) && isJsonObject(value["error"]) ? value["error"] : {};
  const { message, data } = error;
  const { code, hint } = isJsonObject(data) ? data : {};
  if (typeof message !== "string" || typeof code !== "string") return undefined;
  if (typeof hint !== "string") return new CodedError(code, message);
  // On the wire, the message ends with the hint.
  const ending = ` (${hint})`;
  return new CodedError(code, message.endsWith(ending) ? message.slice(0, -ending.length) : message, {
    hint,
  });
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

function withoutSocket(url: string, reason: string): CliError {
  return new CliError("CLI_GATEWAY_UNUSABLE", `The gateway at ${url} cannot be used: ${reason}`, {
    hint: "restart the gateway with this version of toolcrib, or use the configuration without it: --config FILE",
  });
}
