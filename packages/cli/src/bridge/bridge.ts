/**
 * `toolcrib bridge`: a client that only starts programs, connected to the gateway that runs. Every message is passed
 * on as it is, in both directions and in both eras of the protocol: requests, answers, notifications, progress,
 * cancellations, and questions of servers to the client.
 *
 * A request that the gateway did not receive waits for the next gateway, which is started where none runs. A call that
 * was lost with a gateway fails; nothing that may change something is sent twice.
 */

import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { isTokenName } from "@toolcrib/auth";
import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import { createHttpClient, HttpTransport, LineDecoder, LineWriter, toRpcError } from "@toolcrib/mcp";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { ensureToken, tokenOf } from "../connect/gateway-entry.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { reasonLine } from "../output/output.ts";
import { reachableUrl } from "../serve/reachable-url.ts";
import { untilInterrupted } from "../serve/serve-stdio.ts";
import { findBridgeConfig } from "./bridge-config.ts";
import { ensureGateway } from "./ensure-gateway.ts";
import { SessionReplay } from "./session-replay.ts";

/** Options of the command. */
export interface BridgeFlags {
  readonly profile?: string;
  readonly as?: string;
}

/** Longest message in bytes, as over standard streams without a bridge. */
const lineMaxBytes = 16 * 1024 * 1024;
/** Bytes that the client has not read, past which nothing is read from it, and past which it is disconnected. */
const unreadMaxBytes = 4 * 1024 * 1024;
const disconnectFactor = 16;
/** Longest wait for answers after the client closed its end. */
const endGraceMs = 10_000;
/** Milliseconds until a gateway accepts a new token: it looks for them every second. */
const tokenDelayMs = 1100;
/** Milliseconds after a failed start in which requests fail at once. */
const restMs = 2000;

type Message = Parameters<HttpTransport["send"]>[0];
type Id = string | number;

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
class Bridge implements AsyncDisposable {
  readonly #context: CliContext;
  readonly #flags: BridgeFlags;
  readonly #writer: LineWriter;
  readonly #ended = Promise.withResolvers<void>();
  readonly #closing = new AbortController();
  /** Requests of the client that have no answer. */
  readonly #pending = new Map<Id, { readonly message: Message; readonly isRepeated: boolean }>();
  /** Called at each answer. */
  #onAnswer: (() => void) | undefined;
  readonly #replay = new SessionReplay();
  /** Messages that were read and not yet sent; reading pauses while there are any. */
  readonly #waiting: Message[] = [];
  #isSending = false;
  #transport: HttpTransport | undefined;
  #client: ReturnType<typeof createHttpClient> | undefined;
  #connecting: Promise<HttpTransport> | undefined;
  #url = "";
  #failure: { readonly error: unknown; readonly at: number } | undefined;
  #isInputEnded = false;
  #isDraining = false;

  constructor(context: CliContext, flags: BridgeFlags) {
    this.#context = context;
    this.#flags = flags;
    const output = context.stdout as NodeJS.WriteStream;
    this.#writer = new LineWriter(output, () => this.#checkUnread());
    const decoder = new LineDecoder(
      {
        message: (value) => this.#received(value),
        invalid: (reason) => this.#refuse(reason),
      },
      lineMaxBytes,
    );
    const input = context.stdin as Readable;
    input.on("data", (chunk: Buffer | string) =>
      decoder.write(typeof chunk === "string" ? Buffer.from(chunk) : chunk),
    );
    input.once("end", () => void this.#inputEnded());
    input.once("close", () => void this.#inputEnded());
    input.on("error", () => this.#ended.resolve());
    output.on("error", () => this.#ended.resolve());
    output.once("close", () => this.#ended.resolve());
  }

  /** Resolves when the client has closed its end and its requests are answered. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#onAnswer?.();
    this.#context.stdin.pause();
    await this.#disconnect();
  }

  #received(value: unknown): void {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (typeof one !== "object" || one === null) this.#refuse("it is no JSON-RPC message");
      else this.#waiting.push(one as Message);
    }
    if (!this.#isSending) void this.#sendAll();
  }

  #refuse(reason: string): void {
    this.#writer.write({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32700, message: `Cannot read the message: ${reason}` },
    });
  }

  /** Sends what was read, in its order. Meanwhile nothing is read. */
  async #sendAll(): Promise<void> {
    this.#isSending = true;
    this.#context.stdin.pause();
    for (let message = this.#waiting.shift(); message !== undefined; message = this.#waiting.shift()) {
      await this.#send(message, false);
    }
    this.#isSending = false;
    if (this.#isInputEnded) this.#endIfAnswered();
    else if (this.#unread <= unreadMaxBytes) this.#context.stdin.resume();
  }

  async #send(message: Message, isRepeated: boolean): Promise<void> {
    const id = idOfRequest(message);
    if (id !== undefined) this.#pending.set(id, { message, isRepeated });
    this.#replay.sent(message);
    try {
      const transport = await this.#connected(message);
      transport.send(message);
      // What follows belongs to the session that the answer opens.
      if (id !== undefined && methodOf(message) === "initialize" && !isRepeated) await this.#answered(id);
      // The server may ask before the first request only after the stream for that is open.
      if (methodOf(message) === "notifications/initialized") await transport.settled();
    } catch (error) {
      if (id !== undefined) this.#answerError(id, error);
    }
  }

  /** Resolves when a request is answered, or the bridge ends. */
  async #answered(id: Id): Promise<void> {
    while (this.#pending.has(id) && !this.#closing.signal.aborted && !this.#isInputEnded) {
      await new Promise<void>((resolve) => (this.#onAnswer = resolve));
    }
  }

  /** Returns the connection to the gateway that runs now. */
  async #connected(first: Message): Promise<HttpTransport> {
    // While a connection is made, its session is not open yet.
    if (this.#transport !== undefined && this.#connecting === undefined) return this.#transport;
    const { error, at } = this.#failure ?? {};
    if (at !== undefined && this.#context.now() - at < restMs) throw error;
    this.#connecting ??= this.#connect(methodOf(first) === "initialize").finally(
      () => (this.#connecting = undefined),
    );
    try {
      const transport = await this.#connecting;
      this.#failure = undefined;
      return transport;
    } catch (cause) {
      this.#failure = { error: cause, at: this.#context.now() };
      this.#note(`error ${isCodedError(cause) ? `${cause.code}: ` : ""}${messageOf(cause)}`);
      throw cause;
    }
  }

  /** @param isFirst whether the client itself opens the session next */
  async #connect(isFirst: boolean): Promise<HttpTransport> {
    const { gateway, isStarted } = await ensureGateway(this.#context, findBridgeConfig);
    if (isStarted)
      this.#note(
        `started the gateway at ${gateway.url} (process ${gateway.pid}); it stays when the client ends`,
      );
    const { profile } = this.#flags;
    const base = `${reachableUrl(gateway.url)}/mcp`;
    const url = profile === undefined ? base : `${base}/p/${encodeURIComponent(profile)}`;
    const token = gateway.auth === "none" ? undefined : await this.#token();
    await this.#disconnect();
    this.#client = createHttpClient();
    const transport = new HttpTransport(this.#client, {
      url,
      ...(token === undefined ? {} : { credentials: () => ({ authorization: `Bearer ${token}` }) }),
      messageMaxBytes: 64 * 1024 * 1024,
    });
    await transport.open({
      message: (value) => this.#fromGateway(transport, value),
      failed: (id, error) => this.#failed(transport, id as Id, error),
      closed: (error) => this.#closed(transport, error),
      invalid: (reason) => this.#debug(reason),
    });
    this.#transport = transport;
    this.#url = url;
    if (!isFirst && this.#replay.isOpen) {
      try {
        await this.#replay.run(transport);
      } catch (error) {
        if (this.#transport === transport) this.#transport = undefined;
        throw error;
      }
      // Another gateway can have other lists.
      for (const list of ["tools", "prompts", "resources"]) {
        this.#writer.write({ jsonrpc: "2.0", method: `notifications/${list}/list_changed` });
      }
    }
    return transport;
  }

  async #token(): Promise<string> {
    const name = this.#flags.as ?? "bridge";
    if (await ensureToken(this.#context, name))
      await delay(tokenDelayMs, undefined, { signal: this.#closing.signal });
    const token = tokenOf(this.#context, name);
    if (token === undefined)
      throw new CliError("CLI_GATEWAY_UNUSABLE", `The token "${name}" cannot be read`, {});
    return token;
  }

  #fromGateway(transport: HttpTransport, value: unknown): void {
    if (transport !== this.#transport) return;
    const message = value as {
      readonly id?: Id;
      readonly method?: string;
      readonly result?: { readonly protocolVersion?: unknown };
    };
    if (this.#replay.received(message)) return;
    if (message.method === undefined && message.id !== undefined) {
      const request = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      const version = message.result?.protocolVersion;
      if (methodOf(request?.message) === "initialize" && typeof version === "string")
        transport.negotiated(version);
    }
    this.#writer.write(value);
    this.#endIfAnswered();
  }

  /** A request that was not delivered, or whose answer is lost. */
  #failed(transport: HttpTransport, id: Id, error: Error): void {
    if (this.#replay.failed(id, error)) return;
    const request = this.#pending.get(id);
    if (request === undefined) return;
    const { message, isRepeated } = request;
    const code = isCodedError(error) ? error.code : "";
    const wasNotReceived = code === "MCP_UNREACHABLE" || code === "MCP_SESSION_EXPIRED";
    const isHarmless = code === "MCP_CONNECTION_CLOSED" && harmless.test(methodOf(message) ?? "");
    if (!isRepeated && !this.#closing.signal.aborted && (wasNotReceived || isHarmless)) {
      void this.#again(message, transport, code);
      return;
    }
    this.#answerError(id, error);
  }

  /** Sends a request once more, to the gateway that runs now. @param lost the connection on which it failed */
  async #again(message: Message, lost: HttpTransport, code: string): Promise<void> {
    // The run file of a gateway that ended is gone or stale; that of the next one says where it is.
    const isOver = code === "MCP_SESSION_EXPIRED" || (await this.#hasMoved());
    // Meanwhile, another request can have led to a new connection.
    if (isOver && this.#transport === lost) this.#transport = undefined;
    await this.#send(message, true);
  }

  /** Whether another gateway has to be connected: none runs, or at another address. */
  async #hasMoved(): Promise<boolean> {
    try {
      const { gateway } = await ensureGateway(this.#context, findBridgeConfig);
      return !this.#url.startsWith(`${reachableUrl(gateway.url)}/`);
    } catch {
      // The next attempt reports it.
      return true;
    }
  }

  #closed(transport: HttpTransport, error: Error): void {
    if (transport !== this.#transport || this.#closing.signal.aborted) return;
    this.#debug(error.message);
    this.#transport = undefined;
    // The client waits for notifications, although it sends nothing.
    if (this.#replay.isOpen)
      void this.#connected({ jsonrpc: "2.0", method: "ping" } as Message).catch(() => {});
  }

  #answerError(id: Id, error: unknown): void {
    if (!this.#pending.delete(id)) return;
    this.#writer.write({ jsonrpc: "2.0", id, error: toRpcError(error) });
    this.#endIfAnswered();
  }

  async #disconnect(): Promise<void> {
    const [transport, client] = [this.#transport, this.#client];
    this.#transport = undefined;
    this.#client = undefined;
    await transport?.close();
    await client?.destroy();
  }

  async #inputEnded(): Promise<void> {
    if (this.#isInputEnded) return;
    this.#isInputEnded = true;
    this.#endIfAnswered();
    await delay(endGraceMs, undefined, { ref: false, signal: this.#closing.signal }).catch(() => {});
    this.#ended.resolve();
  }

  #endIfAnswered(): void {
    this.#onAnswer?.();
    const isIdle = [...this.#pending.values()].every(
      ({ message }) => methodOf(message) === "subscriptions/listen",
    );
    if (this.#isInputEnded && !this.#isSending && isIdle) setImmediate(() => this.#ended.resolve());
  }

  get #unread(): number {
    return (this.#context.stdout as NodeJS.WriteStream).writableLength;
  }

  /** Reads no more from a client that does not read, and disconnects one that has far too much unread. */
  #checkUnread(): void {
    const output = this.#context.stdout as NodeJS.WriteStream;
    if (this.#unread <= unreadMaxBytes) return;
    if (this.#unread > unreadMaxBytes * disconnectFactor) {
      this.#note("error: the client does not read its answers");
      this.#ended.resolve();
      return;
    }
    this.#context.stdin.pause();
    if (this.#isDraining) return;
    this.#isDraining = true;
    output.once("drain", () => {
      this.#isDraining = false;
      if (!this.#isSending && !this.#isInputEnded) this.#context.stdin.resume();
    });
  }

  #note(text: string): void {
    this.#context.output.note(`toolcrib bridge: ${reasonLine(text)}`);
  }

  #debug(text: string): void {
    if (this.#context.options.logLevel === "debug") this.#note(text);
  }
}

/** Requests that change nothing, so that they can be sent twice. */
const harmless =
  /^(?:ping|initialize|server\/discover|(?:tools|prompts|resources|resources\/templates)\/list|prompts\/get|resources\/read|completion\/complete|subscriptions\/listen)$/;

function methodOf(message: unknown): string | undefined {
  const { method } = (message ?? {}) as { readonly method?: unknown };
  return typeof method === "string" ? method : undefined;
}

function idOfRequest(message: unknown): Id | undefined {
  const { id, method } = message as { readonly id?: unknown; readonly method?: unknown };
  if (typeof method !== "string") return undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
