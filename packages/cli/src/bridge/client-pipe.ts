/**
 * The standard streams of a bridge: messages of the client, read as fast as they can be sent on, and those to it.
 * Where requests wait, the client is read slowly, so that its cancellations and its answers to questions still
 * arrive. Nothing is read from a client that does not read, nor from the gateway for it, and one with far too much
 * unread is disconnected.
 */

import type { Readable } from "node:stream";
import type { JsonValue } from "@toolcrib/json";
import { LineDecoder, LineWriter, McpError, type RpcId, rpcCodes, toRpcError } from "@toolcrib/mcp";
import type { CliContext } from "../cli-context.ts";

/** Longest message in bytes, as over standard streams without a bridge. */
const lineMaxBytes = 16 * 1024 * 1024;
/** Bytes that the client has not read, past which nothing is read from it, and past which it is disconnected. */
const unreadMaxBytes = 4 * 1024 * 1024;
const disconnectFactor = 16;
/** Milliseconds between two readings while requests wait. */
const readPauseMs = 100;

/** The bridge, as its pipe sees it. */
export interface PipeOwner {
  /** Receives the value of a line, and the line. */
  received(value: JsonValue, text: string): void;
  /** The client closed its end; all of its messages were received. */
  inputEnded(): void;
  /** Nothing can be read or written any more. */
  broken(reason?: string): void;
  /** The speed at which to read now. */
  readonly pace: "read" | "slowly" | "wait";
}

/** One client. */
export class ClientPipe {
  readonly #owner: PipeOwner;
  readonly #input: Readable;
  readonly #output: NodeJS.WriteStream;
  readonly #writer: LineWriter;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;
  /** Settles when the client has read what waits for it. */
  #draining: PromiseWithResolvers<void> | undefined;

  constructor({ stdin, stdout }: Pick<CliContext, "stdin" | "stdout">, owner: PipeOwner) {
    this.#owner = owner;
    this.#input = stdin;
    this.#output = stdout as NodeJS.WriteStream;
    this.#writer = new LineWriter(this.#output, () => this.#checkUnread());
    const decoder = new LineDecoder(
      {
        message: (value, text) => owner.received(value as JsonValue, text),
        invalid: (reason, _text, id) =>
          this.refuse(id ?? null, new McpError("MCP_INVALID_MESSAGE", reason), rpcCodes.parseError),
      },
      lineMaxBytes,
      "client",
    );
    this.#input.on("data", (chunk: Buffer | string) => {
      decoder.write(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
      this.steer();
    });
    this.#input.once("end", () => {
      // The last line may have no line feed.
      decoder.end();
      this.#inputEnded();
    });
    this.#input.once("close", () => this.#inputEnded());
    this.#input.on("error", () => owner.broken());
    this.#output.on("error", () => owner.broken());
    this.#output.once("close", () => owner.broken());
  }

  write(message: object): void {
    this.#writer.write(message);
  }

  /** Answers with an error. @param id null for a message whose id cannot be read */
  refuse(id: RpcId | null, thrown: unknown, code?: number): void {
    const error = toRpcError(thrown);
    this.write({ jsonrpc: "2.0", id, error: code === undefined ? error : { ...error, code } });
  }

  /** Reads from the client at the pace of the owner. Call it when that changes. */
  steer(): void {
    if (this.#isEnded) return;
    const { pace } = this.#owner;
    if (pace !== "slowly") {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    if (pace === "read") this.#resume();
    else this.#input.pause();
    if (pace === "slowly") {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#resume();
      }, readPauseMs);
    }
  }

  /** Resolves when all that was written has left. */
  async flushed(): Promise<void> {
    // The line writer writes first. The callback of an empty write then runs after all earlier writes.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#output.destroyed || this.#output.writableEnded) return;
    await new Promise<void>((resolve) => this.#output.write("", () => resolve()));
  }

  /** Returns when the client has read what waits for it; undefined where that is little. */
  whenTaken(): Promise<void> | undefined {
    return this.#draining?.promise;
  }

  /** Reads no more. */
  close(): void {
    this.#isEnded = true;
    this.#drained();
    clearTimeout(this.#timer);
    this.#input.pause();
  }

  #inputEnded(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.#owner.inputEnded();
  }

  #resume(): void {
    if (this.#isEnded || this.#output.writableLength > unreadMaxBytes) this.#input.pause();
    else this.#input.resume();
  }

  #checkUnread(): void {
    const unread = this.#output.writableLength;
    if (unread <= unreadMaxBytes) return;
    if (unread > unreadMaxBytes * disconnectFactor) {
      this.#owner.broken("the client does not read its answers");
      return;
    }
    this.steer();
    if (this.#draining !== undefined) return;
    this.#draining = Promise.withResolvers();
    this.#output.once("drain", () => this.#drained());
  }

  #drained(): void {
    this.#draining?.resolve();
    this.#draining = undefined;
    this.steer();
  }
}
