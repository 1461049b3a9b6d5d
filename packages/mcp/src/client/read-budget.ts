/**
 * Bounds what the responses of one session hold while they are read, for an owner that passes them on to a reader of
 * its own. While the reader takes nothing, nothing is read. Past the limit, one response is read at a time, the one that
 * has held bytes for the longest time first, so that one of them always ends, and the server waits for its connections
 * meanwhile. One that brings little gives its turn to the next. Those that wait are read on in the order in
 * which they began to wait, and no more of them at once than there is room for. Where responses that bring little have
 * used up the room for the largest message too, the largest of them is broken off.
 */

import type { Readable } from "node:stream";
import { McpError } from "../mcp-error.ts";

/** Behaviour of a `ReadBudget`. */
export interface ReadBudgetOptions {
  /** Bytes of unfinished responses past which only one of them is read at a time. */
  readonly maxBytes: number;
  /** Returns when the reader of the owner takes more; undefined while it does. */
  readonly whenTaken: () => Promise<void> | undefined;
  /** Milliseconds with less than 1 MiB after which a response is broken off that uses up the room for others. @default 30,000 */
  readonly stalledMs?: number;
}

const defaultStalledMs = 30_000;
/** Bytes that one read of a response brings, about: the size of a chunk of Node's sockets. */
const chunkBytes = 64 * 1024;
/** Milliseconds between two checks whether the response that may be read brings enough to keep its turn. */
const checkMs = 100;
/** Bytes in that time with which it keeps it: the largest message has an end within minutes. */
const turnMinBytes = chunkBytes;
/** Bytes within `stalledMs` with which none is broken off. */
const stalledMinBytes = 1024 * 1024;

/** The unfinished responses of one session. */
export class ReadBudget {
  readonly #options: ReadBudgetOptions;
  /** Bytes past which no response gets the turn of another one: those of the limit, and of the largest message. */
  readonly #turnsMaxBytes: number;
  /** Bytes that each response holds, oldest first. */
  readonly #held = new Map<HeldResponse, number>();
  /** Wakes each response that waits for room, the one that waits longest first. */
  readonly #waiting = new Map<HeldResponse, () => void>();
  #bytes = 0;
  /** The response that is read past the limit, and the bytes that it had brought at the last check. */
  #turn: { readonly response: HeldResponse; brought: number } | undefined;
  /** Those that brought too little in their turn, the one whose turn is longest ago first: all others come before them. */
  readonly #slow = new Set<HeldResponse>();
  /** Both run only while responses wait. */
  #check: NodeJS.Timeout | undefined;
  #stall: NodeJS.Timeout | undefined;

  /** @param messageMaxBytes size of the largest message */
  constructor(options: ReadBudgetOptions, messageMaxBytes: number) {
    this.#options = options;
    this.#turnsMaxBytes = options.maxBytes + messageMaxBytes;
  }

  /** Begins with a response, which holds nothing yet. */
  begin(body: Readable): HeldResponse {
    return new HeldResponse(this, body);
  }

  /** Sets what a response holds. */
  hold(response: HeldResponse, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(response) ?? 0);
    if (bytes > 0) this.#held.set(response, bytes);
    else this.#held.delete(response);
    if (bytes === 0 && this.#turn?.response === response) this.#turn = undefined;
    if (bytes === 0) this.#slow.delete(response);
    if (this.#bytes <= this.#turnsMaxBytes) this.#endStall();
    this.#wake();
  }

  /** Returns when it may be time to read on; undefined where it is. */
  whenReadable(response: HeldResponse): Promise<void> | undefined {
    const taken = this.#options.whenTaken();
    if (taken !== undefined) return taken;
    if (this.#bytes <= this.#options.maxBytes || this.#turn?.response === response) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    // One that waits already keeps its place.
    this.#waiting.set(response, resolve);
    this.#checkSoon();
    return promise;
  }

  /** Forgets that a response waits. */
  leave(response: HeldResponse): void {
    this.#waiting.delete(response);
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#check);
    this.#check = undefined;
    this.#endStall();
  }

  #endStall(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
  }

  /** Wakes as many of those that wait as there is room for; where there is none, the one whose turn it is. */
  #wake(): void {
    const room = this.#options.maxBytes - this.#bytes;
    if (room < 0) {
      const [oldest] = this.#inOrder(this.#held.keys());
      if (this.#turn === undefined && oldest !== undefined) this.#giveTurn(oldest);
      return;
    }
    this.#turn = undefined;
    let left = Math.max(1, Math.floor(room / chunkBytes));
    for (const wake of this.#waiting.values()) {
      if (left === 0) return;
      left -= 1;
      wake();
    }
  }

  #inOrder(responses: Iterable<HeldResponse>): readonly HeldResponse[] {
    return [...[...responses].filter((one) => !this.#slow.has(one)), ...this.#slow];
  }

  #giveTurn(response: HeldResponse): void {
    this.#turn = { response, brought: response.brought };
    this.#waiting.get(response)?.();
  }

  #checkSoon(): void {
    this.#check ??= setTimeout(() => {
      this.#check = undefined;
      if (this.#turn === undefined) this.#wake();
      else this.#checkTurn(this.#turn);
      if (this.#waiting.size > 0) this.#checkSoon();
    }, checkMs).unref();
  }

  #checkTurn(turn: { readonly response: HeldResponse; brought: number }): void {
    const { response, brought } = turn;
    turn.brought = response.brought;
    if (response.brought - brought >= turnMinBytes) {
      this.#slow.delete(response);
      return;
    }
    // It may also wait until the owner takes more.
    if (!response.isReading) return;
    if (this.#bytes > this.#turnsMaxBytes) {
      const stalledMs = this.#options.stalledMs ?? defaultStalledMs;
      this.#stall ??= setTimeout(() => this.#breakOff(response, brought), stalledMs).unref();
      return;
    }
    this.#slow.delete(response);
    this.#slow.add(response);
    const order = this.#inOrder([...this.#held.keys(), ...this.#waiting.keys()]);
    const next = order.find((one) => this.#waiting.has(one));
    if (next !== undefined) this.#giveTurn(next);
  }

  /** Breaks off the largest response of which the server sends nothing or too little, unless the one in turn goes on. */
  #breakOff(inTurn: HeldResponse, brought: number): void {
    this.#stall = undefined;
    if (inTurn.brought - brought >= stalledMinBytes) return;
    let largest: HeldResponse | undefined;
    for (const [response, bytes] of this.#held) {
      if (response.isReading && bytes > (this.#held.get(largest as HeldResponse) ?? 0)) largest = response;
    }
    largest?.breakOff();
  }
}

/** One response that is being read. Disposed when nothing of it is held any more. */
export class HeldResponse implements Disposable {
  readonly #budget: ReadBudget;
  readonly #body: Readable;
  #brought = 0;
  #heldBytes = 0;
  #isReading = true;

  constructor(budget: ReadBudget, body: Readable) {
    this.#budget = budget;
    this.#body = body;
  }

  /** Bytes that it brought. */
  get brought(): number {
    return this.#brought;
  }

  /** Whether the next chunk is awaited from the server. */
  get isReading(): boolean {
    return this.#isReading;
  }

  /** Sets what it holds now, and waits until it may be read on or is closed. */
  async holds(bytes: number): Promise<void> {
    // It holds less where a message of several ended, which is as good as a chunk.
    this.#brought += bytes < this.#heldBytes ? chunkBytes : bytes - this.#heldBytes;
    this.#heldBytes = bytes;
    this.#budget.hold(this, bytes);
    let readable = this.#budget.whenReadable(this);
    if (readable === undefined) return;
    this.#isReading = false;
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    this.#body.once("close", resolve);
    for (; readable !== undefined && !this.#body.destroyed; readable = this.#budget.whenReadable(this))
      await Promise.race([readable, closed]);
    this.#budget.leave(this);
    this.#body.off("close", resolve);
    this.#isReading = true;
  }

  /** Ends it, so that others are read. */
  breakOff(): void {
    const text =
      "The server sends next to nothing more of an unfinished response, which keeps others from being read";
    this.#body.destroy(new McpError("MCP_CONNECTION_CLOSED", text));
  }

  [Symbol.dispose](): void {
    this.#budget.leave(this);
    this.#budget.hold(this, 0);
  }
}
