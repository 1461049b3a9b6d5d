/**
 * Parts of one HTTP exchange of the client side: error codes, size limits, and
 * decoding of event streams.
 */

import type { Readable } from "node:stream";
import { cutText } from "@toolcrib/diagnostics";
import { type SseCallbacks, SseDecoder, type SseEvent } from "../framing/sse.ts";
import { McpError } from "../mcp-error.ts";
import { remoteErrorIn } from "../remote-error.ts";
import { type FloodMeter, waitForFlood } from "./flood-gate.ts";
import type { HeldResponse, ReadBudget } from "./read-budget.ts";

/** Header values of a response by lower-case name. */
interface ResponseHeaders {
  readonly [name: string]: string | string[] | undefined;
}

/**
 * Reads a body as text, without a byte order mark.
 *
 * @param held counts what was read. @default it is not counted
 * @throws {McpError} `MCP_MESSAGE_TOO_LARGE` past `maxBytes`.
 */
export async function readText(body: Readable, maxBytes: number, held?: HeldResponse): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  await held?.holds(0);
  for await (const chunk of body) {
    length += (chunk as Buffer).length;
    if (length > maxBytes) {
      body.destroy();
      throw new McpError("MCP_MESSAGE_TOO_LARGE", `The server's answer is larger than ${maxBytes} bytes`);
    }
    chunks.push(chunk as Buffer);
    await held?.holds(length);
  }
  return withoutMark(Buffer.concat(chunks, length).toString("utf8"));
}

/** Maximum number of bytes of an error response that are read. @limit server */
const errorBodyMaxBytes = 1024 * 1024;

/** Reads the body of an error response up to a limit. Returns the received part of a body that breaks off. */
export async function readErrorBody(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > errorBodyMaxBytes) break;
    }
  } catch {
    // The status is enough to report the error.
  }
  return withoutMark(Buffer.concat(chunks).toString("utf8", 0, errorBodyMaxBytes));
}

/** Removes a byte order mark, which some servers send before JSON. */
function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Limits of the events of one server. */
export interface EventLimits {
  /** Largest event in characters. */
  readonly maxLength: number;
  /** Counts messages that answer no request, on all streams of the server. @default they are not limited */
  readonly flood: FloodMeter | undefined;
  /** Counts events that have not ended, on all streams of the server. @default they are not counted */
  readonly budget?: ReadBudget | undefined;
}

/** Reads a body as events until it ends, and slowly when the server sends too many. @throws when the connection breaks. */
export async function readEvents(
  body: Readable,
  { maxLength, flood, budget }: EventLimits,
  callbacks: Omit<SseCallbacks, "tooLarge">,
): Promise<void> {
  /** Bytes since the last event. */
  let unused = 0;
  let isTooLarge = false;
  const tooLarge = () => {
    isTooLarge = true;
  };
  const event = (received: SseEvent) => {
    unused = 0;
    callbacks.event(received);
  };
  const decoder = new SseDecoder({ ...callbacks, event, tooLarge }, maxLength);
  // The event decoder strips the byte order mark.
  const text = new TextDecoder("utf-8", { ignoreBOM: true });
  using held = budget?.begin(body);
  for await (const chunk of body) {
    unused += (chunk as Buffer).length;
    decoder.write(text.decode(chunk as Buffer, { stream: true }));
    if (isTooLarge) {
      body.destroy();
      throw new McpError(
        "MCP_MESSAGE_TOO_LARGE",
        `The server sent an event larger than ${maxLength} characters`,
      );
    }
    await held?.holds(decoder.length);
    if (flood === undefined) continue;
    // More than the largest event needs are comments, which say nothing.
    if (unused > 4 * maxLength) {
      flood.spend(unused);
      unused = 0;
    }
    await waitForFlood(flood, body);
  }
}

/** Whether a response is an event stream. */
export function isEventStream(headers: ResponseHeaders): boolean {
  return /^text\/event-stream\s*(;|$)/i.test(String(headers["content-type"] ?? ""));
}

/** Longest `Retry-After` that is reported: one day. @limit server */
const retryAfterMaxMs = 86_400_000;

/** Returns the milliseconds that `Retry-After` asks to wait; a date counts from the `Date` of the response. */
export function retryAfterOf(headers: ResponseHeaders): number | undefined {
  const value = headers["retry-after"];
  if (typeof value !== "string") return undefined;
  const waitMs = /^\d{1,9}$/.test(value)
    ? Number(value) * 1000
    : Date.parse(value) - Date.parse(String(headers["date"]));
  return Number.isNaN(waitMs) ? undefined : Math.max(0, Math.min(waitMs, retryAfterMaxMs));
}

/** The facts for errors about responses. */
export interface ErrorContext {
  /** The URL for error messages. */
  readonly shownUrl: string;
  /** Removes secrets from a text of the server before it is cut. @default it has none */
  readonly scrub: ((text: string) => string) | undefined;
}

/**
 * Creates the error for the status of a response. `data.retryAfterMs` has the wait that the server asks for; `cause` is
 * the error of JSON-RPC in the body.
 */
export function statusError(
  { statusCode: status, headers }: { readonly statusCode: number; readonly headers: ResponseHeaders },
  { shownUrl: url, scrub }: ErrorContext,
  text: string,
): McpError {
  const toLine = (given: string) => given.replace(/[\s\p{Cc}]+/gu, " ").trim();
  const shown = toLine(cutText(text, 200, (given) => toLine(scrub?.(given) ?? given)));
  const retryAfterMs = retryAfterOf(headers);
  const wait = retryAfterMs === undefined ? "" : `, and asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
  const detail = `${wait}${shown === "" ? "" : `: ${shown}`}`;
  if (status === 401 || status === 403) {
    const usesOAuth = /\bresource_metadata *=/i.test(String(headers["www-authenticate"] ?? ""));
    return new McpError(
      "MCP_UNAUTHORIZED",
      `The server at ${url} refused the credentials (HTTP ${status})${detail}`,
      {
        hint: usesOAuth
          ? "it uses OAuth: write auth: { type: oauth } in this server's transport, and run toolcrib login"
          : "check the headers of this server's transport; values may be given with secret_key_ref",
        data: usesOAuth ? { status, usesOAuth } : { status },
      },
    );
  }
  return new McpError("MCP_HTTP_ERROR", `The server at ${url} answered HTTP ${status}${detail}`, {
    data: retryAfterMs === undefined ? { status } : { status, retryAfterMs },
    cause: remoteErrorIn(text, scrub),
    hint: statusHint(status),
  });
}

function statusHint(status: number): string | undefined {
  if (status === 404 || status === 405)
    return "check the URL, and whether the server speaks this transport (streamable_http or sse)";
  return status >= 300 && status < 400
    ? "only redirects within the origin are followed; use the final URL"
    : undefined;
}

/**
 * Creates the error for a request that got no complete response: `MCP_UNREACHABLE` only
 * if the request certainly was not sent, `MCP_CONNECTION_CLOSED` for every other failure.
 * Returns an `McpError` unchanged.
 */
export function networkError(url: string, cause: unknown): McpError {
  if (cause instanceof McpError) return cause;
  const { code } = cause as { readonly code?: unknown };
  const reason = typeof code === "string" ? code : cause instanceof Error ? cause.message : String(cause);
  if (!wasNeverSent(cause)) {
    const text = `The connection to the server at ${url} broke: ${reason}`;
    return new McpError("MCP_CONNECTION_CLOSED", text, { cause });
  }
  const isDown = code === "ECONNREFUSED" || code === "ENOTFOUND";
  return new McpError("MCP_UNREACHABLE", `The server at ${url} cannot be reached: ${reason}`, {
    cause,
    hint: isDown ? "check that it runs and that the URL is right" : undefined,
  });
}

/** Whether a failure happened before the request was sent: no connection, or a certificate that is not valid. */
function wasNeverSent(cause: unknown): boolean {
  const { code, syscall, errors } = cause as {
    readonly code?: unknown;
    readonly syscall?: unknown;
    readonly errors?: unknown;
  };
  // One error for each address of a name.
  if (Array.isArray(errors)) return errors.every(wasNeverSent);
  if (syscall === "connect" || syscall === "getaddrinfo") return true;
  return typeof code === "string" && unsentCodes.test(code);
}

/** Codes of errors while connecting: limits and arguments of undici, and certificates (OpenSSL, node:tls). */
const unsentCodes =
  /^(ECONNREFUSED|ENOTFOUND|UND_ERR_CONNECT_TIMEOUT|UND_ERR_INVALID_ARG|CERT_\w+|UNABLE_TO_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|HOSTNAME_MISMATCH|ERR_TLS_CERT_\w+)$/;

/** Returns a URL for display: without user information, query and fragment. */
export function displayUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
