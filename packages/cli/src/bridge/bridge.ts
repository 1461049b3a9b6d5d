/**
 * `toolcrib bridge`: a client that only starts programs, connected to the gateway that runs. Every message is passed
 * on as it is, in both directions and in both eras of the protocol: requests, answers, notifications, progress,
 * cancellations, and questions of servers to the client.
 *
 * A request that a gateway did not begin with waits for the next gateway, which is started where none runs. A gateway
 * that ends still answers what it has. A call that was lost with its gateway fails; nothing that may change something
 * is sent twice.
 *
 * The memory for a client is bounded, whatever it sends: the requests without an answer (32 MiB,
 * `pending-requests.ts`), and the other messages, because no more is read until the gateway has received them. So is
 * what is kept for a client that does not read: its messages and the answers of the gateway wait where they are while
 * 4 MiB are unread (`client-pipe.ts`), and of large answers on their way 8 MiB are held, or the oldest of them
 * (`gateway-link.ts`).
 */

import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { isTokenName } from "@toolcrib/auth";
import { messageOf } from "@toolcrib/diagnostics";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { type HttpTransport, McpError, metaKeys, metaOf, type RpcId, rpcCodes } from "@toolcrib/mcp";
import { findProvenGateways } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { reasonLine } from "../output/output.ts";
import { untilInterrupted } from "../serve/serve-stdio.ts";
import {
  type ClientMessage,
  isHarmless,
  isRequest,
  isRpcId,
  paramsIn,
  readClientMessage,
} from "./client-message.ts";
import { ClientPipe, type PipeOwner } from "./client-pipe.ts";
import type { BridgeFlags } from "./gateway-link.ts";
import { GatewayLinks, type LinksOwner } from "./gateway-links.ts";
import { isShuttingDown, mayPass, refusalOf, unknownProfile, wasNotBegun } from "./lost-request.ts";
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
/** Milliseconds in which a request that no gateway began with is sent again, and between two attempts. */
const againMaxMs = 30_000;
const againPauseMs = 200;
/** Milliseconds between two polls for a gateway that somebody else starts. */
const pollMs = 1000;
/** Most pages of tools that are listed for one call. */
const pagesMaxCount = 20;

/** Runs the command until the client closes its end, or a signal. @throws {CliError} `CLI_PROFILE_NOT_FOUND` */
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
  // Each client has a bridge: V8 would let its heap grow to three times what is kept in a flood.
  setFlagsFromString("--optimize-for-size");
  await using bridge = new Bridge(context, flags);
  await Promise.race([bridge.ended, untilInterrupted(context)]);
  if (bridge.problem !== undefined) throw bridge.problem;
  return exitCodes.done;
}

/** One client on the standard streams. */
class Bridge implements PipeOwner, LinksOwner, AsyncDisposable {
  readonly #context: CliContext;
  readonly #flags: BridgeFlags;
  readonly #pipe: ClientPipe;
  readonly #links: GatewayLinks;
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
  #isInputEnded = false;
  #hasProfile = false;
  /** The profile does not exist, as the gateway answered last. */
  problem: CliError | undefined;

  constructor(context: CliContext, flags: BridgeFlags) {
    this.#context = context;
    this.#flags = flags;
    this.#pipe = new ClientPipe(context, this);
    this.#links = new GatewayLinks(context, flags, this);
  }

  /** Resolves when the client has closed its end and its requests are answered. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#onAnswer?.();
    this.#pipe.close();
    await this.#links[Symbol.asyncDispose]();
  }

  get pace(): PipeOwner["pace"] {
    if (this.#isSending) return "wait";
    return this.#pending.isFull ? "slowly" : "read";
  }

  broken(reason?: string): void {
    if (reason !== undefined) this.note(`error: ${reason}`);
    this.#ended.resolve();
  }

  received(value: JsonValue, text: string): void {
    const batch = Array.isArray(value) ? value : undefined;
    if (batch !== undefined && (batch.length === 0 || batch.length > batchMaxCount)) {
      const reason =
        batch.length === 0 ? "The batch is empty" : `The batch has more than ${batchMaxCount} messages`;
      this.#pipe.refuse(null, new McpError("MCP_INVALID_MESSAGE", reason), rpcCodes.invalidRequest);
      return;
    }
    if (batch === undefined) this.#accept(value, text);
    else for (const one of batch) this.#accept(one, JSON.stringify(one));
    if (!this.#isSending) void this.#sendAll();
  }

  #accept(value: JsonValue, sent: string): void {
    const message = readClientMessage(value, sent);
    if (message instanceof McpError) {
      const { id } = (value ?? {}) as { readonly id?: unknown };
      this.#pipe.refuse(isRpcId(id) ? id : null, message);
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
    this.#links.closeUnused();
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
      await this.#links.use(method === "initialize", (transport) => this.#transmit(transport, request));
      // What follows belongs to the session that the answer opens.
      if (method === "initialize" && !request.isRepeated) await this.#answered(id);
    } catch (error) {
      // It waited for a new connection, and was not sent.
      if (mayPass(error) && this.#mayRepeat(request)) void this.#again(request);
      else this.#answerError(id, error);
    }
  }

  #transmit(transport: HttpTransport, request: PendingRequest): void {
    // It can be cancelled meanwhile.
    if (!this.#pending.has(request)) return;
    request.sentOn = transport;
    const { head, body, isModern, method } = request.message;
    const params = isModern && method === "tools/call" ? (head as { params: JsonObject }).params : {};
    const inputSchema = this.#mirrored.schemaOf(params["name"]);
    // The arguments are read again only where some of them are sent as headers.
    const sent = inputSchema === undefined ? head : (JSON.parse(body.toString()) as typeof head);
    transport.send(sent, { text: body, inputSchema });
  }

  /** Passes on a notification or an answer. */
  async #pass(message: ClientMessage): Promise<void> {
    this.#replay.sent(message);
    try {
      const transport = await this.#passOn(message);
      if (transport === undefined) return;
      this.#unflushed += 1;
      if (this.#unflushed >= flushCount) {
        this.#unflushed = 0;
        await transport.flushed();
      }
      // The server may ask before the first request only after the stream for that is open.
      if (message.method === "notifications/initialized") await transport.settled();
    } catch (error) {
      // Nobody waits for it; the next request reports that there is no gateway.
      this.debug(messageOf(error));
    }
  }

  /** @returns the connection on which the message was sent; undefined for one that means nothing any more */
  async #passOn({ id, method, head, body }: ClientMessage): Promise<HttpTransport | undefined> {
    const send = (transport: HttpTransport | undefined) => {
      transport?.send(head, { text: body });
      return transport;
    };
    // An answer to a gateway that is gone means nothing to the next one.
    if (method === undefined) return id === undefined ? undefined : send(this.#questions.answer(id));
    if (method === "notifications/cancelled") {
      const requestId = (head as { params: JsonObject }).params["requestId"] as RpcId;
      const request = this.#pending.get(requestId);
      this.#pending.end(requestId);
      if (request !== undefined) return send(request.sentOn);
    }
    return this.#links.use(false, send);
  }

  /** Resolves when a request is answered, or the bridge ends. */
  async #answered(id: RpcId): Promise<void> {
    while (this.#pending.get(id) !== undefined && !this.#closing.signal.aborted) {
      await new Promise<void>((resolve) => (this.#onAnswer = resolve));
    }
  }

  async reopen(transport: HttpTransport): Promise<void> {
    if (!this.#replay.isOpen) return;
    await this.#replay.run(transport, this.#own);
    // Another gateway can have other lists.
    for (const list of ["tools", "prompts", "resources"]) this.#writeListChanged(list);
  }

  #writeListChanged(list: string, meta?: JsonObject): void {
    const params = meta === undefined ? {} : { params: { _meta: meta } };
    this.#pipe.write({ jsonrpc: "2.0", method: `notifications/${list}/list_changed`, ...params });
  }

  whenTaken(): Promise<void> | undefined {
    return this.#pipe.whenTaken();
  }

  fromGateway(transport: HttpTransport, value: JsonObject, relatedTo: RpcId | undefined): void {
    const message = value as GatewayMessage;
    if (this.#own.received(message)) return;
    const { id, method } = message;
    if (method === undefined) {
      if (id !== undefined) this.#answer(transport, id, message, value);
      return;
    }
    if (id !== undefined && !this.#questions.ask(id, transport, this.#isInputEnded)) {
      transport.send({ jsonrpc: "2.0", id, error: noAnswer });
      return;
    }
    if (method === "notifications/cancelled")
      this.#questions.forget(message.params?.["requestId"] as RpcId, transport);
    // What a gateway that was left reports matters only where it belongs to a request that it still answers.
    const isAwaited = relatedTo !== undefined && this.#pending.get(relatedTo)?.sentOn === transport;
    if (id === undefined && !isAwaited && !this.#links.isCurrent(transport)) return;
    if (this.#isRepeatedAcknowledgement(message)) return;
    this.#pipe.write(value);
  }

  /** Passes on an answer to the client, unless its request is sent again. */
  #answer(transport: HttpTransport, id: RpcId, message: GatewayMessage, value: JsonObject): void {
    const request = this.#pending.get(id);
    // The client cancelled it, or it was sent again.
    if (request?.sentOn !== transport) return;
    const { method, isModern } = request.message;
    const { result, error } = message;
    this.problem = unknownProfile(error);
    // A stream of changes ends with its gateway, and not for the client.
    const isEnding = isShuttingDown(error);
    if (method === listenMethod && (isEnding || (!this.#isInputEnded && error === undefined))) {
      void this.#listenAgain(request);
      return;
    }
    // The gateway had begun with it.
    if (isEnding && isHarmless(request.message) && this.#mayRepeat(request)) {
      void this.#again(request, transport);
      return;
    }
    if (error?.code === rpcCodes.headerMismatch && method === "tools/call" && !request.isListed) {
      void this.#withHeaders(request, transport);
      return;
    }
    this.#pending.end(id);
    const version = result?.["protocolVersion"];
    if (method === "initialize" && typeof version === "string") transport.negotiated(version);
    if (method === "tools/list" && isModern && result !== undefined) this.#mirrored.learn(result);
    this.#pipe.write(value);
    this.#proceed();
    this.#hasProfile ||= this.problem === undefined;
    // A wrong command line. A profile that is removed later can come back.
    if (!this.#hasProfile) void this.#pipe.flushed().then(this.#ended.resolve);
  }

  /** Lists the tools for a call that the gateway refused without the headers that mirror its arguments, and sends it again. */
  async #withHeaders(request: PendingRequest, transport: HttpTransport): Promise<void> {
    request.isListed = true;
    const { name, _meta } = paramsIn(request.message);
    try {
      let cursor: JsonValue | undefined;
      for (let page = 0; page < pagesMaxCount && this.#pending.has(request); page += 1) {
        const params = { _meta: _meta as JsonValue, ...(cursor === undefined ? {} : { cursor }) };
        const listed = await this.#own.send(transport, { method: "tools/list", params });
        this.#mirrored.learn(listed);
        cursor = listed["nextCursor"];
        if (cursor === undefined || this.#mirrored.schemaOf(name) !== undefined) break;
      }
    } catch (error) {
      this.debug(messageOf(error));
    }
    await this.#send(request);
  }

  /** A request that was not delivered, or whose answer is lost. */
  failed(transport: HttpTransport, id: RpcId, error: McpError): void {
    if (this.#own.failed(id, error)) return;
    const request = this.#pending.get(id);
    if (request?.sentOn !== transport) return;
    const { code } = error;
    const isLost = code === "MCP_CONNECTION_CLOSED";
    const refusal = refusalOf(error);
    const wasFree = wasNotBegun(error);
    if (request.message.method === listenMethod && (isLost || (wasFree && refusal !== undefined))) {
      void this.#listenAgain(request);
      return;
    }
    const mayRepeat = wasFree || (isLost && isHarmless(request.message) && !request.isRepeated);
    if (mayRepeat && this.#mayRepeat(request)) {
      void this.#again(request, transport, code === "MCP_SESSION_EXPIRED");
      return;
    }
    this.#answerError(id, code === "MCP_UNAUTHORIZED" ? this.#unauthorized(error) : (refusal ?? error));
  }

  #mayRepeat({ sentAt = 0 }: PendingRequest): boolean {
    return !this.#closing.signal.aborted && this.#context.now() - sentAt < againMaxMs;
  }

  /**
   * Sends a request once more, to the gateway that runs now.
   *
   * @param lost the connection on which it failed
   * @param isOver whether the gateway forgot its session
   */
  async #again(request: PendingRequest, lost?: HttpTransport, isOver = false): Promise<void> {
    const isFirst = !request.isRepeated;
    request.isRepeated = true;
    request.sentOn = undefined;
    if (lost !== undefined && isOver) this.#links.leave(lost);
    // A gateway that ends may still have its run file, or be on its way to the next one.
    if (!isFirst && !(await this.#pause(againPauseMs))) return;
    if (lost !== undefined) await this.#links.leaveIfMoved(lost);
    if (!this.#pending.has(request)) return;
    this.#links.closeUnused();
    await this.#send(request);
  }

  /** Sends the request for a stream of changes to the next gateway, which it does not start. */
  async #listenAgain(request: PendingRequest): Promise<void> {
    request.isRepeated = true;
    request.sentOn = undefined;
    do {
      if (!(await this.#pause(pollMs)) || !this.#pending.has(request)) return;
    } while ((await findProvenGateways(this.#context.options.home)).length === 0);
    await this.#links.leaveIfMoved();
    if (!this.#pending.has(request)) return;
    request.sentAt = this.#context.now();
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

  closed(transport: HttpTransport, error: McpError): void {
    if (this.#closing.signal.aborted) return;
    this.debug(error.message);
    const wasCurrent = this.#links.leave(transport);
    this.#own.closed(transport, error);
    const text = `The session ended before its answer: ${error.message}`;
    const lost = new McpError("MCP_CONNECTION_CLOSED", text, { cause: error });
    for (const { message } of this.#pending.on(transport)) this.failed(transport, message.id, lost);
    this.#links.closeUnused();
    // The client waits for notifications, although it sends nothing.
    if (wasCurrent && this.#replay.isOpen) void this.#links.use(false, () => {}).catch(() => {});
  }

  isInUse(transport: HttpTransport): boolean {
    const isAwaited = ({ message }: PendingRequest) => message.method !== listenMethod;
    return this.#own.isUsing(transport) || this.#pending.on(transport).some(isAwaited);
  }

  released(transport: HttpTransport): void {
    this.#questions.end(transport);
    // Only streams of changes are left on it.
    for (const request of this.#pending.on(transport)) void this.#listenAgain(request);
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

  inputEnded(): void {
    this.#isInputEnded = true;
    for (const transport of this.#links.open) {
      for (const id of this.#questions.end(transport))
        transport.send({ jsonrpc: "2.0", id, error: noAnswer });
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

  note(text: string): void {
    this.#context.output.note(`toolcrib bridge: ${reasonLine(text)}`);
  }

  debug(text: string): void {
    if (this.#context.options.logLevel === "debug") this.note(text);
  }
}

/** The answer to a question that the client cannot answer. */
const noAnswer = { code: rpcCodes.internalError, message: "The client does not answer any more" };
