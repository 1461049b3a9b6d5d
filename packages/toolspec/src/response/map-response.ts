/**
 * Maps an HTTP response to the result of a tool. Pure: status, headers and bytes
 * in, content out. Long text is cut, a failed request becomes an error result,
 * and binary content is described and, when small, included.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { encodeBase64 } from "../base64.ts";
import type { ToolspecTool } from "../spec/toolspec.ts";
import { cutText } from "./cut-text.ts";
import { decodeBody } from "./decode-body.ts";
import { type RateLimit, rateLimitOf } from "./rate-limit.ts";
import { statusLine } from "./reason-phrase.ts";
import { selectResponse } from "./select-response.ts";

/** A received response. */
export interface HttpResponse {
  readonly status: number;
  /** Header names in any case. */
  readonly headers: { readonly [name: string]: string | undefined };
  /** The body, decompressed. */
  readonly body: Uint8Array;
  /** Length of the whole body in bytes, when `body` is only its beginning. @default body.length */
  readonly totalBytes?: number;
}

/** Options of `mapResponse`. */
export interface MapResponseOptions {
  /** Maximum number of bytes of text; `response.maxBytes` of the tool takes precedence. @default 102,400 */
  readonly textMaxBytes?: number;
  /** Maximum number of bytes of binary content that is included; larger content is described. @default 65,536 */
  readonly binaryMaxBytes?: number;
  /** URI of the resource that contains binary content. @default "toolspec:response" */
  readonly uri?: string;
  /** Evaluates JSONPath (RFC 9535); required for tools with `response.select` or `response.fields`. */
  readonly select?: SelectJson;
}

/** Returns the values that a JSONPath selects, in order. */
export type SelectJson = (path: string, value: JsonValue) => readonly JsonValue[];

/** The result of a tool (MCP `CallToolResult`), and facts for the engine. */
export interface MappedResponse {
  readonly result: {
    readonly content: readonly (JsonObject & { readonly type: string })[];
    readonly structuredContent?: JsonValue;
    readonly isError?: boolean;
  };
  readonly rateLimit: RateLimit | undefined;
}

/** Maximum number of bytes of the body in an error. */
const errorBodyMaxBytes = 2048;

/**
 * Returns the result of a call of `tool` for `response`: the body as text, and
 * JSON also as `structuredContent` unless the text was cut. A status other than
 * 2xx gives an error that begins with `HTTP 404 Not Found: `. A GraphQL response
 * with errors and no data is an error too.
 */
export function mapResponse(
  tool: ToolspecTool,
  response: HttpResponse,
  options: MapResponseOptions = {},
): MappedResponse {
  const headers = new Map(
    Object.entries(response.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), value] as const],
    ),
  );
  const rateLimit = rateLimitOf(headers);
  const isDone = response.status >= 200 && response.status <= 299;
  const result = isDone
    ? doneResult(tool, response, headers.get("content-type"), options)
    : failedResult(response, headers, rateLimit);
  return { result, rateLimit };
}

function textContent(text: string): JsonObject & { readonly type: string } {
  return { type: "text", text };
}

function doneResult(
  tool: ToolspecTool,
  response: HttpResponse,
  contentType: string | undefined,
  options: MapResponseOptions,
): MappedResponse["result"] {
  const decoded = decodeBody(contentType, response.body);
  if (decoded.kind === "empty") return { content: [textContent(statusLine(response.status))] };
  if (decoded.kind === "binary") return binaryResult(decoded.mediaType, response, options);
  const { response: selection = {} } = tool;
  // An error is returned whole, without selection.
  const failure = isGraphqlFailure(tool.path, decoded.json) ? { isError: true } : undefined;
  const isSelected =
    (selection.select !== undefined || selection.fields !== undefined) &&
    decoded.json !== undefined &&
    options.select !== undefined &&
    failure === undefined;
  const json = isSelected ? selectResponse(decoded.json, selection, options.select) : decoded.json;
  const text = isSelected ? JSON.stringify(json) : decoded.text;
  const maxBytes = tool.response?.maxBytes ?? options.textMaxBytes ?? 102_400;
  const shown = cutText(text, maxBytes);
  // A body that was cut in transit is longer than the bytes here.
  const cutBefore = isSelected ? 0 : Math.max(0, (response.totalBytes ?? 0) - response.body.length);
  const totalBytes = shown.totalBytes + cutBefore;
  if (shown.shownBytes === totalBytes) {
    const structured = json === undefined ? {} : { structuredContent: json };
    return { content: [textContent(text)], ...structured, ...failure };
  }
  const note = `[truncated: showing ${shown.shownBytes} of ${totalBytes} bytes]`;
  return { content: [textContent(`${shown.text}\n${note}`)], ...failure };
}

/** Whether a GraphQL service returns errors and no data, which it also does with status 200. */
function isGraphqlFailure(path: string, json: JsonValue | undefined): boolean {
  if (!/\/graphql(?:\.json)?$/.test(path) || !isJsonObject(json)) return false;
  const { errors, data } = json;
  if (!Array.isArray(errors) || errors.length === 0) return false;
  return !isJsonObject(data) || Object.values(data).every((value) => value === null);
}

function binaryResult(
  mediaType: string,
  { body, totalBytes = body.length }: HttpResponse,
  options: MapResponseOptions,
): MappedResponse["result"] {
  const note = textContent(`${mediaType}, ${totalBytes} bytes`);
  const isWhole = totalBytes <= body.length && body.length <= (options.binaryMaxBytes ?? 65_536);
  if (!isWhole) return { content: [note] };
  const blob = encodeBase64(body);
  const uri = options.uri ?? "toolspec:response";
  return { content: [note, { type: "resource", resource: { uri, mimeType: mediaType, blob } }] };
}

function failedResult(
  response: HttpResponse,
  headers: ReadonlyMap<string, string>,
  rateLimit: RateLimit | undefined,
): MappedResponse["result"] {
  const decoded = decodeBody(headers.get("content-type"), response.body);
  const location = headers.get("location");
  const details: string[] = [];
  if (response.status >= 300 && response.status <= 399 && location !== undefined)
    details.push(
      `the redirect to ${cutText(withoutQuery(location), errorBodyMaxBytes).text} was not followed`,
    );
  else if (decoded.kind === "text") details.push(cutText(decoded.text, errorBodyMaxBytes).text);
  else if (decoded.kind === "binary") details.push(`${decoded.mediaType}, ${response.body.length} bytes`);
  const line = [statusLine(response.status), ...details].join(": ");
  const wait = rateLimit?.retryAfterMs;
  const note = wait === undefined ? "" : `\n[retry after ${Math.ceil(wait / 1000)} s]`;
  return { content: [textContent(`${line}${note}`)], isError: true };
}

/** Returns a URL without query, fragment and user information: signed URLs contain their key there. */
function withoutQuery(location: string): string {
  return location.replace(/[?#][\s\S]*$/, "").replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/]*@/i, "$1//");
}
