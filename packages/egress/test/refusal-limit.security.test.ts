/** Refusals on the audit trail: a contained program cannot fill it by connections that are refused. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { createPlaceholder, createRecordedEgress } from "@toolcrib/egress";
import { ManualTimers, makeTemporaryDirectory } from "@toolcrib/testing";

type Recorded = { readonly type: string; readonly [field: string]: unknown };

const minute = 60_000;

async function start() {
  const home = await makeTemporaryDirectory();
  const timers = new ManualTimers();
  const records: Recorded[] = [];
  const logged: string[] = [];
  const log = (_fields: unknown, message: string): void => void logged.push(message);
  let now = 0;
  const record = (type: string, data: object): void => void records.push({ type, ...data });
  const egress = createRecordedEgress(
    {
      config: { egress: {} },
      home: home.path,
      now: () => now,
      startTimer: timers.startTimer,
      randomBytes: (length) => randomBytes(length),
      record,
      scrubber: { text: (text) => text },
      logger: { debug: log, info: log, warn: log, error: log },
    },
    new Map([["server:notes", "notes"]]),
  );
  const openProxy = async (id = "server:notes") => {
    const proxy = await egress.openProxy({ id, allow: [], credentials: [] });
    const port = Number(new URL(proxy.url).port);
    return async (host: string, headers = ""): Promise<void> => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.write(`CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n${headers}\r\n`);
      socket.resume();
      await once(socket, "close");
    };
  };
  return {
    records,
    logged,
    advance(ms: number): void {
      now += ms;
      timers.fire();
    },
    openProxy,
    close: () => egress[Symbol.asyncDispose](),
    async [Symbol.asyncDispose]() {
      await egress[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

/** The records, each as host and count. */
function shown(records: readonly Recorded[]): readonly string[] {
  return records.map(({ host, count }) => `${host} ${count ?? "first"}`);
}

test("a refusal is recorded and logged at once, and its repetitions once a minute with their count", async () => {
  await using egress = await start();
  const ask = await egress.openProxy();
  for (let n = 0; n < 20; n += 1) await ask("a.example");
  await ask("b.example");
  assert.deepEqual(shown(egress.records), ["a.example first", "b.example first"]);
  assert.equal(egress.logged.length, 2);

  egress.advance(minute);
  assert.deepEqual(shown(egress.records).slice(2), ["a.example 19"]);
  assert.deepEqual(egress.records[2], { ...egress.records[0], count: 19 });
  assert.equal(egress.records[2]?.["server"], "notes");
  egress.advance(10 * minute);
  assert.equal(egress.records.length, 3);

  await ask("a.example");
  await egress.close();
  assert.deepEqual(shown(egress.records).slice(3), ["a.example 1"]);
});

test("the hosts beyond 256 of a server are counted together, and another server has its own", async () => {
  await using egress = await start();
  const ask = await egress.openProxy();
  for (let n = 0; n < 300; n += 1) await ask(`h${n}.example`);
  assert.equal(egress.records.length, 256);
  const askOther = await egress.openProxy("server:other");
  await askOther("h0.example");
  assert.equal(egress.records.length, 257);
  egress.advance(minute);
  assert.deepEqual(shown(egress.records).slice(257), ["* 44"]);
  assert.equal(egress.records.at(-1)?.["code"], "EGRESS_HOST_DENIED");

  egress.advance(24 * 60 * minute);
  await ask("new.example");
  assert.deepEqual(shown(egress.records).slice(258), ["new.example first"]);
});

test("at most 64 counts are recorded in a minute, and none is lost", async () => {
  await using egress = await start();
  const ask = await egress.openProxy();
  for (let n = 0; n < 200; n += 1) await ask(`h${n % 100}.example`);
  egress.advance(minute);
  assert.equal(egress.records.length, 164);
  egress.advance(minute);
  assert.equal(egress.records.length, 200);
  assert.equal(new Set(shown(egress.records)).size, 200);
});

test("alarms have the same limit, which refusals do not use up", async () => {
  await using egress = await start();
  const ask = await egress.openProxy();
  for (let n = 0; n < 260; n += 1) await ask(`h${n}.example`);
  const headers = `X-Key: ${createPlaceholder(randomBytes)}\r\n`;
  for (let n = 0; n < 5; n += 1) await ask("h0.example", headers);
  const alarms = () => egress.records.filter(({ type }) => type === "egress.alarm");
  assert.deepEqual(shown(alarms()), ["h0.example first"]);
  await egress.close();
  assert.deepEqual(shown(alarms()), ["h0.example first", "h0.example 4"]);
});
