/**
 * Counts the output of all connections that their clients have not read, by
 * client. A large answer is refused when its client has used up its share, so
 * that clients that do not read cannot use up the memory of the process.
 *
 * Small answers always pass: requests in flight limit their number.
 */

import { FairShare } from "@toolcrib/lifecycle";
import type { RpcId } from "../json-rpc.ts";
import { McpError, toRpcError } from "../mcp-error.ts";
import type { HttpResponse } from "./http-messages.ts";

/** Limit of `UnreadBytes`. */
export interface UnreadBytesOptions {
  /** Unread bytes of all connections; one client gets at most half of them, and one answer more. @default 268,435,456 */
  readonly totalMaxBytes?: number | undefined;
}

/** Answers up to this length are always sent. */
const smallMaxLength = 64 * 1024;

/** The unread output of all connections. */
export class UnreadBytes {
  readonly #shares: FairShare;
  readonly #counted = new Map<HttpResponse, { readonly client: string; bytes: number }>();

  constructor(options: UnreadBytesOptions = {}) {
    this.#shares = new FairShare(options.totalMaxBytes ?? 256 * 1024 * 1024);
  }

  /** Returns `answer` to request `id` of `client`, or an error in its place when the client has to read first. */
  admit(client: string, id: RpcId, answer: string): string {
    if (answer.length <= smallMaxLength || this.#shares.refusalFor(client) === undefined) return answer;
    const text =
      "The answer was dropped: this client has too many unread answers; the call may have had an effect";
    const error = new McpError("MCP_UNREAD_LIMIT", text, { hint: "read earlier answers first" });
    return JSON.stringify({ jsonrpc: "2.0", id, error: toRpcError(error) });
  }

  /** Counts an answer of `length` that waits for others of its batch. @returns what ends the wait */
  hold(client: string, length: number): Disposable {
    this.#shares.take(client, length);
    return { [Symbol.dispose]: () => this.#shares.giveBack(client, length) };
  }

  /** Counts what `client` has not read of `response`, until it is read. Call it after a write. */
  count(client: string, response: HttpResponse): void {
    const known = this.#counted.get(response);
    if (known !== undefined) {
      this.#update(response, response.writableLength);
      return;
    }
    const bytes = response.writableLength;
    // Most output is read at once.
    if (bytes === 0 || response.destroyed) return;
    this.#counted.set(response, { client, bytes });
    this.#shares.take(client, bytes);
    response.on("drain", () => this.#update(response, response.writableLength));
    for (const event of ["finish", "close"] as const) response.once(event, () => this.#update(response, 0));
  }

  #update(response: HttpResponse, bytes: number): void {
    const counted = this.#counted.get(response);
    if (counted === undefined) return;
    this.#shares.giveBack(counted.client, counted.bytes);
    this.#shares.take(counted.client, bytes);
    counted.bytes = bytes;
    if (bytes === 0 && (response.writableFinished || response.destroyed)) this.#counted.delete(response);
  }
}
