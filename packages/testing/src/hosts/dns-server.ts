/**
 * A DNS server on loopback (RFC 1035, over UDP) whose answers a test decides, with a
 * time to live of 0: an answer that changes with each query, aliases, several
 * addresses at once. Supports queries for addresses (A and AAAA), and answers all
 * others with NXDOMAIN.
 */

import assert from "node:assert/strict";
import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { isIP } from "node:net";

/** The answer for a name. */
export interface DnsAnswer {
  /** Addresses of both families; a query gets those of its type. */
  readonly addresses: readonly string[];
  /** The canonical name, if the queried name is an alias. */
  readonly alias?: string;
}

/** A running DNS server. */
export interface DnsServer extends AsyncDisposable {
  readonly port: number;
  /** Returns the number of queries for the address (A) of `name`. */
  askedFor(name: string): number;
}

const types: ReadonlyMap<number, 4 | 6> = new Map([
  [1, 4],
  [28, 6],
]);

/**
 * Starts a DNS server.
 *
 * @param answer returns the answer to the `nth` query (from 1) of a type for `name`, or undefined if the name does not exist.
 */
export async function startDnsServer(
  answer: (name: string, nth: number) => DnsAnswer | undefined,
): Promise<DnsServer> {
  const asked = new Map<string, number>();
  const socket = createSocket("udp4");
  socket.on("message", (query: Buffer, { address, port }: RemoteInfo) => {
    const { name, end, family } = readQuestion(query);
    const key = `${family ?? "other"} ${name}`;
    const nth = (asked.get(key) ?? 0) + 1;
    asked.set(key, nth);
    const found = family === undefined ? undefined : answer(name, nth);
    const records = found === undefined || family === undefined ? [] : recordsOf(name, found, family);
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    // Flags: a response, recursion desired and available; NXDOMAIN if the name does not exist.
    head.writeUInt16BE(found === undefined ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    port: socket.address().port,
    askedFor: (name) => asked.get(`4 ${name}`) ?? 0,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  };
}

/** Reads the one question of `query`, and its end. */
function readQuestion(query: Buffer): { name: string; end: number; family: 4 | 6 | undefined } {
  const labels: string[] = [];
  let at = 12;
  for (;;) {
    const length = query[at] ?? 0;
    at += 1;
    if (length === 0) break;
    labels.push(query.toString("latin1", at, at + length));
    at += length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 4, family: types.get(query.readUInt16BE(at)) };
}

function recordsOf(name: string, { addresses, alias }: DnsAnswer, family: 4 | 6): readonly Buffer[] {
  const owner = alias ?? name;
  const found = addresses
    .filter((address) => isIP(address) === family)
    .map((address) => record(owner, family === 4 ? 1 : 28, addressBytes(address, family)));
  return alias === undefined ? found : [record(name, 5, nameBytes(alias)), ...found];
}

/** Returns a record of class IN that must not be cached. */
function record(name: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameBytes(name), fixed, data]);
}

function nameBytes(name: string): Buffer {
  const labels = name.split(".").map((label) => {
    assert(label.length > 0 && label.length < 64, name);
    return Buffer.concat([Buffer.from([label.length]), Buffer.from(label, "latin1")]);
  });
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function addressBytes(address: string, family: 4 | 6): Buffer {
  if (family === 4) return Buffer.from(address.split(".").map(Number));
  // The last four bytes can be in IPv4 notation.
  const [, before = "", last] = /^(.*?)(\d+\.\d+\.\d+\.\d+)?$/.exec(address) ?? [];
  const tail = last === undefined ? "" : addressBytes(last, 4).toString("hex").replace(/^.{4}/, "$&:");
  const [left = "", right] = `${before}${tail}`.split("::");
  const wordsOf = (text: string | undefined) => (text ?? "").split(":").filter((word) => word !== "");
  const [first, second] = [wordsOf(left), wordsOf(right)];
  const gap = Array.from({ length: 8 - first.length - second.length }, () => "0");
  const words = right === undefined ? first : [...first, ...gap, ...second];
  return Buffer.from(words.map((word) => word.padStart(4, "0")).join(""), "hex");
}
