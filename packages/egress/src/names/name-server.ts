/**
 * Answers the lookups of a program in a scoped network: an allowed host has an
 * address of that network, every other name does not exist. No name that a program
 * asks for is sent anywhere, so that lookups carry nothing out. The real addresses
 * of an allowed host are resolved by the proxy when the program connects.
 */

import type { Socket as DatagramSocket } from "node:dgram";
import type { Server, Socket } from "node:net";
import { canonicalHost, isHostAllowed } from "@toolcrib/hosts";
import type { AllowedHost } from "../egress-types.ts";
import {
  answerCodes,
  type DnsQuery,
  parseDnsQuery,
  queryMaxBytes,
  recordTypes,
  writeDnsAnswer,
} from "./dns-message.ts";
import { OwnAddresses } from "./own-addresses.ts";

/** Limits of a name server. */
export interface NameServerLimits {
  /** Queries that are answered in a second; others are dropped. */
  readonly queriesPerSecond: number;
  /** Simultaneous connections over TCP; further ones are closed. */
  readonly connectionsMaxCount: number;
  /** A connection without a query for this long is closed. */
  readonly idleTimeoutMs: number;
  /** Names that are reported as refused, each once. */
  readonly reportsMaxCount: number;
}

const limits: NameServerLimits = {
  queriesPerSecond: 2000,
  connectionsMaxCount: 16,
  idleTimeoutMs: 10_000,
  reportsMaxCount: 256,
};

/** Dependencies of a name server. */
export interface NameServerOptions {
  readonly allow: readonly AllowedHost[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Receives the first lookup of each name that is not allowed. */
  onRefused(name: string): void;
}

/** Serves the listeners of one sandbox. Disposing closes them. */
export class NameServer implements Disposable {
  /** The addresses that it has given to hosts. */
  readonly addresses = new OwnAddresses();
  readonly #options: NameServerOptions;
  readonly #closing = new DisposableStack();
  readonly #reported = new Set<string>();
  #second = 0;
  #count = 0;

  constructor(options: NameServerOptions) {
    this.#options = options;
  }

  /** Serves a bound socket. */
  serveDatagrams(socket: DatagramSocket): void {
    this.#closing.defer(() => socket.close());
    // A client that is gone needs no answer.
    socket.on("error", () => {});
    socket.on("message", (bytes, { port, address }) => {
      const answer = this.answer(bytes);
      if (answer !== undefined) socket.send(answer, port, address, () => {});
    });
  }

  /** Serves a listener. */
  serveConnections(listener: Server): void {
    const open = new Set<Socket>();
    this.#closing.defer(() => {
      listener.close();
      for (const socket of open) socket.destroy();
    });
    listener.on("error", () => {});
    listener.on("connection", (socket: Socket) => {
      if (open.size >= limits.connectionsMaxCount) return void socket.destroy();
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      socket.on("error", () => {});
      socket.setTimeout(limits.idleTimeoutMs, () => socket.destroy());
      let unread = Buffer.alloc(0);
      // A client that does not read its answers is not read either, until it is idle for too long.
      const answerUnread = (): void => {
        unread = this.#answerFrames(socket, unread);
        if (socket.writableNeedDrain) socket.pause();
        else socket.resume();
      };
      socket.on("data", (piece: Buffer) => {
        unread = Buffer.concat([unread, piece]);
        answerUnread();
      });
      socket.on("drain", answerUnread);
    });
  }

  /** Answers one message; undefined for one that gets no answer. */
  answer(bytes: Uint8Array): Buffer | undefined {
    const second = Math.floor(this.#options.now() / 1000);
    if (second !== this.#second) this.#count = 0;
    this.#second = second;
    if (++this.#count > limits.queriesPerSecond) return undefined;
    const query = parseDnsQuery(bytes);
    if (query === undefined) return undefined;
    const { code, address } = this.#decide(query);
    return writeDnsAnswer(query, code, address);
  }

  [Symbol.dispose](): void {
    this.#closing.dispose();
  }

  /** Answers the complete messages in `bytes`, each after its length, while `socket` takes answers. @returns what is left */
  #answerFrames(socket: Socket, bytes: Buffer): Buffer<ArrayBuffer> {
    let at = 0;
    while (!socket.writableNeedDrain && bytes.length - at >= 2) {
      const length = bytes.readUInt16BE(at);
      if (length > queryMaxBytes) {
        socket.destroy();
        return Buffer.alloc(0);
      }
      if (bytes.length - at < 2 + length) break;
      const answer = this.answer(bytes.subarray(at + 2, at + 2 + length));
      at += 2 + length;
      if (answer === undefined) continue;
      const head = Buffer.alloc(2);
      head.writeUInt16BE(answer.length);
      socket.write(Buffer.concat([head, answer]));
    }
    return Buffer.from(bytes.subarray(at));
  }

  #decide({ question, isStandard }: DnsQuery): {
    readonly code: number;
    readonly address?: readonly number[];
  } {
    const { allow } = this.#options;
    if (!isStandard) return { code: answerCodes.notImplemented };
    if (question === undefined) return { code: answerCodes.malformed };
    const { name, type, isInternet } = question;
    if (!isInternet) return { code: answerCodes.refused };
    const isAddress = type === recordTypes.A;
    if (name === "localhost")
      return { code: answerCodes.done, ...(isAddress ? { address: [127, 0, 0, 1] } : {}) };
    const host = canonicalHost(name);
    if (host === undefined || !isHostAllowed(allow, host)) {
      this.#report(name);
      return { code: answerCodes.noSuchName };
    }
    // An allowed host exists, with no record but this one: no IPv6, and no keys for an encrypted name.
    return { code: answerCodes.done, ...(isAddress ? { address: this.addresses.of(host) } : {}) };
  }

  #report(name: string): void {
    if (this.#reported.has(name) || this.#reported.size >= limits.reportsMaxCount) return;
    this.#reported.add(name);
    this.#options.onRefused(name);
  }
}
