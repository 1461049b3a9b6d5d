/** Newline-delimited JSON: the decoder alone and over real pipes, and the writer. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { LineDecoder, LineWriter } from "@toolcrib/mcp";
import { slowTest, waitUntil } from "@toolcrib/testing";
import fc from "fast-check";

interface Received {
  readonly messages: unknown[];
  readonly invalid: { reason: string; text: string }[];
}

function decoder(maxBytes = 1 << 20): Received & { decode: (chunk: Buffer) => void } {
  const messages: unknown[] = [];
  const invalid: Received["invalid"] = [];
  const receiver = {
    message: (value: unknown) => messages.push(value),
    invalid: (reason: string, text: string) => invalid.push({ reason, text }),
  };
  const decoder = new LineDecoder(receiver, maxBytes);
  return { messages, invalid, decode: (chunk) => decoder.write(chunk) };
}

/** Splits `bytes` at `cuts`. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const edges = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
}

const sample = [
  '{"jsonrpc":"2.0","id":1,"text":"größe 世界 🛠"}\n',
  '{"a":"line\\nfeed"}\r\n',
  "\n",
  "  \r\n",
  "not json\n",
  '{"last":true}\n',
].join("");

test("A stream split in two at any byte yields the same messages and invalid lines", () => {
  const bytes = Buffer.from(sample);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const { messages, invalid, decode } = decoder();
    for (const piece of pieces(bytes, [cut])) decode(piece);
    assert.deepEqual(messages, [
      { jsonrpc: "2.0", id: 1, text: "größe 世界 🛠" },
      { a: "line\nfeed" },
      { last: true },
    ]);
    assert.deepEqual(
      invalid.map(({ text }) => text),
      ["not json"],
      `cut at ${cut}`,
    );
  }
});

test("Any values survive any split, including single bytes", () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 5 }),
      fc.boolean(),
      fc.array(fc.nat(400), { maxLength: 20 }),
      fc.boolean(),
      (values, hasReturns, cuts, isByteByByte) => {
        const lineEnd = hasReturns ? "\r\n" : "\n";
        const bytes = Buffer.from(values.map((value) => JSON.stringify(value) + lineEnd).join(""));
        const inside = cuts.filter((cut) => cut <= bytes.length);
        const { messages, invalid, decode } = decoder();
        for (const piece of pieces(bytes, isByteByByte ? [...bytes.keys()] : inside)) decode(piece);
        // As JSON, since -0 and the like do not survive it.
        assert.deepEqual(messages, JSON.parse(JSON.stringify(values)));
        assert.deepEqual(invalid, []);
      },
    ),
  );
});

test("Random bytes are invalid, and the next line is read", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (noise) => {
      const { messages, decode } = decoder(200);
      decode(Buffer.from(noise));
      decode(Buffer.from('\n{"after":1}\n'));
      assert.deepEqual(messages.at(-1), { after: 1 });
    }),
  );
});

test("A byte order mark before the first line is not part of it", () => {
  const { messages, invalid, decode } = decoder();
  decode(Buffer.from('\ufeff{"first":1}\n\ufeff{"second":2}\n'));
  assert.deepEqual(messages, [{ first: 1 }]);
  assert.equal(invalid.length, 1);
});

test("A line of exactly the limit is read, and one byte more is invalid, for any split", () => {
  const line = (length: number) => `"${"é".repeat((length - 2) / 2)}"`;
  for (const [length, isRead] of [
    [100, true],
    [102, false],
  ] as const) {
    const bytes = Buffer.from(`${line(length)}\n{"next":1}\n`);
    assert.equal(bytes.indexOf("\n"), length);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const { messages, invalid, decode } = decoder(100);
      for (const piece of pieces(bytes, [cut])) decode(piece);
      assert.deepEqual(messages.at(-1), { next: 1 });
      assert.equal(messages.length, isRead ? 2 : 1);
      assert.equal(invalid.length, isRead ? 0 : 1);
      if (!isRead) assert.match(invalid[0]?.reason ?? "", /longer than 100 bytes/);
    }
  }
});

test("A line that never ends uses no more memory than the limit", () => {
  const limit = 1 << 20;
  const { messages, invalid, decode } = decoder(limit);
  const chunk = Buffer.alloc(64 * 1024, "x");
  // Two hundred times the limit.
  for (let count = 0; count < 3200; count += 1) decode(chunk);
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 3200; count += 1) decode(chunk);
  assert.ok(process.memoryUsage().arrayBuffers - before < limit);
  assert.equal(invalid.length, 1);
  assert.ok((invalid[0]?.text.length ?? 0) <= 512 * 1024);
  decode(Buffer.from('\n{"next":1}\n'));
  assert.deepEqual(messages, [{ next: 1 }]);
});

test("A line that arrives byte by byte uses memory for its bytes, not for its pieces", slowTest, () => {
  const { messages, decode } = decoder(4 << 20);
  const text = JSON.stringify("y".repeat(2 << 20));
  const bytes = Buffer.from(`${text}\n`);
  const before = process.memoryUsage();
  for (let at = 0; at < bytes.length; at += 1) decode(bytes.subarray(at, at + 1));
  const grown = process.memoryUsage().arrayBuffers - before.arrayBuffers;
  assert.equal(messages.length, 1);
  assert.ok(grown < 32 << 20, `${grown} bytes`);
});

test("Lines pass through a socket complete, in any pieces", async () => {
  const { messages, decode } = decoder();
  const server = createServer((socket) => socket.on("data", decode));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(socket, "connect");
  socket.setNoDelay(true);
  const values = Array.from({ length: 50 }, (_, n) => ({ n, text: "ü".repeat(n * 100) }));
  for (const value of values) {
    const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
    const middle = Math.floor(bytes.length / 3) + 1;
    await write(socket, bytes.subarray(0, middle));
    await write(socket, bytes.subarray(middle));
  }
  await waitUntil(() => messages.length === values.length);
  assert.deepEqual(messages, values);
  socket.destroy();
  server.close();
  await once(server, "close");
});

function write(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

test("The writer writes the messages of one turn in one write, in order, one per line", async () => {
  const stream = new PassThrough();
  const chunks: string[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
  let written = 0;
  const writer = new LineWriter(stream, () => {
    written += 1;
  });
  writer.write({ n: 1, text: "line\nfeed\u2028" });
  writer.write({ n: 2 });
  assert.deepEqual(chunks, []);
  await new Promise((resolve) => setImmediate(resolve));
  writer.write({ n: 3 });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(chunks, ['{"n":1,"text":"line\\nfeed\u2028"}\n{"n":2}\n', '{"n":3}\n']);
  assert.equal(written, 2);
});

test("The writer writes nothing after its stream has ended or was destroyed", async () => {
  for (const stop of [(stream: PassThrough) => stream.end(), (stream: PassThrough) => stream.destroy()]) {
    const stream = new PassThrough();
    const errors: unknown[] = [];
    stream.on("error", (error) => errors.push(error));
    const writer = new LineWriter(stream);
    stop(stream);
    writer.write({ n: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(errors, []);
  }
});

test("The request that a line over the limit answers is found, wherever its id is and however it is split", () => {
  const request = fc.oneof(fc.string({ maxLength: 20 }), fc.integer());
  const property = fc.property(
    request,
    fc.jsonValue({ maxDepth: 4 }),
    fc.shuffledSubarray(["jsonrpc", "id", "result", "more"], { minLength: 4 }),
    fc.array(fc.nat(300), { maxLength: 10 }),
    (id, value, names, cuts) => {
      const members = { jsonrpc: "2.0", id, result: { id: "no", value }, more: value };
      const ordered = Object.fromEntries(names.map((name) => [name, members[name as keyof typeof members]]));
      const bytes = Buffer.from(`${JSON.stringify(ordered)}\n{"next":1}\n`);
      const lost: unknown[] = [];
      const messages: unknown[] = [];
      const receiver = {
        message: (one: unknown) => messages.push(one),
        invalid() {},
        lostAnswer: (found: unknown, fault: string) => lost.push([found, fault]),
      };
      const lines = new LineDecoder(receiver, 20);
      for (const piece of pieces(
        bytes,
        cuts.filter((cut) => cut <= bytes.length),
      ))
        lines.write(piece);
      assert.deepEqual(lost, [[id, "too large"]]);
      assert.deepEqual(messages, [{ next: 1 }]);
    },
  );
  fc.assert(property);
});

test("Each of several lines over the limit has its own id", () => {
  const lost: unknown[] = [];
  const receiver = { message() {}, invalid() {}, lostAnswer: (id: unknown) => lost.push(id) };
  const lines = new LineDecoder(receiver, 1000);
  const bytes = Buffer.from([1, 2, 3].map((id) => `{"result":"${"x".repeat(2000)}","id":${id}}\n`).join(""));
  for (let at = 0; at < bytes.length; at += 300) lines.write(bytes.subarray(at, at + 300));
  assert.deepEqual(lost, [1, 2, 3]);
});

test("A request or a log line over the limit answers nothing", () => {
  for (const line of [
    '{"id":1,"method":"x","params":{"a":"aaaaaaaaaa"}}',
    '[{"id":1,"result":{}}]',
    "x".repeat(99),
  ]) {
    const lost: unknown[] = [];
    const receiver = { message() {}, invalid() {}, lostAnswer: (id: unknown) => lost.push(id) };
    new LineDecoder(receiver, 20).write(Buffer.from(`${line}\n`));
    assert.deepEqual(lost, [undefined]);
  }
});

test(
  "The id of a long line is found although most of the line is scanned before it reaches the limit",
  slowTest,
  () => {
    const limit = 8 << 20;
    for (const unit of ['x\\"y{]', "x", "\\\\", "größe"]) {
      for (const isIdFirst of [true, false]) {
        const count = limit / Buffer.byteLength(unit);
        const text = unit.repeat(count);
        const line = isIdFirst
          ? `{"id":"first","result":{"deep":["${text}",{"id":2}]},"more":1}`
          : `{"result":{"deep":["${text}",{"id":2}]},"more":1,"id":"first"}`;
        const lost: unknown[] = [];
        const messages: unknown[] = [];
        const receiver = {
          message: (one: unknown) => messages.push(one),
          invalid() {},
          lostAnswer: (found: unknown, fault: string) => lost.push([found, fault]),
        };
        const lines = new LineDecoder(receiver, limit);
        const short = `{"id":"short","result":"${unit.repeat(count * 0.8)}"}`;
        // A long line within the limit leaves nothing behind that the next line could be mistaken for.
        const bytes = Buffer.from(`${short}\n${line}\n{"next":1}\n`);
        for (let at = 0; at < bytes.length; at += 65_537) lines.write(bytes.subarray(at, at + 65_537));
        assert.deepEqual(lost, [["first", "too large"]], unit);
        assert.equal(messages.length, 2);
        assert.deepEqual(messages[1], { next: 1 });
      }
    }
  },
);
