/** Limits by the public names of the package: rates, budgets that the gateways of a home share, and refusals. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
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
) {
  const { callLimits, events } = guardsOf(home, clock, limitedBy(changes), run);
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
    const closeAfter = after.callLimits.keep();
    after.callLimits.continueFrom(before.callLimits);
    assert.deepEqual(
      [after.call("ci"), before.call("ci"), after.call("ci")],
      ["made", "made", "BUDGET_EXCEEDED"],
    );
    await exchanging;
    await closeBefore();
    await closeAfter();
    const third = await open(directory.path, clock, { budget: { limits: { calls: 6 }, every } });
    assert.deepEqual([third.call("ci"), third.call("ci")], ["made", "BUDGET_EXCEEDED"], "each was kept once");
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
});
