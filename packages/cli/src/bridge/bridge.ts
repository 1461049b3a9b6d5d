/**
 * `toolcrib bridge`: a client that only starts programs, connected to the gateway that runs. Every message is passed
 * on as it is, in both directions and in both eras of the protocol: requests, answers, notifications, progress,
 * cancellations, and questions of servers to the client.
 *
 * A request that the gateway did not receive waits for the next gateway, which is started where none runs. A call that
 * was lost with a gateway fails; nothing that may change something is sent twice.
 *
 * What is kept of a client is bounded, whatever it sends: the requests without an answer (`pending-requests.ts`), and
 * the other messages, because no more is read until the gateway has received them.
 */

import { setTimeout as delay } from "node:timers/promises";
import { isTokenName } from "@toolcrib/auth";
import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { type HttpTransport, McpError, metaKeys, metaOf, type RpcId, rpcCodes } from "@toolcrib/mcp";
import { findRunningGateways } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { reasonLine } from "../output/output.ts";
import { untilInterrupted } from "../serve/serve-stdio.ts";
import {
  type ClientMessage,
  type ClientRequest,
  isHarmless,
  isRequest,
  paramsIn,
  readClientMessage,
} from "./client-message.ts";
import { ClientPipe, type PipeOwner } from "./client-pipe.ts";
import { type BridgeFlags, createGatewayLink, type GatewayLink, hasMoved } from "./gateway-link.ts";
import { MirroredTools } from "./mirrored-tools.ts";
import { type GatewayMessage, OwnRequests } from "./own-requests.ts";
import { listenMethod, type PendingRequest, PendingRequests } from "./pending-requests.ts";
import { Questions } from "./questions.ts";
import { SessionReplay } from "./session-replay.ts";

/** Most messages of a batch, as over HTTP. */
const batchMaxCount = 256;
/** Messages without an answer that are sent at once. */
const flushCount = 64;
/** Longest wait for answers after the client closed its end. */
const endGraceMs = 60_000;
/** Milliseconds after a failed start in which requests fail at once. */
const restMs = 2000;
/** Milliseconds in which a request that no gateway received is sent again, and between two attempts. */
const againMaxMs = 30_000;
const againPauseMs = 200;
/** Milliseconds between two polls for a gateway that somebody else starts. */
const pollMs = 1000;
/** Most pages of tools that are listed for one call. */
const pagesMaxCount = 20;

/** Runs the command until the client closes its end, or a signal. */
export async function runBridge(context: CliContext, flags: BridgeFlags): Promise<ExitCode> {
  if (context.options.isJson) {
    throw new CliError("CLI_USAGE", "bridge cannot be used with --json", {
      hint: "standard input and output carry only the protocol",
    });
  }
  if (flags.as !== undefined && !isTokenName(flags.as)) {
    throw new CliError("CLI_USAGE", `${JSON.stringify(flags.as)} is no name of a token`, {
      hint: "write letters, digits, - and _, such as claude-desktop",
    });
  }
  await using bridge = new Bridge(context, flags);
  await Promise.race([bridge.ended, untilInterrupted(context)]);
  return exitCodes.done;
}

/** One client on the standard streams. */
class Bridge implements PipeOwner, AsyncDisposable {
  readonly #context: CliContext;
  readonly #flags: BridgeFlags;
  readonly #pipe: ClientPipe;
  readonly #ended = Promise.withResolvers<void>();
  readonly #closing = new AbortController();
  readonly #pending = new PendingRequests();
  readonly #questions = new Questions();
  readonly #own = new OwnRequests();
  readonly #replay = new SessionReplay();
  readonly #mirrored = new MirroredTools();
  /** Messages that were read and not yet sent; reading pauses while there are any. */
  readonly #queue: ClientMessage[] = [];
  /** Called at each answer. */
  #onAnswer: (() => void) | undefined;
  #isSending = false;
  /** Messages without an answer since the last flush. */
  #unflushed = 0;
  #link: GatewayLink | undefined;
  /** All that were made, those to gateways that are gone too: each tries to listen again until it is disposed. */
  readonly #links = new Set<GatewayLink>();
  #connecting: Promise<GatewayLink> | undefined;
  #failure: { readonly error: unknown; readonly at: number } | undefined;
  #isInputEnded = false;

  constructor(context: CliContext, flags: BridgeFlags) {
    this.#context = context;
    this.#flags = flags;
    this.#pipe = new ClientPipe(context, this);
  }

  /** Resolves when the client has closed its end and its requests are answered. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#onAnswer?.();
    this.#pipe.close();
    await this.#connecting?.catch(() => {});
    this.#link = undefined;
    await Promise.all([...this.#links].map((link) => link[Symbol.asyncDispose]()));
  }

  get pace(): PipeOwner["pace"] {
    if (this.#isSending) return "wait";
    return this.#pending.isFull ? "slowly" : "read";
  }

  broken(reason?: string): void {
    if (reason !== undefined) this.#note(`error: ${reason}`);
    this.#ended.resolve();
  }

  received(value: JsonValue): void {
    const messages = Array.isArray(value) ? value : [value];
    if (messages.length > batchMaxCount) {
      const text = `The batch has more than ${batchMaxCount} messages`;
      this.#pipe.refuse(null, new McpError("MCP_INVALID_MESSAGE", text), rpcCodes.invalidRequest);
      return;
    }
    for (const one of messages) this.#accept(one);
    if (!this.#isSending) void this.#sendAll();
  }

  #accept(value: JsonValue): void {
    const message = readClientMessage(value);
    if (typeof message === "string") {
      const { id } = (value ?? {}) as { readonly id?: unknown };
      const isId = typeof id === "string" || typeof id === "number";
      const text = `The message is no JSON-RPC message: ${message}`;
      this.#pipe.refuse(isId ? id : null, new McpError("MCP_INVALID_MESSAGE", text), rpcCodes.invalidRequest);
      return;
    }
    try {
      if (isRequest(message)) this.#pending.add(message);
      this.#queue.push(message);
    } catch (error) {
      this.#pipe.refuse(message.id as RpcId, error);
    }
  }

  /** Sends what was read, in its order. Meanwhile nothing is read. */
  async #sendAll(): Promise<void> {
    this.#isSending = true;
    this.#pipe.steer();
    for (let message = this.#queue.shift(); message !== undefined; message = this.#queue.shift()) {
      if (!isRequest(message)) await this.#pass(message);
      else await this.#sendNext();
    }
    this.#isSending = false;
    this.#proceed();
  }

  /** Sends requests that wait, as far as the gateway takes them, and reads on. */
  #proceed(): void {
    this.#onAnswer?.();
    if (!this.#isSending) while (this.#sendNext() !== undefined);
    this.#pipe.steer();
    this.#endIfAnswered();
  }

  #sendNext(): Promise<void> | undefined {
    const request = this.#pending.take(this.#context.now());
    if (request === undefined) return undefined;
    this.#replay.sent(request.message);
    return this.#send(request);
  }

  async #send(request: PendingRequest): Promise<void> {
    const { message } = request;
    const { id, method } = message;
    try {
      const { transport } = await this.#connected(method === "initialize");
      // It can be cancelled meanwhile.
      if (!this.#pending.has(request)) return;
      this.#transmit(transport, message);
      // What follows belongs to the session that the answer opens.
      if (method === "initialize" && !request.isRepeated) await this.#answered(id);
    } catch (error) {
      this.#answerError(id, error);
    }
  }

  #transmit(transport: HttpTransport, message: ClientRequest): void {
    const { head, text, isModern, method } = message;
    const params = isModern && method === "tools/call" ? (head as { params: JsonObject }).params : {};
    const inputSchema = this.#mirrored.schemaOf(params["name"]);
    // The arguments are read again only where some of them are sent as headers.
    const sent = inputSchema === undefined ? head : (JSON.parse(text) as typeof head);
    transport.send(sent, { text, inputSchema });
  }

  /** Passes on a notification or an answer. */
  async #pass(message: ClientMessage): Promise<void> {
    const { id, method, head, text } = message;
    this.#replay.sent(message);
    if (method === "notifications/cancelled") {
      const requestId = (head as { params: JsonObject }).params["requestId"] as RpcId;
      const request = this.#pending.get(requestId);
      this.#pending.end(requestId);
      if (request !== undefined && request.sentAt === undefined) return;
    }
    try {
      const { transport } = await this.#connected(false);
      // An answer to a gateway that is gone means nothing to the next one.
      if (method === undefined && id !== undefined && !this.#questions.answer(id, transport)) return;
      transport.send(head, { text });
      this.#unflushed += 1;
      if (this.#unflushed >= flushCount) {
        this.#unflushed = 0;
        await transport.flushed();
      }
      // The server may ask before the first request only after the stream for that is open.
      if (method === "notifications/initialized") await transport.settled();
    } catch (error) {
      // Nobody waits for it; the next request reports that there is no gateway.
      this.#debug(messageOf(error));
    }
  }

  /** Resolves when a request is answered, or the bridge ends. */
  async #answered(id: RpcId): Promise<void> {
    while (this.#pending.get(id) !== undefined && !this.#closing.signal.aborted) {
      await new Promise<void>((resolve) => (this.#onAnswer = resolve));
    }
  }

  /** Returns the connection to the gateway that runs now. @param isFirst whether the client itself opens the session next */
  async #connected(isFirst: boolean): Promise<GatewayLink> {
    // While a connection is made, its session is not open yet.
    if (this.#link !== undefined && this.#connecting === undefined) return this.#link;
    const { error, at } = this.#failure ?? {};
    if (at !== undefined && this.#context.now() - at < restMs) throw error;
    this.#connecting ??= this.#connect(isFirst).finally(() => (this.#connecting = undefined));
    try {
      const link = await this.#connecting;
      this.#failure = undefined;
      return link;
    } catch (cause) {
      if (this.#failure?.error !== cause)
        this.#note(`error ${isCodedError(cause) ? `${cause.code}: ` : ""}${messageOf(cause)}`);
      this.#failure = { error: cause, at: this.#context.now() };
      throw cause;
    }
  }

  async #connect(isFirst: boolean): Promise<GatewayLink> {
    const { signal } = this.#closing;
    const notes = { note: (text: string) => this.#note(text), signal };
    const link = await createGatewayLink(this.#context, this.#flags, notes);
    this.#links.add(link);
    const { transport } = link;
    await this.#disconnect();
    await transport.open({
      message: (value) => this.#fromGateway(transport, value as JsonObject),
      failed: (id, error) => this.#failed(transport, id, error),
      closed: (error) => this.#closed(transport, error),
      invalid: (reason) => this.#debug(reason),
    });
    this.#link = link;
    if (!isFirst && this.#replay.isOpen) {
      try {
        await this.#replay.run(transport, this.#own);
      } catch (error) {
        if (this.#link === link) this.#link = undefined;
        throw error;
      }
      // Another gateway can have other lists.
      for (const list of ["tools", "prompts", "resources"]) this.#writeListChanged(list);
    }
    return link;
  }

  #writeListChanged(list: string, meta?: JsonObject): void {
    const params = meta === undefined ? {} : { params: { _meta: meta } };
    this.#pipe.write({ jsonrpc: "2.0", method: `notifications/${list}/list_changed`, ...params });
  }

  #fromGateway(transport: HttpTransport, value: JsonObject): void {
    if (transport !== this.#link?.transport) return;
    const message = value as GatewayMessage;
    if (this.#own.received(message)) return;
    const { id, method } = message;
    if (method === undefined) {
      if (id !== undefined) this.#answer(transport, id, message, value);
      return;
    }
    if (id !== undefined && !this.#questions.ask(id, transport, this.#isInputEnded)) {
      const error = { code: rpcCodes.internalError, message: "The client does not answer any more" };
      transport.send({ jsonrpc: "2.0", id, error });
      return;
    }
    if (method === "notifications/cancelled") this.#questions.forget(message.params?.["requestId"] as RpcId);
    if (this.#isRepeatedAcknowledgement(message)) return;
    this.#pipe.write(value);
  }

  /** Passes on an answer to the client, unless its request is sent again. */
  #answer(transport: HttpTransport, id: RpcId, message: GatewayMessage, value: JsonObject): void {
    const request = this.#pending.get(id);
    // The client cancelled it.
    if (request === undefined) return;
    const { method, isModern } = request.message;
    const { result, error } = message;
    if (isShuttingDown(error) || (method === listenMethod && !this.#isInputEnded && error === undefined)) {
      // A stream of changes ends with its gateway, and not for the client.
      if (method === listenMethod) {
        void this.#listenAgain(request);
        return;
      }
      if (this.#mayRepeat(request)) {
        void this.#again(request, transport, false);
        return;
      }
    }
    if (error?.code === rpcCodes.headerMismatch && method === "tools/call" && !request.isRepeated) {
      void this.#withHeaders(request, transport);
      return;
    }
    this.#pending.end(id);
    const version = result?.["protocolVersion"];
    if (method === "initialize" && typeof version === "string") transport.negotiated(version);
    if (method === "tools/list" && isModern && result !== undefined) this.#mirrored.learn(result);
    this.#pipe.write(value);
    this.#proceed();
  }

  /** Lists the tools for a call that the gateway refused without the headers that mirror its arguments, and sends it again. */
  async #withHeaders(request: PendingRequest, transport: HttpTransport): Promise<void> {
    request.isRepeated = true;
    const { name, _meta } = paramsIn(request.message);
    try {
      let cursor: JsonValue | undefined;
      for (let page = 0; page < pagesMaxCount; page += 1) {
        const params = { _meta: _meta as JsonValue, ...(cursor === undefined ? {} : { cursor }) };
        const listed = await this.#own.send(transport, { method: "tools/list", params });
        this.#mirrored.learn(listed);
        cursor = listed["nextCursor"];
        if (cursor === undefined || this.#mirrored.schemaOf(name) !== undefined) break;
      }
    } catch (error) {
      this.#debug(messageOf(error));
    }
    if (this.#pending.has(request)) await this.#send(request);
  }

  /** A request that was not delivered, or whose answer is lost. */
  #failed(transport: HttpTransport, id: RpcId, error: McpError): void {
    if (this.#own.failed(id, error)) return;
    const request = this.#pending.get(id);
    if (request === undefined) return;
    const { code } = error;
    const isLost = code === "MCP_CONNECTION_CLOSED";
    if (isLost && request.message.method === listenMethod) {
      void this.#listenAgain(request);
      return;
    }
    const wasNotReceived = code === "MCP_UNREACHABLE" || code === "MCP_SESSION_EXPIRED";
    const mayRepeat = wasNotReceived || (isLost && isHarmless(request.message) && !request.isRepeated);
    if (mayRepeat && this.#mayRepeat(request)) {
      void this.#again(request, transport, code === "MCP_SESSION_EXPIRED");
      return;
    }
    this.#answerError(id, code === "MCP_UNAUTHORIZED" ? this.#unauthorized(error) : error);
  }

  #mayRepeat({ sentAt = 0 }: PendingRequest): boolean {
    return !this.#closing.signal.aborted && this.#context.now() - sentAt < againMaxMs;
  }

  /** Sends a request once more, to the gateway that runs now. @param lost the connection on which it failed */
  async #again(request: PendingRequest, lost: HttpTransport, isOver: boolean): Promise<void> {
    // A gateway that ends may still have its run file, or be on its way to the next one.
    if (!isOver && request.isRepeated && !(await this.#pause(againPauseMs))) return;
    request.isRepeated = true;
    this.#dropIfOver(lost, isOver);
    await this.#send(request);
  }

  /** Forgets a connection whose gateway is gone. Meanwhile, another request can have led to a new one. */
  #dropIfOver(lost: HttpTransport, isOver = false): void {
    const link = this.#link;
    if (link?.transport === lost && (isOver || hasMoved(this.#context, link.base))) this.#link = undefined;
  }

  /** Sends the request for a stream of changes to the next gateway, which it does not start. */
  async #listenAgain(request: PendingRequest): Promise<void> {
    request.isRepeated = true;
    do {
      if (!(await this.#pause(pollMs)) || !this.#pending.has(request)) return;
    } while (findRunningGateways(this.#context.options.home).length === 0);
    request.sentAt = this.#context.now();
    if (this.#link !== undefined) this.#dropIfOver(this.#link.transport);
    await this.#send(request);
  }

  /** Whether a notification acknowledges a stream of changes that the client has; it gets the changes that it may have missed. */
  #isRepeatedAcknowledgement({ method, params = {} }: GatewayMessage): boolean {
    if (method !== "notifications/subscriptions/acknowledged") return false;
    const meta = metaOf(params);
    const id = meta?.[metaKeys.subscriptionId] as RpcId;
    const request = this.#pending.get(id);
    if (request?.isRepeated !== true) return false;
    const { notifications = {} } = params as {
      readonly notifications?: { readonly [name: string]: unknown };
    };
    for (const list of ["tools", "prompts", "resources"])
      if (notifications[`${list}ListChanged`] === true) this.#writeListChanged(list, meta);
    return true;
  }

  /** @returns whether the bridge still runs */
  async #pause(milliseconds: number): Promise<boolean> {
    await delay(milliseconds, undefined, { signal: this.#closing.signal }).catch(() => {});
    return !this.#closing.signal.aborted;
  }

  #closed(transport: HttpTransport, error: McpError): void {
    if (transport !== this.#link?.transport || this.#closing.signal.aborted) return;
    this.#debug(error.message);
    this.#link = undefined;
    // The client waits for notifications, although it sends nothing.
    if (this.#replay.isOpen) void this.#connected(false).catch(() => {});
  }

  #unauthorized(cause: McpError): CliError {
    const name = this.#flags.as ?? "bridge";
    return new CliError("CLI_GATEWAY_UNUSABLE", `The gateway refuses the token "${name}"`, {
      cause,
      hint: `toolcrib token list shows the tokens; toolcrib token create ${name} makes this one again`,
    });
  }

  #answerError(id: RpcId, error: unknown): void {
    if (!this.#pending.end(id)) return;
    this.#pipe.refuse(id, error);
    this.#proceed();
  }

  async #disconnect(): Promise<void> {
    const link = this.#link;
    this.#link = undefined;
    if (link !== undefined) this.#links.delete(link);
    await link?.[Symbol.asyncDispose]();
  }

  inputEnded(): void {
    this.#isInputEnded = true;
    const transport = this.#link?.transport;
    for (const id of this.#questions.end(transport)) {
      const error = { code: rpcCodes.internalError, message: "The client does not answer any more" };
      transport?.send({ jsonrpc: "2.0", id, error });
    }
    this.#endIfAnswered();
    void this.#endLate();
  }

  async #endLate(): Promise<void> {
    if (!(await this.#pause(endGraceMs))) return;
    for (const { message } of this.#pending.all()) {
      const text = `There was no answer within ${endGraceMs / 1000} s after the client closed its end`;
      if (message.method !== listenMethod) this.#answerError(message.id, new McpError("MCP_TIMEOUT", text));
    }
    this.#endIfAnswered();
  }

  #endIfAnswered(): void {
    if (this.#isInputEnded && !this.#isSending && this.#pending.isIdle)
      void this.#pipe.flushed().then(this.#ended.resolve);
  }

  #note(text: string): void {
    this.#context.output.note(`toolcrib bridge: ${reasonLine(text)}`);
  }

  #debug(text: string): void {
    if (this.#context.options.logLevel === "debug") this.#note(text);
  }
}

/** Whether a gateway refused a request because it ends: it did not begin with it. */
function isShuttingDown(error: GatewayMessage["error"]): boolean {
  const { code } = (error?.data ?? {}) as { readonly code?: unknown };
  return code === "MCP_OVERLOADED" && /\bshutting down\b/.test(String(error?.message));
}
