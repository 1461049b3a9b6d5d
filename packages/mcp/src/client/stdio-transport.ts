/**
 * The stdio transport on the client side, over the standard streams of a
 * process that the caller owns.
 */

import type { Readable, Writable } from "node:stream";
import { cutText } from "@toolcrib/diagnostics";
import { type AnswerFault, LineWriter, readLines } from "../framing/lines.ts";
import type { RpcId, RpcMessage } from "../json-rpc.ts";
import { McpError } from "../mcp-error.ts";
import { FloodGate, FloodMeter } from "./flood-gate.ts";
import { answerError, defaultMessageMaxBytes } from "./lost-answer.ts";
import { isAnswer } from "./received-messages.ts";
import type { ClientTransport, TransportReceiver } from "./transport.ts";

/** Options of `StdioTransport`. */
export interface StdioTransportOptions {
  /** Longest line in bytes; 128 MiB more end the connection. @default 33,554,432 */
  readonly lineMaxBytes?: number;
  /** Unread bytes past which requests fail until the server reads. @default 67,108,864 */
  readonly unreadMaxBytes?: number;
  /** Gets the beginning of the first line that is not JSON. */
  readonly onText?: ((text: string) => void) | undefined;
  /** Milliseconds since the epoch, to slow down a server that sends without end. @default it is not slowed down */
  readonly now?: () => number;
  /** Removes secrets from a text of the server before it is cut. @default it has none */
  readonly scrub?: ((text: string) => string) | undefined;
}

/** Characters of a line that is no message, for people. */
const shownMaxLength = 200;

/** Connects to a server over its standard streams. */
export class StdioTransport implements ClientTransport {
  readonly kind = "stdio";
  readonly #stdin: Writable;
  readonly #stdout: Readable;
  readonly #writer: LineWriter;
  readonly #lineMaxBytes: number;
  readonly #unreadMaxBytes: number;
  readonly #now: (() => number) | undefined;
  readonly #scrub: StdioTransportOptions["scrub"];
  #onText: ((text: string) => void) | undefined;
  #receiver: TransportReceiver | undefined;
  #gate: FloodGate | undefined;
  #isClosed = false;

  /** @param streams the server's standard input and output. */
  constructor(
    streams: { readonly stdin: Writable; readonly stdout: Readable },
    options: StdioTransportOptions = {},
  ) {
    this.#stdin = streams.stdin;
    this.#stdout = streams.stdout;
    this.#writer = new LineWriter(streams.stdin);
    this.#now = options.now;
    this.#onText = options.onText;
    this.#scrub = options.scrub;
    this.#lineMaxBytes = options.lineMaxBytes ?? defaultMessageMaxBytes;
    this.#unreadMaxBytes = options.unreadMaxBytes ?? 64 * 1024 * 1024;
  }

  async open(receiver: TransportReceiver): Promise<void> {
    this.#receiver = receiver;
    const gate =
      this.#now && new FloodGate(this.#stdout, new FloodMeter(this.#now, () => receiver.slowed?.()));
    this.#gate = gate;
    const callbacks = {
      message: (value: unknown) => {
        gate?.received(isAnswer(value));
        receiver.message(value);
      },
      invalid: (reason: string, beginning: string) => {
        const text = cutText(beginning, shownMaxLength, this.#scrub, { isBeginning: true });
        // A message over a limit is reported as one.
        if (!text.trimStart().startsWith("{")) {
          this.#onText?.(text);
          this.#onText = undefined;
        }
        receiver.invalid(`standard output: ${reason}: ${text}`);
      },
      lostAnswer: (id: RpcId | undefined, fault: AnswerFault) => {
        const error = this.#errorOf(fault);
        if (id !== undefined) receiver.failed(id, error);
        if (fault !== "invalid") receiver.invalid(`standard output: ${error.message}`, error);
      },
      endless: () => this.#end(this.#errorOf("too large")),
    };
    if (gate !== undefined) this.#stdout.on("data", ({ length }: Buffer) => gate.arrived(length));
    readLines(this.#stdout, callbacks, this.#lineMaxBytes, "server");
    this.#stdout.once("end", () => this.#end(closedError("The server closed its output")));
    this.#stdout.once("close", () => this.#end(closedError("The server closed its output")));
    this.#stdout.on("error", (cause) => this.#end(closedError("The server's output cannot be read", cause)));
    // A write to a server that has exited fails here; its output ends too.
    this.#stdin.on("error", (cause) => this.#end(closedError("The server no longer accepts input", cause)));
  }

  send(message: RpcMessage): void {
    if (this.#stdin.writableLength <= this.#unreadMaxBytes) {
      this.#writer.write(message);
      return;
    }
    const error = new McpError("MCP_OVERLOADED", "The server does not read its input", {
      hint: `more than ${this.#unreadMaxBytes} bytes wait for it`,
    });
    if ("method" in message && "id" in message) this.#receiver?.failed(message.id, error);
    else this.#receiver?.invalid(`${error.message}: a message to it is dropped`);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#gate?.close();
    this.#stdin.end();
  }

  #errorOf(fault: AnswerFault): McpError {
    return answerError(fault, this.#lineMaxBytes);
  }

  #end(error: McpError): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#gate?.close();
    this.#receiver?.closed(error);
  }
}

function closedError(text: string, cause?: Error): McpError {
  return new McpError("MCP_CONNECTION_CLOSED", text, { cause });
}
