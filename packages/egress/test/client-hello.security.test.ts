/** The reader of the first message of a TLS client: what it finds, and what it refuses. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ClientHelloReader } from "@toolcrib/egress";
import fc from "fast-check";
import { bytesOfNode, type Extension, helloMessage, serverName, toRecords } from "./client-hello-bytes.ts";

type Outcome = ReturnType<ClientHelloReader["push"]>;

/** Reads `bytes` in pieces of the given sizes, which repeat. */
function read(bytes: Buffer, sizes: readonly number[] = [bytes.length]): Outcome {
  const reader = new ClientHelloReader();
  let outcome: Outcome;
  for (let at = 0, turn = 0; at < bytes.length && outcome === undefined; turn++) {
    const size = sizes[turn % sizes.length] as number;
    outcome = reader.push(bytes.subarray(at, at + size));
    at += size;
  }
  return outcome;
}

function reasonOf(bytes: Buffer): string {
  const outcome = read(bytes);
  return outcome?.kind === "invalid" ? outcome.reason : JSON.stringify(outcome ?? "incomplete");
}

const other: Extension = [43, Buffer.from([2, 3, 4])];
const plain = helloMessage([other, serverName("api.example.com")]);
const expected = { kind: "hello", serverName: "api.example.com", hasEncryptedName: false };

test("a ClientHello is read from any records and any pieces, and bytes after it are not", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(sizes, sizes, fc.uint8Array({ maxLength: 50 }), (records, pieces, after) => {
      const bytes = Buffer.concat([toRecords(plain, records), after]);
      assert.deepEqual(read(bytes, pieces), expected);
    }),
  );
});

test("the ClientHello of Node is read", async () => {
  assert.deepEqual(read(await bytesOfNode("api.example.com")), expected);
  const withoutName = read(await bytesOfNode(""));
  assert.deepEqual(withoutName, { ...expected, serverName: undefined });
});

test("an encrypted name is found in every spelling of its drafts", () => {
  for (const type of [0xfe0d, 0xfe0a, 0xfe08, 0xffce]) {
    const outcome = read(toRecords(helloMessage([serverName("api.example.com"), [type, Buffer.alloc(40)]])));
    assert.deepEqual(outcome, { ...expected, hasEncryptedName: true });
  }
});

test("a message that two readers could read differently is refused with the reason", () => {
  const twoInOne = Buffer.concat([plain, plain]);
  const cases: readonly (readonly [Buffer, RegExp])[] = [
    [Buffer.from("GET / HTTP/1.1\r\n"), /not TLS/],
    [Buffer.from([22, 2, 0]), /not TLS 1\.0/],
    [Buffer.from([0x80, 0x2e, 1, 3, 1]), /not TLS/],
    [Buffer.from([22, 3, 1, 0, 0]), /no valid length/],
    [Buffer.from([22, 3, 1, 0x40, 1]), /no valid length/],
    [toRecords(Buffer.from([2, 0, 0, 1, 0])), /not a ClientHello/],
    [toRecords(Buffer.from([1, 0, 0x40, 1])), /more than 16384 bytes/],
    [toRecords(twoInOne), /more than the ClientHello/],
    [toRecords(Buffer.concat([plain, Buffer.from([0])])), /more than the ClientHello/],
    [toRecords(plain, Array(70).fill(1)), /more than 64 records/],
    [toRecords(helloMessage([serverName("a.example.com"), serverName("b.example.com")])), /twice/],
    [toRecords(helloMessage([serverName("a.example.com", "b.example.com")])), /not one name/],
    [toRecords(helloMessage([serverName("")])), /not one name/],
    [toRecords(helloMessage([serverName("a.example.com\0.evil.example")])), /not one name/],
    [toRecords(helloMessage([serverName("\u00e4.example.com")])), /not one name/],
    [toRecords(helloMessage([[0, Buffer.from([0, 4, 1, 0, 1, 65])]])), /not one name/],
    [toRecords(helloMessage([[0, Buffer.alloc(0)]])), /not one name/],
    [toRecords(helloMessage([other], Buffer.from([0]))), /no valid length/],
    [toRecords(Buffer.from([1, 0, 0, 2, 3, 3])), /cut off/],
  ];
  for (const [bytes, pattern] of cases) assert.match(reasonOf(bytes), pattern);
});

test("no bytes make the reader throw, and changed bytes never yield a name that is not in them", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      read(Buffer.from(bytes), [7]);
      read(toRecords(Buffer.from([1, 0, 1, 44, ...bytes])), [300]);
    }),
  );
  const records = toRecords(plain);
  fc.assert(
    fc.property(fc.nat(records.length - 1), fc.integer({ min: 0, max: 255 }), (at, value) => {
      const changed = Buffer.from(records);
      changed[at] = value;
      const outcome = read(changed, [11]);
      if (outcome?.kind !== "hello" || outcome.serverName === undefined) return;
      assert.ok(changed.includes(outcome.serverName));
    }),
  );
});

test("the bytes of a first message that never ends are bounded", () => {
  const reader = new ClientHelloReader();
  let outcome: Outcome;
  let bytes = 0;
  while (outcome === undefined && bytes < 1 << 20) {
    const record = toRecords(Buffer.from(bytes === 0 ? [1, 0, 0x3f, 0xff] : [0]));
    bytes += record.length;
    outcome = reader.push(record);
  }
  assert.equal(outcome?.kind, "invalid");
});
