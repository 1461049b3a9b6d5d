/**
 * One HTTP exchange of the client edge: errors coded, bodies bounded, event
 * streams decoded. Redirects are not followed: headers may hold credentials.
 */

import type { Dispatcher } from "undici";
import { mcpConnectionClosed, mcpMessageTooLarge, mcpUnauthorized, mcpUnreachable } from "../codes.ts";
import { createSseDecoder, type SseEvent } from "../framing/sse.ts";
import { McpError } from "../mcp-error.ts";

/** Body of a response. */
export type ResponseBody = Dispatcher.ResponseData["body"];

/** Read a body as text. @throws {McpError} `MCP_MESSAGE_TOO_LARGE` past `maxBytes`. */
export async function readText(body: ResponseBody, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += (chunk as Buffer).length;
    if (length > maxBytes) {
      body.destroy();
      throw new McpError(mcpMessageTooLarge, `The server's answer is larger than ${maxBytes} bytes`);
    }
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks, length).toString("utf8");
}

/** Read a body as events until it ends. @throws when the connection breaks. */
export async function readEvents(
  body: ResponseBody,
  maxLength: number,
  receiver: { event(event: SseEvent): void; retry?(milliseconds: number): void },
): Promise<void> {
  let isTooLarge = false;
  const decode = createSseDecoder({ ...receiver, tooLarge: () => (isTooLarge = true) }, maxLength);
  const text = new TextDecoder();
  for await (const chunk of body) {
    decode(text.decode(chunk as Buffer, { stream: true }));
    if (isTooLarge) {
      body.destroy();
      throw new McpError(mcpMessageTooLarge, `The server sent an event larger than ${maxLength} characters`);
    }
  }
}

/** The error that stands for an HTTP status of a server. */
export function statusError(status: number, url: string, text: string): McpError {
  const detail = text.trim() === "" ? "" : `: ${text.trim().slice(0, 200)}`;
  if (status === 401 || status === 403) {
    return new McpError(
      mcpUnauthorized,
      `The server at ${url} refused the credentials (HTTP ${status})${detail}`,
      {
        hint: "check the headers of this server's transport; values may be given with secret_key_ref",
        data: { status },
      },
    );
  }
  return new McpError(mcpUnreachable, `The server at ${url} answered HTTP ${status}${detail}`, {
    data: { status },
  });
}

/** The error that stands for a request that got no response. */
export function networkError(url: string, cause: unknown): McpError {
  if (cause instanceof McpError) return cause;
  const code = (cause as { code?: unknown }).code;
  const reason = typeof code === "string" ? code : cause instanceof Error ? cause.message : String(cause);
  const isDown = code === "ECONNREFUSED" || code === "ENOTFOUND";
  return new McpError(
    code === "UND_ERR_SOCKET" || code === "ECONNRESET" ? mcpConnectionClosed : mcpUnreachable,
    `The server at ${url} cannot be reached: ${reason}`,
    { cause, hint: isDown ? "check that it runs and that the URL is right" : undefined },
  );
}

/** A URL as it may be shown: without user information, query and fragment. */
export function displayUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
