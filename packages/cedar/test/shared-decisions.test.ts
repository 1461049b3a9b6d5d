/** Decisions that calls share: about arguments that policies only compare with their own texts and numbers. */

import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import cedar from "@cedar-policy/cedar-wasm/nodejs";
import type { JsonValue } from "@toolcrib/json";
import type { Decision } from "@toolcrib/policy";
import { runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { openTestPolicies as open } from "./open-test-policies.ts";
import { callOf } from "./test-call.ts";

/** Where the engine cannot read its input, it names a column, which depends on how many policies were opened before. */
function withoutColumn(decision: Decision): Decision {
  return decision.kind === "allow"
    ? decision
    : { ...decision, reason: decision.reason.replace(/ at line 1 column \d+/, "") };
}

const forbidWhen = (condition: string) =>
  `permit(principal, action, resource);\nforbid(principal, action == Action::"call", resource) when { ${condition} };`;

/** Returns how often the engine is asked about calls with each of `values`, one after the other. */
async function evaluations(condition: string, name: string, values: readonly JsonValue[]): Promise<number> {
  using policies = await open(forbidWhen(condition));
  const engine = mock.method(cedar, "statefulIsAuthorized");
  try {
    for (const value of values) policies.decide(callOf({}, { args: { [name]: value } }));
    return engine.mock.callCount();
  } finally {
    engine.mock.restore();
  }
}

const path = 'context.arguments.getTag("path")';
const amount = 'context.integers.getTag("amount")';
const hasBoth = 'context.arguments.hasTag("path") && ';
const texts = Array.from({ length: 50 }, (_, at) => `/home/files/${at}/${"x".repeat(20 * at)}`);
const numbers = Array.from({ length: 50 }, (_, at) => at);

describe("shared decisions", () => {
  it("asks the engine once for all texts with the same answers, however long they are", async () => {
    assert.equal(await evaluations(`${hasBoth}${path} like "/etc/*"`, "path", texts), 1);
    assert.equal(
      await evaluations(`${hasBoth}${path} like "/etc/*"`, "path", [...texts, "/etc/a", "/etc/b"]),
      2,
    );
    assert.equal(
      await evaluations(`${hasBoth}["a", "b"].contains(${path})`, "path", [...texts, "a", "b"]),
      2,
    );
    assert.equal(await evaluations(`${hasBoth}"a" != ${path}`, "path", [...texts, "a"]), 2);
  });

  it("asks the engine once for all numbers on one side of a limit", async () => {
    const condition = `context.integers.hasTag("amount") && ${amount} > 1000`;
    assert.equal(await evaluations(condition, "amount", [...numbers, 1000, 1001, 5000]), 2);
    assert.equal(
      await evaluations(`context.integers.hasTag("amount") && 10 <= ${amount}`, "amount", numbers),
      2,
    );
  });

  it("asks the engine about each value where a policy reads it in another way, too", async () => {
    const condition = `${hasBoth}${path} like "/etc/*" && context.arguments.hasTag("q") && ${path} == context.arguments.getTag("q")`;
    assert.equal(await evaluations(condition, "path", texts.slice(0, 10)), 10);
    const sum = `context.integers.hasTag("amount") && ${amount} + 1 > 1000`;
    assert.equal(await evaluations(sum, "amount", numbers), numbers.length);
  });

  it("counts an argument as a whole about which more is asked than is answered for each call", async () => {
    const questions = Array.from({ length: 65 }, (_, at) => `${path} == "p${at}"`).join(" || ");
    assert.equal(await evaluations(`${hasBoth}(${questions})`, "path", texts.slice(0, 10)), 10);
  });

  it("remembers no decision by a text that is long because a client chose a long name", async () => {
    using policies = await open(
      'permit(principal, action, resource) unless { resource.name like "file:///secret/*" };',
    );
    const engine = mock.method(cedar, "statefulIsAuthorized");
    try {
      for (const [length, asked] of [
        [500, 1],
        [1000, 3],
      ] as const) {
        const name = `file:///${"x".repeat(length)}`;
        for (let at = 0; at < 2; at += 1)
          policies.decide(callOf({ kind: "resource", id: `files:resources/${name}`, name }));
        assert.equal(engine.mock.callCount(), asked, `${length} characters`);
      }
    } finally {
      engine.mock.restore();
    }
  });

  it("answers patterns whose parts overlap in a text as the engine does", async () => {
    const orders: readonly (readonly [pattern: string, values: readonly string[]])[] = [
      ["ab*ba", ["aba", "abba", "ab", "abxba"]],
      ["*bb*b", ["bb", "bbb", "b", "bbxb"]],
      ["*aba*aba*", ["ababa", "abaaba", "aba"]],
      ["a*a", ["a", "aa"]],
      ["a**a", ["a", "aa", "aba"]],
      ["*", [""]],
    ];
    for (const [pattern, values] of orders) {
      for (const first of values) {
        using shared = await open(forbidWhen(`${hasBoth}${path} like "${pattern}"`));
        for (const value of [first, ...values]) {
          using fresh = await open(forbidWhen(`${hasBoth}${path} like "${pattern}"`));
          const request = callOf({}, { args: { path: value } });
          assert.deepEqual(
            shared.decide(request),
            fresh.decide(request),
            `${pattern} and ${value} after ${first}`,
          );
        }
      }
    }
  });

  it("decides as the engine does about a value that comes first", async () => {
    const letters = fc.constantFrom("a", "b", "*", "/", "\ud83d", "\ude00", "\ufffd", "😀", "");
    const text = fc.array(letters, { maxLength: 6 }).map((parts) => parts.join(""));
    const literal = text.map((one) => one.toWellFormed());
    const quoted = literal.map((one) => JSON.stringify(one));
    const pattern = fc
      .array(fc.constantFrom("a", "b", "\\*", "/", "😀", "\ufffd", "*", "*"), { maxLength: 6 })
      .map((parts) => `"${parts.join("")}"`);
    const number = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.maxSafeInteger());
    const condition = fc.oneof(
      pattern.map((one) => `${hasBoth}${path} like ${one}`),
      fc.tuple(quoted, fc.constantFrom("==", "!=")).map(([one, is]) => `${hasBoth}${path} ${is} ${one}`),
      fc.array(quoted, { minLength: 1, maxLength: 3 }).map((some) => `${hasBoth}[${some}].contains(${path})`),
      fc
        .tuple(number, fc.constantFrom("<", "<=", ">", ">=", "==", "!="), fc.boolean())
        .map(([one, is, first]) => (first ? `${one} ${is} ${amount}` : `${amount} ${is} ${one}`))
        .map((compared) => `context.integers.hasTag("amount") && ${compared}`),
    );
    const value = fc.oneof(text, number, fc.constantFrom<JsonValue>(null, true, 0.5, [], "3"));
    let allowed = 0;
    let decided = 0;
    await fc.assert(
      fc.asyncProperty(condition, fc.array(value, { minLength: 8, maxLength: 8 }), async (asked, values) => {
        using shared = await open(forbidWhen(asked));
        for (const one of values) {
          using fresh = await open(forbidWhen(asked));
          const request = callOf({}, { args: { path: one, amount: one } });
          const decision = shared.decide(request);
          assert.deepEqual(
            withoutColumn(decision),
            withoutColumn(fresh.decide(request)),
            `${asked} about ${JSON.stringify(one)}`,
          );
          decided += 1;
          if (decision.kind === "allow") allowed += 1;
        }
      }),
      { numRuns: runCount(150) },
    );
    assert.ok(allowed > decided / 10 && allowed < decided * 0.9, `${allowed} of ${decided} were allowed`);
  });
});
