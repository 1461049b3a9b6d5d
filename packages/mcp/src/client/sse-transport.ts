/**
 * The legacy HTTP+SSE transport on the client side (2024-11-05): one GET stream
 * for all received messages, and POSTs to the URL that its first event names.
 * That URL must have the same origin as the stream, because credentials are
 * sent to it.
 */

import type { Readable } from "node:stream";
import type { SseEvent } from "../framing/sse.ts";
import type { RpcMessage } from "../json-rpc.ts";
import { McpError } from "../mcp-error.ts";
import type { CredentialProvider } from "./credentials.ts";
import { FloodMeter } from "./flood-gate.ts";
import type { HttpClient, HttpConnections, NetworkSettings } from "./http-client.ts";
import {
  displayUrl,
  type EventLimits,
  isEventStream,
  networkError,
  readErrorBody,
  readEvents,
  statusError,
} from "./http-request.ts";
import { discardBody, HttpRequester } from "./http-requester.ts";
import { defaultMessageMaxBytes } from "./lost-answer.ts";
import { deliverError, deliverEvent, isErrorOf } from "./received-messages.ts";
import type { ClientTransport, TransportReceiver } from "./transport.ts";

/** Options of `SseTransport`. */
export interface SseTransportOptions {
  readonly url: string;
  /** Returns the headers that authenticate each request. @default none */
  readonly credentials?: CredentialProvider;
  /** The network path to the server. @default a direct connection */
  readonly network?: NetworkSettings;
  /** Largest event in characters. @default 33,554,432 */
  readonly messageMaxBytes?: number;
  /** Milliseconds since the epoch, to slow down a server that sends without end. @default it is not slowed down */
  readonly now?: () => number;
  /** Removes secrets from a text of the server before it is cut. @default it has none */
  readonly scrub?: ((text: string) => string) | undefined;
}

/** Connects to a server over HTTP+SSE. */
export class SseTransport implements ClientTransport {
  readonly kind = "sse";
  readonly #connections: HttpConnections;
  readonly #base: URL;
  readonly #shownUrl: string;
  readonly #options: Pick<SseTransportOptions, "credentials" | "scrub">;
  readonly #limits: EventLimits;
  readonly #closing = new AbortController();
  #receiver: TransportReceiver | undefined;
  /** Sends POSTs; undefined until the server has named their URL. */
  #endpoint: HttpRequester | undefined;
  #isClosed = false;

  constructor(client: HttpClient, options: SseTransportOptions) {
    this.#connections = client.connect(options.network);
    this.#base = new URL(options.url);
    this.#shownUrl = displayUrl(options.url);
    this.#options = options;
    this.#limits = {
      maxLength: options.messageMaxBytes ?? defaultMessageMaxBytes,
      flood: options.now && new FloodMeter(options.now, () => this.#receiver?.slowed?.()),
    };
  }

  async open(receiver: TransportReceiver, signal: AbortSignal): Promise<void> {
    this.#receiver = receiver;
    const body = await this.#openStream(signal);
    const opened = Promise.withResolvers<void>();
    void this.#follow(body, opened.resolve)
      .then(
        () => undefined,
        (cause: unknown) => cause,
      )
      .then((cause) => {
        const text = `The stream of the server at ${this.#shownUrl} ended`;
        const error =
          cause instanceof McpError ? cause : new McpError("MCP_CONNECTION_CLOSED", text, { cause });
        opened.reject(signal.aborted ? signal.reason : error);
        this.#end(error);
      });
    await opened.promise;
  }

  send(message: RpcMessage): void {
    if (this.#endpoint !== undefined && !this.#isClosed) void this.#post(message, this.#endpoint);
  }

  negotiated(version: string): void {
    if (this.#endpoint !== undefined) this.#endpoint.version = version;
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#closing.abort(new McpError("MCP_CONNECTION_CLOSED", "The connection was closed"));
    }
    await this.#connections.close();
  }

  #end(error: McpError): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#closing.abort(error);
    this.#receiver?.closed(error);
  }

  async #openStream(signal: AbortSignal): Promise<Readable> {
    const opening = AbortSignal.any([signal, this.#closing.signal]);
    const requester = this.#requesterTo(this.#base);
    const response = await requester.openStream({}, opening).catch((cause: unknown) => {
      if (signal.aborted) throw signal.reason;
      throw networkError(this.#shownUrl, cause);
    });
    const { statusCode, headers, body } = response;
    if (statusCode !== 200) throw statusError(response, requester, await readErrorBody(body));
    if (isEventStream(headers)) return body;
    body.destroy();
    const type = String(headers["content-type"] ?? "no content type");
    const text = `The server at ${this.#shownUrl} answered with "${type}", not a stream`;
    throw new McpError("MCP_UNREACHABLE", text, {
      hint: "check the URL, and whether the server speaks this transport (sse or streamable_http)",
    });
  }

  #requesterTo(url: URL): HttpRequester {
    return new HttpRequester(this.#connections, url.href, this.#options);
  }

  /** Reads the stream to its end. @param onEndpoint called once the endpoint is known. */
  #follow(body: Readable, onEndpoint: () => void): Promise<void> {
    return readEvents(body, this.#limits, {
      event: (received: SseEvent) => {
        const { event, data } = received;
        if (event !== "endpoint") this.#receive(received);
        else if (this.#endpoint === undefined) {
          this.#endpoint = this.#requesterTo(this.#parseEndpoint(data));
          onEndpoint();
        }
      },
    });
  }

  /** Parses the URL for POSTs. @throws {McpError} `MCP_UNREACHABLE` for another origin. */
  #parseEndpoint(data: string): URL {
    const named = URL.canParse(data, this.#base) ? new URL(data, this.#base) : undefined;
    if (named?.origin === this.#base.origin) return named;
    const text = `The server at ${this.#shownUrl} names an endpoint of another origin`;
    throw new McpError("MCP_UNREACHABLE", text, {
      hint: "credentials are sent to the endpoint, so it must have the origin of the stream",
    });
  }

  #receive(event: SseEvent): void {
    if (this.#receiver !== undefined) deliverEvent(this.#receiver, event, undefined, this.#limits);
  }

  async #post(message: RpcMessage, endpoint: HttpRequester): Promise<void> {
    const id = "method" in message && "id" in message ? message.id : undefined;
    const { signal } = this.#closing;
    try {
      const response = await endpoint.post(JSON.stringify(message), {}, signal);
      if (response.statusCode < 300) {
        await discardBody(response.body);
        return;
      }
      const text = await readErrorBody(response.body);
      const error = statusError(response, endpoint, text);
      // An error with the id of the request comes from the application: the request was processed.
      if (id !== undefined && isErrorOf(text, id) && this.#receiver !== undefined) {
        deliverError(this.#receiver, text, id);
        return;
      }
      if (response.statusCode !== 404) throw error;
      const reason = `The server at ${this.#shownUrl} no longer knows the session`;
      const expired = new McpError("MCP_SESSION_EXPIRED", reason, { cause: error });
      if (id !== undefined) this.#receiver?.failed(id, expired);
      this.#end(expired);
    } catch (cause) {
      if (signal.aborted) return;
      const error = networkError(this.#shownUrl, cause);
      if (id !== undefined) this.#receiver?.failed(id, error);
      else this.#receiver?.invalid(`a message could not be sent: ${error.message}`);
    }
  }
}
