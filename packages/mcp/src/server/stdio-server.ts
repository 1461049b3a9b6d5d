/**
 * The stdio transport on the server side: one client on a pair of streams,
 * either era. Requests with modern `_meta` are self-contained; all other
 * messages belong to the one legacy session of the pipe.
 *
 * While a client does not read its responses, its messages are not read either,
 * so that the memory for unread output stays bounded.
 */

import type { Readable, Writable } from "node:stream";
import type { Identity } from "@toolcrib/tool";
import { LineWriter, readLines } from "../framing/lines.ts";
import { classify, paramsOf, type RpcId, type RpcRequest } from "../json-rpc.ts";
import { McpError } from "../mcp-error.ts";
import { type InboundRequest, MessageRouter, type SendMessage } from "../message-router.ts";
import { modernVersionOf } from "../modern-version.ts";
import { rpcCodes } from "../protocol.ts";
import { LegacySession } from "./legacy-session.ts";
import { answerModernRequest, listenMethod } from "./modern-request.ts";
import type { McpService, View } from "./service.ts";

/** Options of `startStdioServer`. */
export interface StdioServerOptions {
  readonly view: View;
  readonly identity: Identity;
  /** Unguessable id of the session. */
  readonly sessionId: string;
  /** Longest line in bytes. @default 16,777,216 */
  readonly lineMaxBytes?: number;
  /** Maximum number of requests in flight of each era. @default 256 */
  readonly maxInFlight?: number;
  /** Milliseconds for the remaining responses after the client closed its end. @default 10,000 */
  readonly endGraceMs?: number;
  /** Unread bytes past which nothing is read from the client. @default 4,194,304 */
  readonly unreadMaxBytes?: number;
  /** Reports invalid messages and responses to no pending request; for the log. */
  readonly onUnexpected?: (reason: string) => void;
}

/** Multiple of `unreadMaxBytes` at which the client is disconnected: running requests still produce output. */
const disconnectFactor = 16;

/** Starts to serve `service` to the client at the other end of `input` and `output`. */
export function startStdioServer(
  service: McpService,
  streams: { readonly input: Readable; readonly output: Writable },
  options: StdioServerOptions,
): StdioServer {
  return new StdioServer(service, streams, options);
}

/** Serves one client on a pipe. */
export class StdioServer implements AsyncDisposable {
  readonly #service: McpService;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #options: StdioServerOptions;
  readonly #unreadMaxBytes: number;
  readonly #writer: LineWriter;
  readonly #session: LegacySession;
  readonly #modern: MessageRouter;
  readonly #stopReading: () => void;
  readonly #ended = Promise.withResolvers<void>();
  /** Ends change streams, which have no response to wait for. */
  readonly #stopping = new AbortController();
  #isEnded = false;

  constructor(
    service: McpService,
    streams: { readonly input: Readable; readonly output: Writable },
    options: StdioServerOptions,
  ) {
    this.#service = service;
    this.#input = streams.input;
    this.#output = streams.output;
    this.#options = options;
    this.#unreadMaxBytes = options.unreadMaxBytes ?? 4 * 1024 * 1024;
    this.#writer = new LineWriter(this.#output, () => this.#checkUnread());
    const send: SendMessage = (message) => this.#writer.write(message);
    this.#session = new LegacySession(service, send, { ...options, id: options.sessionId });
    this.#modern = new MessageRouter(
      send,
      {
        request: (request) => this.#answerModern(request),
        notification: () => {},
        unexpected: (reason) => options.onUnexpected?.(reason),
      },
      { maxInbound: options.maxInFlight },
    );
    this.#stopReading = readLines(
      this.#input,
      {
        message: (value) => this.#receive(value),
        invalid: (reason, text, id) => this.#refuseLine(reason, text, id),
      },
      options.lineMaxBytes ?? 16 * 1024 * 1024,
      "client",
    );
    this.#watchStreams();
  }

  /** Resolves after the client has closed its end and its requests are answered, or after disposal. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A change stream ends with its response.
    this.#stopping.abort(new McpError("MCP_CANCELLED", "The server is shutting down"));
    await new Promise((resolve) => setImmediate(resolve));
    this.#end("The server is shutting down");
    this.#input.pause();
  }

  #watchStreams(): void {
    this.#input.once("end", () => void this.#inputEnded());
    this.#input.on("error", () => this.#end("The pipe from the client broke"));
    this.#input.once("close", () => {
      if (!this.#input.readableEnded) this.#end("The pipe from the client broke");
    });
    this.#output.on("error", () => this.#end("The pipe to the client broke"));
    this.#output.once("close", () => this.#end("The pipe to the client broke"));
  }

  /** Stops reading while the client does not read; disconnects it when too much output is unread. */
  #checkUnread(): void {
    const unread = this.#output.writableLength;
    if (unread <= this.#unreadMaxBytes) return;
    if (unread > this.#unreadMaxBytes * disconnectFactor) {
      this.#options.onUnexpected?.("the client does not read its answers");
      this.#output.destroy();
      this.#end("The client does not read its answers");
      return;
    }
    if (this.#input.isPaused()) return;
    this.#input.pause();
    this.#output.once("drain", () => {
      if (!this.#isEnded) this.#input.resume();
    });
  }

  /** Passes a message to the router of its era. The ids of both eras share one space. */
  #receive(value: unknown): void {
    const classified = classify(value);
    if (classified.kind === "request") {
      this.#routerFor(classified.message).receiveClassified(classified);
    } else if (
      classified.kind === "notification" &&
      classified.message.method === "notifications/cancelled"
    ) {
      const id = paramsOf(classified.message)["requestId"];
      const router = this.#modern.isAnswering(id as RpcId) ? this.#modern : this.#session.router;
      router.receiveClassified(classified);
    } else this.#session.receive(value);
  }

  /** Returns the router that processes a request. An id in use is refused by the router that uses it. */
  #routerFor(message: RpcRequest): MessageRouter {
    const legacy = this.#session.router;
    if (this.#modern.isAnswering(message.id)) return this.#modern;
    if (legacy.isAnswering(message.id)) return legacy;
    return modernVersionOf(paramsOf(message)) === undefined ? legacy : this.#modern;
  }

  #answerModern({ id, method, params, signal }: InboundRequest): ReturnType<typeof answerModernRequest> {
    const { view, identity } = this.#options;
    const until = method === listenMethod ? AbortSignal.any([signal, this.#stopping.signal]) : signal;
    return answerModernRequest(this.#service, {
      id,
      method,
      params,
      identity,
      view,
      signal: until,
      notify: (name, notification) =>
        this.#writer.write({ jsonrpc: "2.0", method: name, params: notification }),
    });
  }

  #refuseLine(reason: string, text: string, id: RpcId | undefined): void {
    this.#options.onUnexpected?.(`${reason}: ${text}`);
    const error = { code: rpcCodes.parseError, message: `Parse error: ${reason}` };
    // An id in use belongs to the answer of the earlier request.
    const isInUse =
      id !== undefined && (this.#session.router.isAnswering(id) || this.#modern.isAnswering(id));
    this.#writer.write({ jsonrpc: "2.0", id: isInUse ? null : (id ?? null), error });
  }

  /** Answers the requests of a client that closed its end, and ends after the last byte is written. */
  async #inputEnded(): Promise<void> {
    const reason = "The client closed the pipe";
    const timer = setTimeout(() => this.#end(reason), this.#options.endGraceMs ?? 10_000);
    this.#stopping.abort(new McpError("MCP_CANCELLED", reason));
    await Promise.all([this.#session.router.whenIdle(), this.#modern.whenIdle()]);
    // The line writer writes first. The callback of an empty write then runs after all earlier writes.
    await new Promise((resolve) => setImmediate(resolve));
    if (!this.#output.destroyed && !this.#output.writableEnded)
      await new Promise<void>((resolve) => this.#output.write("", () => resolve()));
    clearTimeout(timer);
    this.#end(reason);
  }

  #end(reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stopReading();
    this.#session.close(reason);
    this.#modern.close();
    this.#ended.resolve();
  }
}
