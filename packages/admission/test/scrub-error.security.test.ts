/** Errors without known secrets, by the public names of the package: what is large or deep costs little, and hides nothing. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { inspect } from "node:util";
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

test("errors with accessors in the place of their texts, and with a secret as the name of their class, are replaced", () => {
  /** Returns an error with an accessor that returns `first` at the first `count` reads, and the secret from then on. */
  const changing = (name: "cause" | "stack" | "message", count: number, error: Error = new Error("no")) => {
    let reads = 0;
    const get = () => {
      reads += 1;
      return reads > count ? secret : "first";
    };
    return Object.defineProperty(error, name, { get, enumerable: true, configurable: true });
  };
  const named = { [secret]: class extends Error {} }[secret] as new (message: string) => Error;
  class Tagged extends Error {
    get [Symbol.toStringTag](): string {
      return secret;
    }
  }
  class Causing extends Error {
    reads = 0;
    override get cause(): string {
      this.reads += 1;
      return this.reads > 3 ? secret : "first";
    }
  }
  const throwing = Object.defineProperty(new Error("no"), "cause", { get: () => assert.fail("read") });
  const noText = Object.assign(new Error("no"), { message: 7, field: secret });
  const errors: (() => Error)[] = [() => new named("no"), () => new Tagged("no"), () => new Causing("no")];
  errors.push(
    () => throwing,
    () => noText,
  );
  for (const count of [0, 1, 2, 3, 4, 5]) {
    for (const name of ["cause", "stack", "message"] as const) {
      errors.push(() => changing(name, count));
      errors.push(() => changing(name, count, new CodedError("TEST", "no")));
    }
  }
  for (const make of errors) {
    const made = make();
    const clean = scrubCause(scrubberOf(), made);
    assert.notEqual(clean, made);
    const coded = scrubError(scrubberOf(), new CodedError("TEST", "no", { cause: make() }));
    const own = made instanceof CodedError ? [scrubError(scrubberOf(), make() as CodedError)] : [];
    // What is read again and again is always without the secret.
    for (let time = 0; time < 8; time += 1)
      for (const one of [clean, coded, ...own]) {
        const shown = inspect(one, { depth: 9, showHidden: true, getters: true });
        assert.equal(shown.includes(secret), false, shown);
      }
  }
});

test("scrubCause() replaces an object that has the stack of an error in its own accessor", () => {
  const holder = { message: "no" };
  const name = { [secret]: () => Error.captureStackTrace(holder) }[secret];
  name?.();
  assert.equal(scrubCause(scrubberOf(), holder), removed);
});

test("errors of the runtime are passed on as they are", async () => {
  const errors: unknown[] = [
    new DOMException("no", "AbortError"),
    new AggregateError([new TypeError("a")], "b"),
  ];
  for (const fail of [
    () => readFile("/nowhere/at/all"),
    () => fetch("http://127.0.0.1:1/"),
    () => Promise.any([Promise.reject(new Error("no"))]),
    async () => JSON.parse("{"),
    async () => new URL("no"),
    async () => Buffer.alloc(-1),
    async () => AbortSignal.abort().throwIfAborted(),
  ])
    await fail().catch((error: unknown) => errors.push(error));
  assert.equal(errors.length, 9);
  for (const error of errors) assert.equal(scrubCause(scrubberOf(), error), error, inspect(error));
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
