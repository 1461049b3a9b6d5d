/**
 * Counts the bodies of requests in flight, by client. A body is refused when its
 * client has used up its share, so that many large calls at a time cannot use up
 * the memory of the process: parsed JSON takes several times its text.
 *
 * Small bodies always pass: requests in flight limit their number.
 */

import type { FairShare } from "@toolcrib/lifecycle";
import { McpError } from "../mcp-error.ts";

/** Bodies up to this number of bytes are not counted. */
export const smallMaxBytes = 8 * 1024;

/** The body of one POST, counted until it is disposed. */
export class HeldBody implements Disposable {
  readonly #shares: FairShare;
  readonly #client: string;
  #bytes = 0;
  #countedBytes = 0;

  /** @param client the `identityKey` of the sender. */
  constructor(shares: FairShare, client: string) {
    this.#shares = shares;
    this.#client = client;
  }

  /** Adds bytes that have arrived. @returns whether the client may send them */
  add(bytes: number): boolean {
    this.#bytes += bytes;
    if (this.#bytes <= smallMaxBytes) return true;
    if (this.#shares.refusalFor(this.#client) !== undefined) return false;
    const uncounted = this.#bytes - this.#countedBytes;
    this.#shares.take(this.#client, uncounted);
    this.#countedBytes = this.#bytes;
    return true;
  }

  /** Adds memory of a body that was accepted. */
  charge(bytes: number): void {
    this.#shares.take(this.#client, bytes);
    this.#countedBytes += bytes;
    this.#bytes += bytes;
  }

  /** Hands what is counted over to a new owner, who disposes of it; undefined where nothing is counted. */
  move(): Disposable | undefined {
    if (this.#countedBytes === 0) return undefined;
    const moved = new HeldBody(this.#shares, this.#client);
    moved.#bytes = this.#bytes;
    moved.#countedBytes = this.#countedBytes;
    this.#bytes = 0;
    this.#countedBytes = 0;
    return moved;
  }

  [Symbol.dispose](): void {
    if (this.#countedBytes > 0) this.#shares.giveBack(this.#client, this.#countedBytes);
    this.#bytes = 0;
    this.#countedBytes = 0;
  }
}

/** Creates the error of a body for which its client has no room. */
export function tooManyBytes(): McpError {
  return new McpError(
    "MCP_SHARE_EXCEEDED",
    "This client has used up its share of the memory for requests in flight",
    { httpStatus: 503, hint: "wait for answers before sending more, or send less data with each request" },
  );
}
