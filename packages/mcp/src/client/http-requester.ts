/**
 * HTTP requests of one MCP session to one URL: credentials, the session id, the
 * protocol version, and time limits.
 */

import type { Dispatcher } from "undici";
import { eraOf } from "../protocol.ts";
import { type CredentialProvider, withCredentials } from "./credentials.ts";
import { displayUrl } from "./http-request.ts";

export class HttpRequester {
  /** The URL for error messages. */
  readonly shownUrl: string;
  /** The session that the server assigned, if any. */
  sessionId: string | undefined;
  /** The negotiated protocol version; undefined before the end of the handshake. */
  version: string | undefined;
  readonly #dispatcher: Dispatcher;
  readonly #url: string;
  readonly #origin: string;
  readonly #path: string;
  readonly #credentials: CredentialProvider | undefined;

  constructor(dispatcher: Dispatcher, url: string, credentials: CredentialProvider | undefined) {
    const { origin, pathname, search } = new URL(url);
    this.shownUrl = displayUrl(url);
    this.#dispatcher = dispatcher;
    this.#url = url;
    this.#origin = origin;
    this.#path = `${pathname}${search}`;
    this.#credentials = credentials;
  }

  /** Whether the server belongs to the legacy era, or is not known to belong to the modern one. */
  get isLegacy(): boolean {
    return this.version === undefined || eraOf(this.version) === "legacy";
  }

  /** Sends a request. @param extra headers in addition to those of every request. */
  send(
    method: "GET" | "POST" | "DELETE",
    extra: { readonly [name: string]: string },
    signal: AbortSignal,
    body?: string,
  ): Promise<Dispatcher.ResponseData> {
    const { sessionId, version } = this;
    return withCredentials(this.#credentials, { url: this.#url, signal }, this.shownUrl, (credentials) =>
      this.#dispatcher.request({
        origin: this.#origin,
        path: this.#path,
        method,
        headers: {
          ...credentials,
          accept: "application/json, text/event-stream",
          ...(sessionId === undefined ? undefined : { "mcp-session-id": sessionId }),
          ...(version === undefined ? undefined : { "mcp-protocol-version": version }),
          ...extra,
        },
        body,
        signal,
        // The deadline of the caller ends a call; these limits would only end a slow one.
        headersTimeout: 0,
        bodyTimeout: 0,
      }),
    );
  }
}
