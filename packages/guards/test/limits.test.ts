/** Rates, budgets and windows: what is refused, until when, and that nothing used is forgotten. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Limits } from "@toolcrib/guards";
import { identityKey, localIdentity, type ToolId } from "@toolcrib/tool";

type LimitRule = ConstructorParameters<typeof Limits>[0]["rules"][number];
type LimitedCall = Parameters<Limits["take"]>[0];

const start = Date.UTC(2026, 0, 5, 12); // a Monday
const plain: LimitRule = {
  name: "r",
  tools: undefined,
  clients: undefined,
  per: "client",
  rate: undefined,
  budget: undefined,
  windows: undefined,
  timeZone: "UTC",
};
const minute = { count: 6, perMs: 60_000, burst: 2 };

function callOf(client: string, id: ToolId = "s:a", isOwn = false): LimitedCall {
  const wireName = id.replace(":", "__");
  const server = id.slice(0, id.indexOf(":"));
  return { id, wireName, server, isOwn, identity: localIdentity("token", client) };
}

/** Limits with a clock that tests set. */
function limitsOf(
  rules: readonly Partial<LimitRule>[],
  {
    costs = {},
    maxStates,
  }: { readonly costs?: { readonly [id: string]: number }; readonly maxStates?: number } = {},
) {
  const whole = rules.map((rule, index) => ({ ...plain, name: `r${index}`, ...rule }));
  const list = Object.entries(costs).map(([pattern, cost]) => ({ pattern, cost }));
  const keys = (name: string) => [identityKey(localIdentity("token", name))];
  const limits = new Limits({ rules: whole, costs: list }, keys, { maxStates });
  const clock = { now: start };
  /** Returns "ok", or the code and the seconds until the call is possible again. */
  const take = (call: LimitedCall, bytes = 0): string => {
    const taken = limits.take(call, clock.now);
    if ("code" in taken) {
      const { code, retryAt } = taken;
      return `${code} ${retryAt === undefined ? "never" : (retryAt - clock.now) / 1000}`;
    }
    taken.spend(bytes);
    return "ok";
  };
  return { limits, clock, take };
}

test("a rate allows its burst at once, and then one call after the other", () => {
  const { take, clock, limits } = limitsOf([{ rate: minute }]);
  const ci = callOf("ci");
  assert.deepEqual([take(ci), take(ci), take(ci)], ["ok", "ok", "RATE_LIMITED 10"]);
  assert.equal(take(callOf("other")), "ok");
  clock.now += 4000;
  assert.equal(take(ci), "RATE_LIMITED 6");
  clock.now += 6000;
  assert.deepEqual([take(ci), take(ci)], ["ok", "RATE_LIMITED 10"]);
  // A clock that goes back fills nothing, and stops nothing for longer.
  clock.now -= 3_600_000;
  assert.equal(take(ci), "RATE_LIMITED 10");
  clock.now += 10_000;
  assert.equal(take(ci), "ok");
  assert.equal(limits.usage(clock.now)[0]?.refused, 4);
  // A check counts nothing.
  clock.now += 3_600_000;
  for (let count = 0; count < 5; count += 1) assert.equal(limits.refusal(ci, clock.now), undefined);
  assert.deepEqual([take(ci), take(ci), take(ci)], ["ok", "ok", "RATE_LIMITED 10"]);
});

const scopes: readonly [
  per: LimitRule["per"],
  calls: readonly (readonly [string, ToolId])[],
  allowed: number,
][] = [
  [
    "client",
    [
      ["a", "s:x"],
      ["a", "t:y"],
      ["b", "s:x"],
    ],
    2,
  ],
  [
    "tool",
    [
      ["a", "s:x"],
      ["b", "s:x"],
      ["a", "s:y"],
    ],
    2,
  ],
  [
    "tool",
    [
      ["a", "s:resources/file:///1"],
      ["a", "s:resources/file:///2"],
      ["a", "s:prompts/a"],
    ],
    2,
  ],
  [
    "tool",
    [
      ["a", "s:x/1"],
      ["a", "s:x/2"],
    ],
    2,
  ],
  [
    "server",
    [
      ["a", "s:x"],
      ["b", "s:y"],
      ["a", "t:x"],
    ],
    2,
  ],
  [
    "all",
    [
      ["a", "s:x"],
      ["b", "t:y"],
    ],
    1,
  ],
];

for (const [per, calls, allowed] of scopes) {
  test(`a limit per ${per} counts ${calls.map((one) => one.join(" ")).join(", ")} as ${allowed}`, () => {
    const { take } = limitsOf([{ per, rate: { count: 1, perMs: 3_600_000, burst: 1 } }]);
    const taken = calls.filter(([client, id]) => take(callOf(client, id)) === "ok");
    assert.equal(taken.length, allowed);
  });
}

test("a limit applies to its tools and clients, and without a list not to Toolcrib's own tools", () => {
  const budget = { limits: { calls: 1 }, every: "day" } as const;
  const { take } = limitsOf([{ tools: ["s:*"], clients: ["ci"], budget }]);
  assert.deepEqual([take(callOf("ci")), take(callOf("ci"))], ["ok", "BUDGET_EXCEEDED 43200"]);
  for (const call of [callOf("other"), callOf("ci", "t:a")]) {
    assert.deepEqual([take(call), take(call)], ["ok", "ok"]);
  }
  const everything = limitsOf([{ budget }]);
  const own = callOf("ci", "toolcrib:call_tool", true);
  assert.deepEqual([everything.take(own), everything.take(own)], ["ok", "ok"]);
  const named = limitsOf([{ budget, tools: ["toolcrib:*"] }]);
  assert.deepEqual([named.take(own), named.take(own)], ["ok", "BUDGET_EXCEEDED 43200"]);
});

test("every limit that applies must allow a call, and a refused call uses nothing", () => {
  const { take, clock, limits } = limitsOf([
    { rate: minute },
    { budget: { limits: { calls: 3 }, every: "hour" }, per: "all" },
  ]);
  const calls = () => [take(callOf("a")), take(callOf("a")), take(callOf("a"))];
  assert.deepEqual(calls(), ["ok", "ok", "RATE_LIMITED 10"]);
  assert.deepEqual(limits.usage(clock.now)[1]?.top[0]?.left, { calls: 1 });
  clock.now += 60_000;
  assert.deepEqual(calls(), ["ok", "BUDGET_EXCEEDED 3540", "BUDGET_EXCEEDED 3540"]);
  clock.now += 3_540_000;
  assert.deepEqual(calls(), ["ok", "ok", "RATE_LIMITED 10"]);
});

test("a budget counts calls, bytes and cost, and begins anew with its period only", () => {
  const { take, clock, limits } = limitsOf(
    [{ budget: { limits: { bytes: 100, cost: 4_000_000 }, every: "day" } }],
    { costs: { "s:dear": 3_000_000, "s:*": 500_000, "s:huge": 9_000_000 } },
  );
  assert.equal(take(callOf("a", "s:dear"), 60), "ok");
  // It is refused before it is made, so that nothing of its cost is spent.
  assert.equal(take(callOf("a", "s:dear")), "BUDGET_EXCEEDED 43200");
  assert.equal(take(callOf("a", "s:other"), 60), "ok");
  assert.equal(take(callOf("a", "t:free")), "BUDGET_EXCEEDED 43200");
  assert.deepEqual(limits.usage(clock.now)[0], {
    name: "r0",
    refused: 2,
    usedRatio: 1.2,
    top: [
      {
        of: "a",
        used: { bytes: 120, cost: 3.5 },
        left: { bytes: 0, cost: 0.5 },
        until: "2026-01-06T00:00:00.000Z",
      },
    ],
  });
  clock.now -= 24 * 3_600_000;
  assert.match(take(callOf("a", "t:free")), /^BUDGET_EXCEEDED/);
  clock.now = Date.UTC(2026, 0, 6) - 1;
  assert.equal(take(callOf("a", "t:free")), "BUDGET_EXCEEDED 0.001");
  clock.now += 1;
  assert.equal(take(callOf("a", "t:free")), "ok");
  clock.now -= 1000;
  assert.equal(take(callOf("a", "s:dear")), "ok");
  // The first pattern decides, and a cost above the whole budget is never possible.
  const { take: takeHuge } = limitsOf([{ budget: { limits: { cost: 1 }, every: "day" } }], {
    costs: { "*": 2 },
  });
  assert.equal(takeHuge(callOf("a")), "BUDGET_EXCEEDED never");
});

test("days and windows follow their time zone, also when clocks are changed", () => {
  const timeZone = "Europe/Berlin";
  const berlin = limitsOf([{ budget: { limits: { calls: 1 }, every: "day" }, timeZone }]);
  berlin.clock.now = Date.UTC(2026, 2, 28, 22, 59);
  assert.deepEqual([berlin.take(callOf("a")), berlin.take(callOf("a"))], ["ok", "BUDGET_EXCEEDED 60"]);
  // The 29th has 23 hours there.
  berlin.clock.now = Date.UTC(2026, 2, 28, 23);
  assert.deepEqual(
    [berlin.take(callOf("a")), berlin.take(callOf("a"))],
    ["ok", `BUDGET_EXCEEDED ${23 * 3600}`],
  );

  const office = { days: [1, 2, 3, 4, 5], fromMinute: 9 * 60, toMinute: 17 * 60 };
  const night = { days: [6], fromMinute: 22 * 60, toMinute: 2 * 60 };
  const { take, clock, limits } = limitsOf([{ windows: [office, night], timeZone }]);
  const at = (time: string) => {
    clock.now = Date.parse(time);
    const taken = take(callOf("a"));
    const [code, seconds] = taken.split(" ");
    return code === "ok" ? "ok" : new Date(clock.now + Number(seconds) * 1000).toISOString().slice(0, 16);
  };
  const rows: readonly [time: string, expected: string][] = [
    ["2026-01-05T07:59:30Z", "2026-01-05T08:00"],
    ["2026-01-05T08:00:00Z", "ok"],
    ["2026-01-05T15:59:59Z", "ok"],
    ["2026-01-05T16:00:00Z", "2026-01-06T08:00"],
    ["2026-01-09T16:00:00Z", "2026-01-10T21:00"],
    ["2026-01-10T21:00:00Z", "ok"],
    ["2026-01-11T00:59:00Z", "ok"],
    ["2026-01-11T01:00:00Z", "2026-01-12T08:00"],
    // Summer time begins on Sunday, so that the next window opens an hour earlier in UTC.
    ["2026-03-29T00:30:00Z", "ok"],
    ["2026-03-29T12:00:00Z", "2026-03-30T07:00"],
    ["2026-03-27T17:00:00Z", "2026-03-28T21:00"],
  ];
  for (const [time, expected] of rows) assert.equal(at(time), expected, time);
  clock.now = Date.parse("2026-01-09T16:00:00Z");
  assert.deepEqual(limits.usage(clock.now)[0]?.window, {
    isOpen: false,
    opensAt: "2026-01-10T21:00:00.000Z",
  });
  assert.deepEqual(limits.usage(Date.parse("2026-01-10T21:00:00Z"))[0]?.window, { isOpen: true });
});

test("states are limited, and no used-up budget begins anew for lack of room", () => {
  const budget = { limits: { calls: 1 }, every: "day" } as const;
  const { take, clock } = limitsOf([{ budget }, { budget, name: "second", per: "all", tools: ["t:*"] }], {
    maxStates: 3,
  });
  for (const client of ["a", "b", "c"]) assert.equal(take(callOf(client)), "ok");
  // Further clients share one state.
  assert.equal(take(callOf("d")), "ok");
  for (const client of ["a", "b", "c", "d", "e"]) assert.match(take(callOf(client)), /^BUDGET/, client);
  assert.match(take(callOf("e", "t:x")), /^BUDGET/);
  clock.now = Date.UTC(2026, 0, 6) + 1;
  for (const client of ["f", "g"]) assert.equal(take(callOf(client)), "ok", client);
});

test("a question about a call keeps nothing, so that no client loses its own budget by it", () => {
  const budget = { limits: { calls: 1 }, every: "day" } as const;
  const { limits, take, clock } = limitsOf([{ budget }, { name: "rate", rate: minute }], { maxStates: 4 });
  /** Returns the code of what would refuse a call of a client now; undefined where nothing would. */
  const ask = (client: string) => limits.wouldRefuse(callOf(client), clock.now)?.code;
  for (const client of ["x", "y", "z"]) assert.equal(ask(client), undefined);
  const shown = () => limits.usage(clock.now).map(({ refused, top }) => [refused, top.map(({ of }) => of)]);
  const nothing = [
    [0, []],
    [0, []],
  ];
  assert.deepEqual(shown(), nothing);
  assert.deepEqual([...limits.budgets()], []);
  for (const client of ["a", "b"]) {
    assert.equal(take(callOf(client)), "ok");
    assert.equal(ask(client), "BUDGET_EXCEEDED");
  }
  assert.equal(limits.usage(clock.now)[0]?.refused, 0);
  // Without room, further clients share a new state, until one of them has used it.
  assert.deepEqual([ask("c"), ask("d")], [undefined, undefined]);
  assert.equal(take(callOf("c")), "ok");
  assert.deepEqual([ask("c"), ask("d")], ["BUDGET_EXCEEDED", "BUDGET_EXCEEDED"]);
  // No question fills a rate or begins the next period.
  const counters = () => JSON.stringify([...limits.budgets()]);
  const kept = counters();
  clock.now = Date.UTC(2026, 0, 6) + 1;
  assert.deepEqual([ask("a"), ask("c"), ask("d")], [undefined, undefined, undefined]);
  assert.equal(counters(), kept);
});

test("what was used is restored, for rules that still exist", () => {
  const budget = { limits: { calls: 5 }, every: "day" } as const;
  const { limits, take, clock } = limitsOf([{ budget }]);
  const period = { start: Date.UTC(2026, 0, 5), end: Date.UTC(2026, 0, 6) };
  const key = identityKey(localIdentity("token", "a"));
  const kept = {
    rule: "r0",
    every: "day",
    key,
    label: "a",
    period,
    base: { calls: 4, bytes: 0, cost: 0 },
  } as const;
  limits.restore(
    [
      kept,
      { ...kept, rule: "gone" },
      { ...kept, every: "hour" },
      { ...kept, period: { start: 0, end: start } },
    ],
    clock.now,
  );
  assert.deepEqual([take(callOf("a")), take(callOf("a"))], ["ok", "BUDGET_EXCEEDED 43200"]);
  const [first, ...others] = [...limits.budgets()];
  assert.deepEqual([first?.use.own.calls, first?.use.base.calls, others.length], [1, 4, 0]);
});
