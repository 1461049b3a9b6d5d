/** Clients that send requests at the same time take turns, however many connections each has. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { waitUntil } from "@toolcrib/testing";
import { callOf, type DemoHttp, openRawSession, type RawSession, startDemoHttp } from "./demo-http.ts";

const connectionCount = 100;

/** Opens a connection that the server has accepted. */
async function open(demo: DemoHttp): Promise<Socket> {
  const socket = connect(demo.port, "127.0.0.1");
  socket.write("DELETE /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await once(socket, "data");
  socket.resume();
  return socket;
}

function requestOf(session: RawSession, name: string): string {
  const body = JSON.stringify(callOf(name, "wait", { name }));
  const headers = {
    ...session.headers,
    host: "localhost",
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "content-length": String(body.length),
  };
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}\r\n`);
  return `POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

test("A client with many connections delays a request of another one by a few of its own", async () => {
  await using demo = await startDemoHttp();
  const many = await openRawSession(demo.url, { headers: { "x-user": "many" } });
  const one = await openRawSession(demo.url, { headers: { "x-user": "one" } });
  const sockets = await Promise.all(Array.from({ length: connectionCount }, () => open(demo)));
  const last = await open(demo);
  for (const [at, socket] of sockets.entries()) socket.write(requestOf(many, `many ${at}`));
  last.write(requestOf(one, "one"));
  await waitUntil(() => demo.service.waiting.size === connectionCount + 1);
  const order = [...demo.service.waiting.keys()];
  const before = order.indexOf("one");
  assert.ok(before < connectionCount / 2, `${before} requests came first`);
  for (const socket of [...sockets, last]) socket.destroy();
});

test("A client that disconnects while it waits for its turn is forgotten", async () => {
  await using demo = await startDemoHttp();
  const many = await openRawSession(demo.url, { headers: { "x-user": "many" } });
  const one = await openRawSession(demo.url, { headers: { "x-user": "one" } });
  const sockets = await Promise.all(Array.from({ length: connectionCount }, () => open(demo)));
  for (const [at, socket] of sockets.entries()) {
    socket.end(requestOf(many, `many ${at}`));
    socket.destroySoon();
  }
  assert.equal((await one.call(1, "echo", { text: "x" })).status, 200);
  assert.equal((await many.call(2, "echo", { text: "x" })).status, 200);
  await waitUntil(() => demo.responses.size === 0);
  assert.deepEqual(demo.unexpected, []);
});
