/** Errors without known secrets, by the public names of the package: what is large or deep costs little, and hides nothing. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { scrubCause, scrubError } from "@toolcrib/admission";
import { CodedError } from "@toolcrib/diagnostics";
import { SecretScrubber } from "@toolcrib/redaction";

const secret = "mine-7431-secret";
const removed = "[removed: too large, or of a kind that cannot be searched for secrets]";

function scrubberOf(): SecretScrubber {
  const scrubber = new SecretScrubber();
  scrubber.learn("KEY", secret);
  return scrubber;
}

/** Returns an object in `levels` others. */
function nested(levels: number): object {
  let value: object = { key: secret };
  for (let level = 1; level < levels; level += 1) value = { value };
  return value;
}

/** Returns an object with `count` fields. */
function wide(count: number): { readonly [name: string]: unknown } {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]));
}

test("scrubError() replaces members of the data that are too large or too deep, and keeps those before them", () => {
  const check = (data: { readonly [name: string]: unknown }, expected: object) => {
    const error = new CodedError("TEST", "no", { data });
    assert.deepEqual(scrubError(scrubberOf(), error).data, expected);
  };
  const facts = { server: "s", rpcCode: -32000 };
  check({ ...facts, rpcData: { key: secret } }, { ...facts, rpcData: { key: "[secret KEY]" } });
  check({ ...facts, rpcData: nested(5000) }, { ...facts, rpcData: removed });
  check({ ...facts, rpcData: nested(200_000) }, { ...facts, rpcData: removed });
  check({ ...facts, rpcData: wide(300_000), key: secret }, { ...facts, rpcData: removed });
  check({ ...facts, rpcData: "x".repeat(1_048_576) + secret }, { ...facts, rpcData: removed });
  check(wide(3000), { ...wide(1000), k1000: removed });
  check({ ...facts, [`${"x".repeat(2_000_000)}${secret}`]: 1 }, { ...facts, "…": removed });
  const circular: { self?: object } = {};
  circular.self = circular;
  check({ ...facts, circular }, { ...facts, circular: removed });
});

test("scrubError() returns the same error where nothing in it is a secret", () => {
  const error = new CodedError("TEST", "no", { data: { list: Array(20_000).fill({ a: 1 }) } });
  assert.equal(scrubError(scrubberOf(), error), error);
});

test("scrubCause() does not go through values with very many parts", () => {
  const many = 60_000;
  const causes: readonly object[] = [
    wide(many),
    Array(many).fill(1),
    new Map(Array.from({ length: many }, (_, at) => [at, at])),
    new Set(Array.from({ length: many }, (_, at) => at)),
    Array.from({ length: 100 }, () => wide(600)),
  ];
  for (const cause of causes) assert.equal(scrubCause(scrubberOf(), cause), removed);
  const few = [wide(1000), Array(40_000).fill(1)];
  assert.equal(scrubCause(scrubberOf(), few), few);
});
