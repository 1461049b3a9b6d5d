/** The name server of a scoped network: what it answers, and what it does with anything else. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { NameServer } from "@toolcrib/egress";
import fc from "fast-check";
import { patterns } from "./fixture.ts";

const types = { A: 1, NS: 2, TXT: 16, AAAA: 28, HTTPS: 65, ANY: 255 } as const;

interface Question {
  readonly name: string;
  readonly type?: number;
  readonly class?: number;
  readonly flags?: number;
  readonly after?: Buffer;
}

/** Writes a query as clients do, independently of the code that reads it. */
function query({ name, type = types.A, class: recordClass = 1, flags = 0x0100, after }: Question): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xbeef, 0);
  head.writeUInt16BE(flags, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(after === undefined ? 0 : 1, 10);
  const labels = name
    .split(".")
    .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, "latin1")]));
  const end = Buffer.alloc(5);
  end.writeUInt16BE(type, 1);
  end.writeUInt16BE(recordClass, 3);
  return Buffer.concat([head, ...labels, end, after ?? Buffer.alloc(0)]);
}

function start(...allowed: readonly string[]) {
  const refused: string[] = [];
  let now = 0;
  const server = new NameServer({
    allow: patterns(...allowed),
    now: () => (now += 1000),
    onRefused: (name) => void refused.push(name),
  });
  return { server, refused, addresses: server.addresses };
}

/** The answer in one line: its code, and its address. */
function shown(answer: Buffer | undefined, asked: Buffer): string {
  if (answer === undefined) return "none";
  assert.equal(answer.readUInt16BE(0), asked.readUInt16BE(0));
  assert.equal(answer.readUInt16BE(2) & 0x8000, 0x8000);
  const code = answer.readUInt16BE(2) & 15;
  const hasAddress = answer.readUInt16BE(6) === 1;
  return hasAddress ? `${code} ${[...answer.subarray(-4)].join(".")}` : String(code);
}

test("an allowed host has an address of its own, another name does not exist, and nothing else is known", () => {
  const { server, addresses } = start("api.example.com", "*.wild.example.org");
  const cases: readonly (readonly [Question, string])[] = [
    [{ name: "api.example.com" }, "0 198.18.0.1"],
    [{ name: "API.Example.COM" }, "0 198.18.0.1"],
    [{ name: "a.wild.example.org" }, "0 198.18.0.2"],
    [{ name: "api.example.com", after: Buffer.from([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]) }, "0 198.18.0.1"],
    [{ name: "localhost" }, "0 127.0.0.1"],
    [{ name: "api.example.com", type: types.AAAA }, "0"],
    [{ name: "api.example.com", type: types.HTTPS }, "0"],
    [{ name: "api.example.com", type: types.TXT }, "0"],
    [{ name: "api.example.com", type: types.ANY }, "0"],
    [{ name: "other.example.com" }, "3"],
    [{ name: "b.a.wild.example.org" }, "3"],
    [{ name: "wild.example.org" }, "3"],
    [{ name: "c2VjcmV0.evil.example", type: types.TXT }, "3"],
    [{ name: "api.example.com\0.evil.example" }, "3"],
    [{ name: "1.0.18.198.in-addr.arpa", type: 12 }, "3"],
    [{ name: "api.example.com", class: 3 }, "5"],
    [{ name: "api.example.com", flags: 0x2800 }, "4"],
    [{ name: "api.example.com", flags: 0x8100 }, "none"],
    [{ name: "x".repeat(70) }, "1"],
  ];
  for (const [question, expected] of cases) {
    const asked = query(question);
    assert.equal(shown(server.answer(asked), asked), expected, JSON.stringify(question));
  }
  assert.equal(addresses.hostAt("198.18.0.1"), "api.example.com");
  assert.equal(addresses.hostAt("::ffff:198.18.0.2"), "a.wild.example.org");
  for (const none of ["198.18.0.3", "127.0.0.1", "", "198.20.0.1"])
    assert.equal(addresses.hostAt(none), undefined);
});

test("each refused name is reported once, and not without end", () => {
  const { server, refused } = start("api.example.com");
  for (let turn = 0; turn < 1000; turn++) {
    server.answer(query({ name: `n${turn}.evil.example` }));
    server.answer(query({ name: "same.evil.example" }));
  }
  assert.equal(refused.length, 256);
  assert.equal(refused.filter((name) => name === "same.evil.example").length, 1);
});

test("no message makes it throw, and an answer is never larger than the question and one address", () => {
  const { server } = start("*.example.com");
  const check = (bytes: Buffer): void => {
    const answer = server.answer(bytes);
    assert.ok(answer === undefined || answer.length <= bytes.length + 16);
  };
  fc.assert(fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => check(Buffer.from(bytes))));
  const valid = query({ name: "api.example.com" });
  fc.assert(
    fc.property(fc.nat(valid.length - 1), fc.nat(255), fc.nat(valid.length), (at, value, length) => {
      const changed = Buffer.from(valid);
      changed[at] = value;
      check(changed.subarray(0, length));
    }),
  );
});

test("queries above the limit of a second are dropped", () => {
  let now = 5_000;
  const server = new NameServer({
    allow: [],
    now: () => now,
    onRefused() {},
  });
  const asked = query({ name: "a.example.com" });
  const count = () => Array.from({ length: 3000 }, () => server.answer(asked)).filter(Boolean).length;
  assert.equal(count(), 2000);
  now += 1000;
  assert.equal(count(), 2000);
});

test("addresses are bounded: a host that was not looked up for long loses its own, which is not given again soon", () => {
  const { addresses } = start();
  const first = addresses.of("first.example.com").join(".");
  const seen = new Set([first]);
  for (let turn = 0; turn < 10_000; turn++) seen.add(addresses.of(`h${turn}.example.com`).join("."));
  assert.equal(seen.size, 10_001);
  assert.equal(addresses.hostAt(first), undefined);
  assert.equal(addresses.hostAt(addresses.of("h9999.example.com").join(".")), "h9999.example.com");
});

test("over TCP, a client that reads no answers is no longer read, and one that reads late gets all", async () => {
  // 1,000 queries a second of its clock are answered.
  let now = 0;
  const server = new NameServer({ allow: patterns(), now: () => (now += 1), onRefused: () => {} });
  using _server = server;
  const listener = createServer();
  const sockets: Socket[] = [];
  listener.on("connection", (socket: Socket) => void sockets.push(socket));
  server.serveConnections(listener);
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const client = connect((listener.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => {});
  client.pause();
  await once(client, "connect");

  const asked = query({ name: Array<string>(3).fill("a".repeat(63)).join(".") });
  const frame = Buffer.concat([Buffer.from([asked.length >> 8, asked.length & 255]), asked]);
  const frames = Buffer.concat(Array<Buffer>(100).fill(frame));
  let isStuck = false;
  let sent = 0;
  while (!isStuck && sent < 2000) {
    sent += 1;
    if (client.write(frames)) continue;
    isStuck = await Promise.race([once(client, "drain").then(() => false), delay(500, true)]);
  }
  assert.ok(isStuck, "the name server still reads");
  const [socket] = sockets;
  assert.ok(socket !== undefined);
  // What a stream takes before it is full, and the answer that filled it.
  const most = socket.writableHighWaterMark + 1024;
  assert.ok(socket.writableLength <= most, `${socket.writableLength} bytes are unsent`);

  let received = 0;
  client.on("data", (piece: Buffer) => (received += piece.length));
  client.resume();
  client.end();
  await once(client, "close");
  assert.equal(received, sent * frames.length);
});
