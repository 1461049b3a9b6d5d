/**
 * HTTP requests of one MCP session to one URL: credentials, the session id, the
 * protocol version, redirects within the origin, and decoding of responses.
 */

import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { McpError } from "../mcp-error.ts";
import { eraOf } from "../protocol.ts";
import { acceptedCodings, decodeBody } from "./content-decoding.ts";
import { type CredentialProvider, type HeaderRecord, mayRepeat, withCredentials } from "./credentials.ts";
import type { HttpConnections } from "./http-client.ts";
import { displayUrl, type ErrorContext } from "./http-request.ts";
import { redirectTarget } from "./redirect.ts";

/** A response; its body is decoded. */
export interface HttpResponse {
  readonly statusCode: number;
  /** By lower-case name. */
  readonly headers: Dispatcher.ResponseData["headers"];
  readonly body: Readable;
}

/** Longest session id in characters. @limit server */
const sessionIdMaxLength = 8192;

/** Maximum number of redirects of one request. @limit server */
const maxRedirects = 5;

export class HttpRequester implements ErrorContext {
  readonly shownUrl: string;
  readonly scrub: ErrorContext["scrub"];
  /** The session that the server assigned, if any. */
  sessionId: string | undefined;
  /** The negotiated protocol version; undefined before the end of the handshake. */
  version: string | undefined;
  readonly #connections: HttpConnections;
  readonly #url: URL;
  readonly #href: string;
  readonly #origin: string;
  readonly #path: string;
  readonly #credentials: CredentialProvider | undefined;

  constructor(
    connections: HttpConnections,
    url: string,
    {
      credentials,
      scrub,
    }: { readonly credentials?: CredentialProvider; readonly scrub?: ErrorContext["scrub"] },
  ) {
    this.shownUrl = displayUrl(url);
    this.scrub = scrub;
    this.#connections = connections;
    this.#url = new URL(url);
    this.#href = url;
    this.#origin = this.#url.origin;
    this.#path = `${this.#url.pathname}${this.#url.search}`;
    this.#credentials = credentials;
  }

  /** Whether the server belongs to the legacy era, or is not known to belong to the modern one. */
  get isLegacy(): boolean {
    return this.version === undefined || eraOf(this.version) === "legacy";
  }

  /** Sends a message. @param options `isStream` for a response that stays open */
  post(
    body: string | Buffer,
    extra: HeaderRecord | undefined,
    signal: AbortSignal,
    options: { readonly isStream: boolean } = { isStream: false },
  ): Promise<HttpResponse> {
    return this.#send({ method: "POST", extra, signal, body, isStream: options.isStream });
  }

  /** Opens an event stream. */
  openStream(extra: HeaderRecord, signal: AbortSignal): Promise<HttpResponse> {
    return this.#send({ method: "GET", extra, signal, body: undefined, isStream: true });
  }

  /** Ends the session at the server. */
  endSession(signal: AbortSignal): Promise<HttpResponse> {
    return this.#send({ method: "DELETE", extra: undefined, signal, body: undefined, isStream: false });
  }

  /** Uses the session id of `response` from now on, if it has one. @throws {McpError} `MCP_MESSAGE_TOO_LARGE` */
  adoptSession({ headers }: HttpResponse): void {
    const given = headers["mcp-session-id"];
    if (given === undefined || given === "" || given === this.sessionId) return;
    const id = String(given);
    if (id.length > sessionIdMaxLength) {
      const text = `The session id of the server at ${this.shownUrl} has ${id.length} characters`;
      throw new McpError("MCP_MESSAGE_TOO_LARGE", `${text}; at most ${sessionIdMaxLength} are allowed`);
    }
    this.sessionId = id;
  }

  #send(exchange: HttpExchange): Promise<HttpResponse> {
    const sent = this.#sendOnce(exchange);
    return this.#credentials?.refused === undefined
      ? sent.then(({ response }) => response)
      : this.#repeated(sent, exchange);
  }

  /** Sends the request again if its credentials were refused, and there are others. */
  async #repeated(
    sent: Promise<{ readonly response: HttpResponse; readonly credentials: HeaderRecord }>,
    exchange: HttpExchange,
  ): Promise<HttpResponse> {
    const { response, credentials: headers } = await sent;
    const { statusCode: status } = response;
    if (status !== 401 && status !== 403) return response;
    const refusal = {
      status,
      challenge: response.headers["www-authenticate"],
      headers,
      signal: exchange.signal,
    };
    let isRepeated: boolean;
    try {
      isRepeated = await mayRepeat(this.#credentials, refusal, this.shownUrl);
    } catch (error) {
      await discardBody(response.body).catch(() => {});
      throw error;
    }
    if (!isRepeated) return response;
    await discardBody(response.body);
    return (await this.#sendOnce(exchange)).response;
  }

  #sendOnce(
    exchange: HttpExchange,
  ): Promise<{ readonly response: HttpResponse; readonly credentials: HeaderRecord }> {
    const { sessionId, version } = this;
    const { signal, extra } = exchange;
    return withCredentials(this.#credentials, { url: this.#href, signal }, this.shownUrl, (credentials) => {
      const headers = {
        ...credentials,
        ...headersOf[exchange.method],
        ...(sessionId === undefined ? undefined : { "mcp-session-id": sessionId }),
        ...(version === undefined ? undefined : { "mcp-protocol-version": version }),
        ...extra,
      };
      return this.#dispatch(this.#url, exchange, headers)
        .then((response) =>
          response.statusCode < 300 || response.statusCode >= 400
            ? decoded(response)
            : this.#redirected(response, exchange, headers),
        )
        .then((response) => ({ response, credentials }));
    });
  }

  /** Follows the redirects within the origin that begin with `first`. */
  async #redirected(
    first: Dispatcher.ResponseData,
    exchange: HttpExchange,
    headers: HeaderRecord,
  ): Promise<HttpResponse> {
    let response = first;
    let url = this.#url;
    for (let followed = 0; followed < maxRedirects; followed += 1) {
      const target = redirectTarget(response, exchange.method, url);
      if (target === undefined) break;
      await response.body.dump();
      url = target;
      response = await this.#dispatch(url, exchange, headers);
    }
    return decoded(response);
  }

  #dispatch(url: URL, exchange: HttpExchange, headers: HeaderRecord): Promise<Dispatcher.ResponseData> {
    const { method, signal, body, isStream } = exchange;
    const dispatcher = isStream ? this.#connections.streams : this.#connections.calls;
    return dispatcher.request({
      origin: url === this.#url ? this.#origin : url.origin,
      path: url === this.#url ? this.#path : `${url.pathname}${url.search}`,
      method,
      headers,
      body,
      signal,
      // The deadline of the caller ends a call; these limits would only end a slow one.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }
}

interface HttpExchange {
  readonly method: "GET" | "POST" | "DELETE";
  /** Headers in addition to those of every request. */
  readonly extra: HeaderRecord | undefined;
  readonly signal: AbortSignal;
  readonly body: string | Buffer | undefined;
  readonly isStream: boolean;
}

/** Headers of every request with a method. */
const headersOf = {
  POST: {
    accept: "application/json, text/event-stream",
    "accept-encoding": acceptedCodings,
    "content-type": "application/json",
  },
  GET: { accept: "text/event-stream" },
  DELETE: { accept: "application/json, text/event-stream" },
} as const;

function decoded(response: Dispatcher.ResponseData): HttpResponse {
  const { "content-encoding": coding } = response.headers;
  if (coding === undefined) return response;
  const { statusCode, headers, body } = response;
  return { statusCode, headers, body: decodeBody(body, String(coding)) };
}

/** Reads the rest of a body of little use, so that its connection can be used again; a large one ends the connection. */
export async function discardBody(body: Readable): Promise<void> {
  if ("dump" in body && typeof body.dump === "function") await body.dump();
  else body.on("error", () => {}).destroy();
}
