/** The section `guards`: what it means, and what is wrong with it, all at once. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "@toolcrib/config";

const parse = (text: string) => parseConfig([{ name: "toolcrib.yaml", text }]);

test("limits and costs are read, with their defaults", () => {
  const { value, diagnostics } = parse(`
guards:
  limits:
    - name: full
      tools: ["github:*", "files:resources/file:///etc/*"]
      clients: [ci]
      per: server
      rate: 60/minute
      burst: 10
      budget: { calls: 500, bytes: 10MB, cost: 2.5 }
      every: hour
      windows: [{ days: [fri-mon, wed], from: "09:00", to: "24:00" }]
      timezone: Europe/Berlin
    - { name: small, rate: 5/second }
    - { name: always, windows: [{ from: "22:30", to: "06:00" }] }
  costs: { "stripe:*": 0.1 }
`);
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(value?.guards, {
    rules: [
      {
        name: "full",
        tools: ["github:*", "files:resources/file:///etc/*"],
        clients: ["ci"],
        per: "server",
        rate: { count: 60, perMs: 60_000, burst: 10 },
        budget: { limits: { calls: 500, bytes: 10 * 1024 ** 2, cost: 2_500_000 }, every: "hour" },
        windows: [{ days: [5, 6, 0, 1, 3], fromMinute: 540, toMinute: 1440 }],
        timeZone: "Europe/Berlin",
      },
      {
        name: "small",
        tools: undefined,
        clients: undefined,
        per: "client",
        rate: { count: 5, perMs: 1000, burst: 5 },
        budget: undefined,
        windows: undefined,
        timeZone: "UTC",
      },
      {
        name: "always",
        tools: undefined,
        clients: undefined,
        per: "client",
        rate: undefined,
        budget: undefined,
        windows: [{ days: [0, 1, 2, 3, 4, 5, 6], fromMinute: 1350, toMinute: 360 }],
        timeZone: "UTC",
      },
    ],
    costs: [{ pattern: "stripe:*", cost: 100_000 }],
  });
  assert.deepEqual(parse("serve: {}").value?.guards, { rules: [], costs: [] });
});

const wrong: readonly [limit: string, message: RegExp, hint: RegExp][] = [
  ["name: a", /"guards.limits\[0\]" limits nothing/, /write rate, budget or windows/],
  ["rate: 1/minute", /Field "name" is required/, /add name/],
  ["name: a b, rate: 1/minute", /letters, digits and _ \. -/, /./],
  ["name: a, rate: 60 per min", /must be a rate such as 60\/minute/, /write 60\/minute/],
  ["name: a, rate: 60/day", /must be a rate/, /./],
  ["name: a, rate: 60/minute, burst: 0", /whole number from 1 to 1000000/, /./],
  ["name: a, burst: 1, windows: []", /has a burst without a rate/, /write rate/],
  ["name: a, budget: { calls: 1 }", /has a budget without a period/, /every: hour or every: day/],
  ["name: a, rate: 1/minute, every: day", /has a period without a budget/, /write budget/],
  ["name: a, budget: {}, every: day", /"guards.limits\[0\].budget" limits nothing/, /calls, bytes or cost/],
  ["name: a, budget: { bytes: 5 }, every: day", /must be a string/, /such as 10MB/],
  ["name: a, budget: { bytes: 5 apples }, every: day", /must be a size/, /such as 10MB/],
  ["name: a, budget: { cost: 1 }, every: day", /no call costs anything/, /write costs/],
  ["name: a, budget: { cost: -1 }, every: day", /must be a number from/, /./],
  ["name: a, budget: { calls: 1 }, every: daily", /must be hour or day/, /write every: day/],
  ["name: a, windows: []", /must not be empty/, /./],
  ["name: a, windows: [{ from: 9:00, to: 17:00 }]", /must be a time such as 09:00/, /write 09:00/],
  ['name: a, windows: [{ from: "09:00" }]', /Field "to" is required/, /./],
  ['name: a, windows: [{ days: [Monday], from: "09:00", to: "17:00" }]', /must be a weekday/, /write mon/],
  ["name: a, rate: 1/minute, timezone: Mars/Base", /must be a time zone/, /Europe\/Berlin/],
  ["name: a, rate: 1/minute, per: user", /must be client, tool, server or all/, /per: client/],
  ["name: a, limit: 1", /Unknown field "limit"/, /rate, budget or windows/],
];

for (const [limit, message, hint] of wrong) {
  test(`a limit { ${limit} } is refused with a fix`, () => {
    const { value, diagnostics } = parse(`guards:\n  limits:\n    - { ${limit} }\n`);
    assert.equal(value, undefined);
    const found = diagnostics.find((one) => message.test(one.message));
    assert.ok(found, diagnostics.map((one) => one.message).join("\n"));
    if (hint.source !== ".") assert.match(found.hint ?? "", hint);
  });
}

test("all errors of a section are reported together", () => {
  const { diagnostics } = parse(`
guards:
  limits:
    - { name: a, rate: often }
    - { name: a, windows: [{ from: "9", to: "x" }] }
  costs: { "bad pattern": 1, "s:*": free }
`);
  const messages = diagnostics.map(({ message }) => message).join("\n");
  for (const expected of [/rate/, /Duplicate name "a"/, /from/, /to"/, /bad pattern/, /must be a number/])
    assert.match(messages, expected);
});
