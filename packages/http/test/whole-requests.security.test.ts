/**
 * Requests that arrive in one piece are read by a reader of this package, others by `node:http`. Both must give the
 * same answers: each case is sent to both, on a new connection, on one that `node:http` reads already, and on one
 * whose last request the reader of this package remembers.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { runCount, waitUntil } from "@toolcrib/testing";
import fc from "fast-check";
import {
  aliceToken,
  asAlice,
  bobToken,
  initialize,
  modern,
  openSession,
  rpc,
  startTestServer,
} from "./http-harness.ts";

/** Long enough for hundreds of requests that arrive at the same time on a busy machine. */
const limits = { headersTimeoutMs: 2000, requestTimeoutMs: 2000, lateCheckMs: 50, flushGraceMs: 100 };
const lastRequest = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
const firstRequest = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

/** The bytes that a connection received, each as one character. */
class Received {
  text = "";
  isClosed = false;
  /** Whether the connection was reset, which discards answers that were not read yet. */
  isReset = false;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      this.text += chunk;
    });
    socket.on("error", () => {
      this.isReset = true;
    });
    socket.on("close", () => {
      this.isClosed = true;
    });
  }

  /** Waits for `count` whole responses, or the end of the connection. */
  async responses(count: number): Promise<void> {
    while (!this.isClosed && completeResponses(this.text) < count) {
      await Promise.race([once(this.#socket, "data"), once(this.#socket, "close")]).catch(() => undefined);
    }
  }
}

function completeResponses(text: string): number {
  let count = 0;
  for (let at = 0; ; count += 1) {
    const end = text.indexOf("\r\n\r\n", at);
    if (end === -1) return count;
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(at, end + 2))?.[1];
    at = end + 4 + Number(length ?? 0);
    if (at > text.length) return count;
  }
}

interface Exchange {
  readonly text: string;
  readonly isReset: boolean;
}

/** Sends `bytes` in one piece and then another request. @returns all that was answered, without dates */
async function exchange(
  port: number,
  bytes: string,
  reader: "whole" | "repeated" | "node",
): Promise<Exchange> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  const received = new Received(socket);
  await once(socket, "connect");
  if (reader !== "whole") {
    socket.write(reader === "node" ? firstRequest : whole, "latin1");
    await received.responses(1);
    received.text = "";
  }
  socket.write(bytes, "latin1");
  await received.responses(1);
  if (!received.isClosed) socket.write(lastRequest);
  while (!received.isClosed) await once(socket, "close").catch(() => undefined);
  return { text: received.text.replace(/\r\nDate: [^\r]*/g, ""), isReset: received.isReset };
}

/**
 * Whether malformed bytes followed a request. `node:http` closes the connection then; which answers it sends before
 * that depends on what it reads at once.
 */
function endsMalformed(text: string): boolean {
  return text.lastIndexOf("HTTP/1.1 400 Bad Request\r\n") > 0 && text.includes("HTTP_MALFORMED");
}

/** Sends `bytes` to all readers and compares what they answer. */
async function compare(port: number, bytes: string, name: string): Promise<void> {
  const [reference, ...own] = await Promise.all(
    (["node", "whole", "repeated"] as const).map((reader) => exchange(port, bytes, reader)),
  );
  for (const one of own) {
    const isPartial = [one, reference].some((seen) => seen?.isReset || endsMalformed(seen?.text ?? ""));
    const length = isPartial ? Math.min(one.text.length, reference?.text.length ?? 0) : undefined;
    assert.equal(one.text.slice(0, length), reference?.text.slice(0, length), name);
  }
}

const call = modern("tools/call", { name: "echo", arguments: { text: "é" } });
const body = Buffer.from(JSON.stringify(call.body)).toString("latin1");
const lines: readonly string[] = [
  "POST /mcp HTTP/1.1",
  "Host: localhost",
  `Authorization: Bearer ${aliceToken}`,
  "Content-Type: application/json",
  "Accept: application/json, text/event-stream",
  ...Object.entries(call.headers).map(([name, value]) => `${name}: ${value}`),
  `Content-Length: ${body.length}`,
];
const withLines = (edit: (lines: string[]) => void): string => {
  const copy = [...lines];
  edit(copy);
  return `${copy.join("\r\n")}\r\n\r\n${body}`;
};
const adding = (...added: readonly string[]) => withLines((copy) => void copy.push(...added));
const whole = withLines(() => {});

const cases: { readonly [name: string]: string } = {
  "a plain call": whole,
  "no space after the colon": whole.replaceAll(": ", ":"),
  "two spaces after the colon": whole.replace("Host: ", "Host:  "),
  "a tab after the colon": whole.replace("Host: ", "Host:\t"),
  "a space before the colon": whole.replace("Host:", "Host :"),
  "a space at the end of a value": whole.replace("Host: localhost", "Host: localhost "),
  "a tab in a value": adding("X-Tab: a\tb"),
  "a folded header": adding("X-Folded: a", " b"),
  "an empty value": adding("X-Empty:"),
  "an empty name": adding(": x"),
  "a name in brackets": adding("X[1]: x"),
  "a name with an underscore": adding("X_Y: x"),
  "a line without a colon": adding("X-Line"),
  "a byte above ASCII": adding("X-High: \xe9"),
  "a zero byte": adding("X-Zero: a\0b"),
  "a delete character": adding("X-Delete: a\x7fb"),
  "line feeds alone": whole.replaceAll("\r\n", "\n"),
  "carriage returns alone": whole.replaceAll("\r\n", "\r"),
  "a carriage return in a value": adding("X-Return: a\rb"),
  "a line feed in a value": adding("X-Feed: a\nTransfer-Encoding: chunked"),
  "an empty line first": `\r\n${whole}`,
  "a space first": ` ${whole}`,
  "two spaces in the request line": whole.replace("POST /mcp", "POST  /mcp"),
  "a lower-case method": whole.replace("POST", "post"),
  "another method": whole.replace("POST", "PUT"),
  "a version 1.0": whole.replace("HTTP/1.1", "HTTP/1.0"),
  "a version 1.2": whole.replace("HTTP/1.1", "HTTP/1.2"),
  "no version": whole.replace(" HTTP/1.1", ""),
  "an absolute path": whole.replace("/mcp", "http://localhost/mcp"),
  "a fragment": whole.replace("/mcp", "/mcp#x"),
  "a query": whole.replace("/mcp", "/mcp?x=1"),
  "a path with quotes": whole.replace("/mcp", '/mcp"'),
  "a path with a backslash": whole.replace("/mcp", "/\\mcp"),
  "the endpoint of one server": whole.replace("/mcp", "/mcp/s/files"),
  "an unknown path": whole.replace("/mcp", "/nothing"),
  "Content-Length twice": adding(`Content-Length: ${body.length}`),
  "Content-Length twice, different": adding("Content-Length: 0"),
  "Content-Length as a list": whole.replace(/Content-Length: (\d+)/, "Content-Length: $1, $1"),
  "Content-Length with a sign": whole.replace(/Content-Length: /, "Content-Length: +"),
  "Content-Length with a zero": whole.replace(/Content-Length: /, "Content-Length: 0"),
  "Content-Length with eight zeros": whole.replace(/Content-Length: /, "Content-Length: 00000000"),
  "Content-Length without digits": whole.replace(/Content-Length: \d+/, "Content-Length: "),
  "a longer body": `${lines.slice(0, -1).join("\r\n")}\r\nContent-Length: ${body.length + 2000}\r\n\r\n${body}${" ".repeat(2000)}`,
  "Content-Length in hexadecimal": whole.replace(/Content-Length: \d+/, "Content-Length: 0x10"),
  "Content-Length too short": whole.replace(/Content-Length: \d+/, "Content-Length: 10"),
  "Content-Length too long": whole.replace(/Content-Length: \d+/, `Content-Length: ${body.length + 1}`),
  "Content-Length beyond any number": whole.replace(
    /Content-Length: \d+/,
    `Content-Length: ${"9".repeat(30)}`,
  ),
  "no Content-Length": withLines((copy) => void copy.pop()),
  "a chunked body and a length": adding("Transfer-Encoding: chunked"),
  "a chunked body": `${lines.slice(0, -1).join("\r\n")}\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  "an unknown transfer encoding": adding("Transfer-Encoding: identity"),
  "a header that looks like the encoding": adding("Transfer-Encoding : chunked"),
  "an expectation": adding("Expect: 100-continue"),
  "an unknown expectation": adding("Expect: more"),
  "an upgrade": adding("Connection: Upgrade", "Upgrade: h2c"),
  "Connection: close": adding("Connection: close"),
  "Connection: Keep-Alive": adding("Connection: Keep-Alive"),
  "Connection with a list": adding("Connection: keep-alive, close"),
  "a header twice": adding("Host: localhost"),
  "a token twice": adding(`Authorization: Bearer ${aliceToken}`),
  "a harmless header twice": adding("X-Same: a", "X-Same: b"),
  "a cookie twice": adding("Cookie: a=1", "Cookie: b=2"),
  "a name of an object's member": adding("constructor: x", "toString: y", "hasOwnProperty: z"),
  "the name __proto__": adding("__proto__: x"),
  "a wrong host": whole.replace("Host: localhost", "Host: evil.example"),
  "no host": withLines((copy) => void copy.splice(1, 1)),
  "a foreign origin": adding("Origin: https://evil.example"),
  "an origin of this machine": adding("Origin: http://localhost:3000"),
  "no token": withLines((copy) => void copy.splice(2, 1)),
  "a wrong token": whole.replace(aliceToken, "x".repeat(40)),
  "another type of body": whole.replace("application/json\r\n", "text/plain\r\n"),
  "a type that is not accepted": whole.replace("application/json, text/event-stream", "text/html"),
  "events only": whole.replace("application/json, text/event-stream", "text/event-stream"),
  "100 headers": adding(...Array.from({ length: 100 }, (_, index) => `X-${index}: ${index}`)),
  "3,000 headers": adding(...Array.from({ length: 3000 }, (_, index) => `X${index}:`)),
  "headers of 15 kB": adding(`X-Long: ${"x".repeat(15_000)}`),
  "headers of 20 kB": adding(`X-Long: ${"x".repeat(20_000)}`),
  "two requests in one piece": whole + whole,
  "a request and the beginning of another": `${whole}POST /mcp HT`,
  "a request and a line feed": `${whole}\r\n`,
  "a request hidden in a body": whole
    .replace(/Content-Length: \d+/, "Content-Length: 0")
    .replace(body, whole),
  "a body that is no JSON": `${lines.slice(0, -1).join("\r\n")}\r\nContent-Length: 3\r\n\r\n{"x`,
  "a body that is no UTF-8": `${lines.slice(0, -1).join("\r\n")}\r\nContent-Length: 4\r\n\r\n"\xff\xfe"`,
  "an empty body": `${lines.slice(0, -1).join("\r\n")}\r\nContent-Length: 0\r\n\r\n`,
  "a notification": (() => {
    const text = JSON.stringify({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 1 },
    });
    return `${lines.slice(0, -1).join("\r\n")}\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
  })(),
  "only a beginning": whole.slice(0, 40),
  "a body that is cut": whole.slice(0, -5),
  TLS: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
};

test("a request in one piece gets the answer that node:http gives", async () => {
  await using server = await startTestServer({ limits });
  await Promise.all(Object.entries(cases).map(([name, bytes]) => compare(server.port, bytes, name)));
  assert.match((await exchange(server.port, whole, "whole")).text, /^HTTP\/1\.1 200 OK/);
});

test("so does a request that was changed at random", async () => {
  await using server = await startTestServer({ limits });
  const pieces = [
    "\r\n",
    "\n",
    "\r",
    ":",
    " ",
    "\t",
    "\0",
    "\x7f",
    "\xe9",
    "0",
    "-",
    ";",
    ",",
    "chunked",
    "POST ",
  ];
  const edit = fc.record({
    at: fc.nat({ max: whole.length - 1 }),
    removed: fc.nat({ max: 3 }),
    added: fc.oneof(
      fc.constantFrom(...pieces, "Transfer-Encoding: chunked\r\n", "Content-Length: 5\r\n"),
      fc.string(),
    ),
  });
  const changed = fc.array(edit, { minLength: 1, maxLength: 3 }).map((edits) => {
    let text = whole;
    for (const { at, removed, added } of edits) text = text.slice(0, at) + added + text.slice(at + removed);
    return Buffer.from(text, "latin1").toString("latin1");
  });
  // Each batch waits for requests that are never complete.
  for (let batch = 0; batch < 2; batch += 1) {
    await Promise.all(
      fc.sample(changed, runCount(160)).map((bytes) => compare(server.port, bytes, JSON.stringify(bytes))),
    );
  }
});

/** A request of a legacy session. */
function post(session: string, message: object, extra = ""): string {
  const text = JSON.stringify(message);
  return `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${aliceToken}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Session-Id: ${session}\r\n${extra}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

const callOf = (name: string, args: object, id: number) =>
  rpc("tools/call", { name, arguments: args as never }, id);

async function open(port: number): Promise<{ readonly socket: Socket; readonly received: Received }> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  const received = new Received(socket);
  await once(socket, "connect");
  return { socket, received };
}

test("a connection carries many requests, and each gets its own answer", async () => {
  await using server = await startTestServer();
  const session = await openSession(server);
  const { socket, received } = await open(server.port);
  for (let id = 1; id <= 200; id += 1) {
    received.text = "";
    socket.write(post(session, callOf("echo", { text: "x".repeat(id * 40) }, id)));
    await received.responses(1);
    const answer = JSON.parse(received.text.slice(received.text.indexOf("\r\n\r\n") + 4));
    assert.equal(answer.id, id);
    assert.ok(answer.result.content[0].text.includes(`"${"x".repeat(id * 40)}"`), String(id));
  }
  socket.destroy();
});

test("a request that is sent before the answer to the one before it is answered after that", async () => {
  await using server = await startTestServer();
  const session = await openSession(server);
  const { socket, received } = await open(server.port);
  socket.write(post(session, callOf("slow", {}, 1)));
  await waitUntil(() => server.service.waiting.size === 1);
  socket.write(post(session, callOf("echo", { text: "second" }, 2)));
  socket.write(post(session, callOf("echo", { text: "third" }, 3)));
  // Another client is answered meanwhile, and the second request is not begun.
  assert.match((await exchange(server.port, whole, "whole")).text, /^HTTP\/1\.1 200 OK/);
  assert.equal(received.text, "");
  for (const release of server.service.waiting) release();
  await received.responses(3);
  const ids = [...received.text.matchAll(/"id":(\d)/g)].map(([, id]) => id);
  assert.deepEqual(ids, ["1", "2", "3"]);
  socket.destroy();
});

test("an answer that becomes a stream leaves the connection usable", async () => {
  await using server = await startTestServer({ limits: { keepAliveMs: 20 } });
  const session = await openSession(server);
  const { socket, received } = await open(server.port);
  socket.write(post(session, callOf("slow", {}, 1)));
  // A slow answer becomes an event stream with comments.
  await waitUntil(() => received.text.includes(": keep-alive"));
  assert.match(received.text, /^HTTP\/1\.1 200 OK\r\ncontent-type: text\/event-stream\r\n/);
  assert.match(received.text, /\r\nTransfer-Encoding: chunked\r\n/);
  for (const release of server.service.waiting) release();
  await waitUntil(() => received.text.endsWith("0\r\n\r\n"));
  received.text = "";
  socket.write(post(session, callOf("echo", { text: "next" }, 2)));
  await received.responses(1);
  assert.match(received.text, /next/);
  socket.destroy();
});

test("a client that leaves cancels its call in the modern era", async () => {
  await using server = await startTestServer();
  const slow = modern("tools/call", { name: "slow", arguments: {} });
  const text = JSON.stringify(slow.body);
  const { socket } = await open(server.port);
  const names = Object.entries({ ...slow.headers, ...asAlice }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.write(
    `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n${names.join("")}Content-Length: ${text.length}\r\n\r\n${text}`,
  );
  await waitUntil(() => server.service.waiting.size === 1);
  socket.destroy();
  await waitUntil(() => server.service.waiting.size === 0);
});

test("calls that wait for their turn are not made after their client has left", async () => {
  await using server = await startTestServer();
  const slow = modern("tools/call", { name: "slow", arguments: {} });
  const text = JSON.stringify(slow.body);
  const names = Object.entries(slow.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const requestOf = (token: string) =>
    `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nAccept: */*\r\n${names.join("")}Content-Length: ${text.length}\r\n\r\n${text}`;
  const clients = await Promise.all(Array.from({ length: 201 }, () => open(server.port)));
  // The server has accepted all connections before the first slow call.
  for (const { socket } of clients) socket.write(whole, "latin1");
  await Promise.all(clients.map(({ received }) => received.responses(1)));
  server.service.callers.length = 0;
  for (const [at, { socket }] of clients.entries()) socket.write(requestOf(at === 0 ? bobToken : aliceToken));
  await waitUntil(() => server.service.callers.length > 0, { intervalMs: 1 });
  for (const { socket } of clients) socket.destroy();
  // A call of the same client, made after them, has its turn after them.
  assert.match((await exchange(server.port, whole, "whole")).text, /^HTTP\/1\.1 200 OK/);
  await waitUntil(() => server.service.waiting.size === 0);
});

test("a client that does not read its answers is not answered further", async () => {
  await using server = await startTestServer({ limits: { stalledClientMs: 300, lateCheckMs: 50 } });
  const session = await openSession(server);
  const { socket } = await open(server.port);
  socket.pause();
  const isStalled = () =>
    server.logger.records.some(({ message }) => message.startsWith("client reads no answers"));
  const begun = () => server.service.callers.filter(({ view }) => view === "").length;
  const first = begun();
  for (let id = 1; id <= 100 && !isStalled(); id += 1) {
    socket.write(post(session, callOf("large", { length: 1_000_000 }, id)));
    await waitUntil(() => begun() === first + id || isStalled());
  }
  // What fits into the buffers of the operating system, and one answer more.
  assert.ok(begun() - first < 50, `${begun() - first} calls`);
  socket.destroy();
});

test("an idle connection is closed after its time, one with a call in flight is not", async () => {
  await using server = await startTestServer({ limits: { idleConnectionMs: 100 } });
  const session = await openSession(server);
  const [idle, busy] = [await open(server.port), await open(server.port)];
  busy.socket.write(post(session, callOf("slow", {}, 1)));
  await waitUntil(() => server.service.waiting.size === 1);
  await waitUntil(() => idle.received.isClosed);
  assert.equal(idle.received.text, "");
  assert.equal(busy.received.isClosed, false);
  for (const release of server.service.waiting) release();
  await busy.received.responses(1);
  assert.match(busy.received.text, /Keep-Alive: timeout=0\r\n/);
  await waitUntil(() => busy.received.isClosed);
});

test("a server that closes answers what is in flight and closes every connection", async () => {
  const server = await startTestServer();
  const session = await openSession(server);
  const [idle, busy] = [await open(server.port), await open(server.port)];
  busy.socket.write(post(session, callOf("slow", {}, 1)));
  await waitUntil(() => server.service.waiting.size === 1);
  const closed = server[Symbol.asyncDispose]();
  for (const release of server.service.waiting) release();
  await closed;
  await waitUntil(() => idle.received.isClosed && busy.received.isClosed);
  assert.match(busy.received.text, /\r\nConnection: close\r\n/);
  assert.match(busy.received.text, /"id":1/);
  assert.equal(idle.received.text, "");
});

test("the first request of a session is answered like any other", async () => {
  await using server = await startTestServer();
  const { socket, received } = await open(server.port);
  socket.write(post("", initialize).replace("Mcp-Session-Id: \r\n", ""));
  await received.responses(1);
  assert.match(received.text, /\r\nmcp-session-id: \S+\r\n/);
  socket.destroy();
});
