/**
 * A DNS server on loopback (RFC 1035, over UDP) that answers as a test tells
 * it to, with a time to live of 0: one thing to the first who asks and another
 * to the second, aliases, several addresses at once. Knows questions for
 * addresses (A and AAAA) and says NXDOMAIN to all others.
 */

import assert from "node:assert/strict";
import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { isIP } from "node:net";

/** What is said of a name. */
export interface DnsAnswer {
  /** Of both families; a question gets those of its own. */
  readonly addresses: readonly string[];
  /** The name is an alias of this one, which has the addresses. */
  readonly alias?: string;
}

/** A running server. */
export interface DnsServer extends AsyncDisposable {
  readonly port: number;
  /** How often the address (A) of `name` was asked for. */
  askedFor(name: string): number;
}

const types: ReadonlyMap<number, 4 | 6> = new Map([
  [1, 4],
  [28, 6],
]);

/**
 * Start a server.
 *
 * @param answer what is said of `name` to the `nth` question of its type for it, from 1; `undefined` where there is no such name
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
    // A response, recursion desired and available; NXDOMAIN where there is no such name.
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

/** The one question of `query`, and where it ends. */
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

/** A record of class IN that may not be kept. */
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
  // The last four bytes may be written as those of IPv4.
  const [, before = "", last] = /^(.*?)(\d+\.\d+\.\d+\.\d+)?$/.exec(address) ?? [];
  const tail = last === undefined ? "" : addressBytes(last, 4).toString("hex").replace(/^.{4}/, "$&:");
  const [left = "", right] = `${before}${tail}`.split("::");
  const wordsOf = (text: string | undefined) => (text ?? "").split(":").filter((word) => word !== "");
  const [first, second] = [wordsOf(left), wordsOf(right)];
  const gap = Array.from({ length: 8 - first.length - second.length }, () => "0");
  const words = right === undefined ? first : [...first, ...gap, ...second];
  return Buffer.from(words.map((word) => word.padStart(4, "0")).join(""), "hex");
}
