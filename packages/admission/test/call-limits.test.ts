/** Limits by the public names of the package: rates, budgets that the gateways of a home share, and refusals. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, mock, test } from "node:test";
import { BudgetStore } from "@toolcrib/store";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { callOf, guardsOf } from "./guard-harness.ts";

type Settings = NonNullable<Parameters<typeof guardsOf>[2]>;

const rule: Settings["rules"][number] = {
  name: "writes",
  tools: ["notes:write"],
  clients: undefined,
  per: "client",
  rate: undefined,
  budget: undefined,
  windows: undefined,
  timeZone: "UTC",
};
const limitedBy = (changes: Partial<typeof rule>): Settings => ({
  rules: [{ ...rule, ...changes }],
  costs: [],
});

/** Opens the limits of a gateway. */
async function open(
  home: string,
  clock: { readonly ms: number },
  changes: Partial<typeof rule>,
  run?: string,
  deps: Parameters<typeof guardsOf>[4] = {},
) {
  const { callLimits, events } = guardsOf(home, clock, limitedBy(changes), run, deps);
  assert.ok(callLimits);
  await callLimits.restore();
  /** Makes a call. @returns the code of its refusal, or "made" */
  const call = (client: string, name = "write", bytes = 0): string => {
    const { target, origin } = callOf(client, name);
    const refusal = callLimits.refusal(target, origin) ?? callLimits.take(target, origin, () => bytes);
    return "error" in refusal ? refusal.error.code : "made";
  };
  return { callLimits, events, call };
}

describe("CallLimits", () => {
  test("does not exist without rules", async () => {
    await using directory = await makeTemporaryDirectory();
    assert.equal(guardsOf(directory.path, { ms: 0 }).callLimits, undefined);
    assert.equal(guardsOf(directory.path, { ms: 0 }, { rules: [], costs: [] }).callLimits, undefined);
  });

  test("refuses what exceeds a rate, for each client and tool of the rule alone, until there is room", async () => {
    await using directory = await makeTemporaryDirectory();
    const clock = { ms: 1_000_000 };
    const rate = { count: 2, perMs: 60_000, burst: 2 };
    const { callLimits, call } = await open(directory.path, clock, { rate });
    assert.deepEqual([call("ci"), call("ci"), call("ci")], ["made", "made", "RATE_LIMITED"]);
    assert.deepEqual([call("dev"), call("ci", "read")], ["made", "made"]);
    const { target, origin } = callOf("ci");
    const { error, rule: found } = callLimits.refusal(target, origin) ?? {};
    assert.equal(found, "limit.writes");
    assert.equal(
      error?.message,
      '"notes__write" was not called (limit "writes"): at most 2 calls a minute are allowed',
    );
    assert.deepEqual(error.data, { limit: "writes", retryAfterSeconds: 30 });
    clock.ms += 30_000;
    assert.deepEqual([call("ci"), call("ci")], ["made", "RATE_LIMITED"]);
  });

  test("answers the operator as a call would be refused, and counts no question", async () => {
    await using directory = await makeTemporaryDirectory();
    const budget = { limits: { calls: 1 }, every: "day" as const };
    const { callLimits, call } = await open(directory.path, { ms: 0 }, { budget });
    const ask = (client: string) => {
      const { target, origin } = callOf(client);
      return callLimits.wouldRefuse(target, origin);
    };
    assert.deepEqual([ask("ci"), ask("nobody")], [undefined, undefined]);
    assert.deepEqual(callLimits.usage()[0]?.top, []);
    assert.equal(call("ci"), "made");
    const answer = ask("ci");
    assert.deepEqual([answer?.rule, answer?.error.code], ["limit.writes", "BUDGET_EXCEEDED"]);
    assert.equal(callLimits.usage()[0]?.refused, 0);
    const { target, origin } = callOf("ci");
    assert.equal(answer?.error.message, callLimits.refusal(target, origin)?.error.message);
    assert.equal(callLimits.usage()[0]?.top.length, 1);
  });

  test("says when a call is possible again, in the units that people read", async () => {
    await using directory = await makeTemporaryDirectory();
    const hintOf = async (changes: Partial<typeof rule>, calls: number) => {
      const { callLimits, call } = await open(directory.path, { ms: 0 }, changes);
      for (let count = 0; count < calls; count += 1) assert.equal(call("ci"), "made");
      const { target, origin } = callOf("ci");
      const { error } = callLimits.refusal(target, origin) ?? assert.fail("it is possible");
      const [again = ""] = error.hint?.split("; ") ?? [];
      return [again, error.data?.["retryAfterSeconds"]];
    };
    for (const [seconds, text] of [
      [60, "60 s, at 1970-01-01T00:01:00.000Z"],
      [119, "119 s, at 1970-01-01T00:01:59.000Z"],
      [120, "2 min, at 1970-01-01T00:02:00.000Z"],
      [121, "3 min, at 1970-01-01T00:02:01.000Z"],
      [3600, "1 h, at 1970-01-01T01:00:00.000Z"],
      [5400, "1 h 30 min, at 1970-01-01T01:30:00.000Z"],
    ] as const) {
      const rate = { count: 1, perMs: seconds * 1000, burst: 1 };
      assert.deepEqual(await hintOf({ rate }, 1), [`it is possible again in ${text}`, seconds]);
    }
    const never = { budget: { limits: { calls: 0 }, every: "day" as const } };
    assert.deepEqual(await hintOf(never, 0), ["it is not possible under this limit", undefined]);
  });

  test("counts the bytes of arguments and results towards a budget", async () => {
    await using directory = await makeTemporaryDirectory();
    const budget = { limits: { bytes: 100 }, every: "hour" as const };
    const { callLimits, call } = await open(directory.path, { ms: 0 }, { budget });
    const { target, origin } = callOf("ci");
    const taken = callLimits.take(target, origin, () => 40);
    assert.ok("spend" in taken);
    assert.equal(call("ci"), "made");
    taken.spend(60);
    assert.equal(call("ci"), "BUDGET_EXCEEDED");
    const [used] = callLimits.usage();
    assert.deepEqual([used?.name, used?.usedRatio, used?.refused], ["writes", 1, 1]);
  });

  test("shares budgets among the gateways of a home, also after they have ended", async () => {
    await using directory = await makeTemporaryDirectory();
    const budget = { limits: { calls: 3 }, every: "day" as const };
    const clock = { ms: 0 };
    const first = await open(directory.path, clock, { budget }, "first");
    const close = first.callLimits.keep();
    assert.deepEqual([first.call("ci"), first.call("ci")], ["made", "made"]);
    await close();
    const second = await open(directory.path, clock, { budget }, "second");
    assert.deepEqual([second.call("ci"), second.call("ci")], ["made", "BUDGET_EXCEEDED"]);
    clock.ms = 24 * 3_600_000;
    assert.equal(second.call("ci"), "made");
  });

  test("counts budgets from zero where nothing keeps them", async () => {
    await using directory = await makeTemporaryDirectory();
    const budget = { limits: { calls: 1 }, every: "day" as const };
    for (const run of ["first", "second"]) {
      const deps = { budgetStore: undefined };
      const { callLimits, events, call } = await open(directory.path, { ms: 0 }, { budget }, run, deps);
      assert.deepEqual([call("ci"), call("ci")], ["made", "BUDGET_EXCEEDED"]);
      await callLimits.keep()();
      assert.deepEqual(events.logged, []);
    }
  });

  test("keeps the budget of one rule beside another that has none", async () => {
    await using directory = await makeTemporaryDirectory();
    const budget = { limits: { calls: 1 }, every: "day" as const };
    const rules = [
      { ...rule, budget },
      { ...rule, name: "rate", rate: { count: 9, perMs: 1000, burst: 9 } },
    ];
    const made: boolean[] = [];
    for (const run of ["first", "second"]) {
      const { callLimits } = guardsOf(directory.path, { ms: 0 }, { rules, costs: [] }, run);
      assert.ok(callLimits);
      await callLimits.restore();
      const { target, origin } = callOf("ci");
      made.push("spend" in callLimits.take(target, origin, () => 0));
      await callLimits.keep()();
    }
    assert.deepEqual(made, [true, false]);
  });

  test("keeps bytes of a result that arrives after its call was kept", async () => {
    await using directory = await makeTemporaryDirectory();
    const budget = { limits: { bytes: 100 }, every: "day" as const };
    const first = await open(directory.path, { ms: 0 }, { budget }, "first");
    const { target, origin } = callOf("ci");
    const taken = first.callLimits.take(target, origin, () => 40);
    await first.callLimits.keep()();
    assert.ok("spend" in taken);
    taken.spend(60);
    await first.callLimits.keep()();
    const second = await open(directory.path, { ms: 0 }, { budget }, "second");
    assert.equal(second.call("ci"), "BUDGET_EXCEEDED");
  });

  test("announces a share of a budget while it is used, and withdraws what was not used", async () => {
    await using directory = await makeTemporaryDirectory();
    const budget = { limits: { calls: 40, bytes: 4000 }, every: "day" as const };
    const clock = { ms: 0 };
    let exchanges = 0;
    const budgetStore = new BudgetStore(directory.path, { now: () => 0, randomBytes });
    const counted = {
      read: (run: string) => budgetStore.read(run),
      exchange: (...args: Parameters<BudgetStore["exchange"]>) =>
        budgetStore.exchange(...args).finally(() => {
          exchanges += 1;
        }),
    } as BudgetStore;
    /** Calls that another gateway of the home can make. */
    const leftForOther = async () => {
      const other = await open(directory.path, clock, { budget }, "other");
      let count = 0;
      while (other.call("ci") === "made") count += 1;
      return count;
    };
    mock.timers.enable({ apis: ["setInterval"] });
    try {
      const { callLimits, call } = await open(directory.path, clock, { budget }, "own", {
        budgetStore: counted,
      });
      const close = callLimits.keep();
      const tick = async () => {
        const before = exchanges;
        mock.timers.tick(1000);
        await waitUntil(() => exchanges > before, { what: "the budget is exchanged" });
      };
      const { target, origin } = callOf("ci");
      const taken = callLimits.take(target, origin, () => 0);
      assert.equal(call("ci"), "made");
      await tick();
      // One call in twenty for the time until the next exchange.
      assert.equal(await leftForOther(), 36);
      await tick();
      // Nothing is exchanged while nothing is used.
      mock.timers.tick(1000);
      assert.equal(await leftForOther(), 38);
      assert.equal(exchanges, 2);
      assert.ok("spend" in taken);
      taken.spend(1);
      await tick();
      assert.equal(await leftForOther(), 36);
      await close();
      assert.equal(await leftForOther(), 38);
    } finally {
      mock.timers.reset();
    }
  });

  test("announces nothing when other limits are prepared", async () => {
    await using directory = await makeTemporaryDirectory();
    const budget = { limits: { calls: 20 }, every: "day" as const };
    const before = await open(directory.path, { ms: 0 }, { budget });
    assert.equal(before.call("ci"), "made");
    const after = await open(directory.path, { ms: 0 }, { budget });
    await after.callLimits.restore(before.callLimits);
    const other = await open(directory.path, { ms: 0 }, { budget }, "other");
    for (let count = 1; count < 20; count += 1) assert.equal(other.call("ci"), "made", `${count}`);
  });

  test("counts a budget on where other limits replace these, also calls in between and calls in flight", async () => {
    await using directory = await makeTemporaryDirectory();
    const every = "day" as const;
    const clock = { ms: 0 };
    const before = await open(directory.path, clock, { budget: { limits: { calls: 5 }, every } });
    const closeBefore = before.callLimits.keep();
    assert.equal(before.call("ci"), "made");
    const after = await open(directory.path, clock, { budget: { limits: { calls: 5, bytes: 100 }, every } });
    await after.callLimits.restore(before.callLimits);
    // The next configuration is prepared, and not yet in force.
    assert.deepEqual([before.call("ci"), before.call("ci")], ["made", "made"]);
    const exchanging = before.callLimits.keep()();
    // The exchange has begun.
    await Promise.resolve();
    const closeAfter = after.callLimits.keep();
    after.callLimits.continueFrom(before.callLimits);
    assert.deepEqual(
      [after.call("ci"), before.call("ci"), after.call("ci")],
      ["made", "made", "BUDGET_EXCEEDED"],
    );
    await Promise.all([exchanging, closeBefore(), closeAfter()]);
    const third = await open(directory.path, clock, { budget: { limits: { calls: 6 }, every } });
    assert.deepEqual([third.call("ci"), third.call("ci")], ["made", "BUDGET_EXCEEDED"], "each was kept once");
  });

  test("counts a budget on that could not be read when other limits replaced these", async () => {
    await using directory = await makeTemporaryDirectory();
    const clock = { ms: 0 };
    const budget = { limits: { calls: 6 }, every: "day" as const };
    const before = await open(directory.path, clock, { budget });
    assert.deepEqual([before.call("ci"), before.call("ci")], ["made", "made"]);
    await before.callLimits.keep()();
    assert.equal(before.call("ci"), "made");
    const path = directory.join("guards/budgets.json");
    const kept = readFileSync(path);
    writeFileSync(path, "{");
    const after = await open(directory.path, clock, { budget });
    await after.callLimits.restore(before.callLimits);
    after.callLimits.continueFrom(before.callLimits);
    assert.equal(after.call("ci"), "BUDGETS_UNREADABLE");
    writeFileSync(path, kept);
    await after.callLimits.restore();
    const calls = [after.call("ci"), after.call("ci"), after.call("ci"), after.call("ci")];
    assert.deepEqual(calls, ["made", "made", "made", "BUDGET_EXCEEDED"]);
  });

  test("refuses calls of a budget that cannot be read, and no others", async () => {
    await using directory = await makeTemporaryDirectory();
    const budget = { limits: { calls: 3 }, every: "day" as const };
    const first = await open(directory.path, { ms: 0 }, { budget });
    const close = first.callLimits.keep();
    first.call("ci");
    await close();
    writeFileSync(directory.join("guards/budgets.json"), "{", { mode: 0o600 });
    const { call, events } = await open(directory.path, { ms: 0 }, { budget });
    assert.deepEqual([call("ci"), call("ci", "read")], ["BUDGETS_UNREADABLE", "made"]);
    assert.deepEqual(events.logged, ["budgets cannot be read: calls that count towards one are refused"]);
  });

  test("does not report a file that it does not need", async () => {
    await using directory = await makeTemporaryDirectory();
    const budget = { limits: { calls: 3 }, every: "day" as const };
    const { callLimits, call, events } = await open(directory.path, { ms: 0 }, { budget });
    call("ci");
    await callLimits.keep()();
    writeFileSync(directory.join("guards/budgets.json"), "{", { mode: 0o600 });
    // Nothing was used since.
    await callLimits.keep()();
    assert.deepEqual(events.logged, []);
    const rate = { count: 2, perMs: 60_000, burst: 2 };
    const rates = await open(directory.path, { ms: 0 }, { rate });
    assert.deepEqual([rates.call("ci"), rates.events.logged], ["made", []]);
  });
});
