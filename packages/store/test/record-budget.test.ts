/** A client cannot push records out of the trail: each has a budget of records for 24 hours. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore, toAuditClient } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";
import { completionOf, denialOf, intentOf, newHome } from "./sample-events.ts";

const hourMs = 60 * 60 * 1000;
const clientMaxBytesPerDay = 64 * 1024;
const other = { client: toAuditClient(localIdentity("token", "other"), undefined) };

/** A store whose clock the test sets. */
async function openLimited(home: string) {
  const clock = { now: Date.UTC(2026, 10, 22) };
  const problems: string[] = [];
  const store = await openStore(
    { home, audit: { clientMaxBytesPerDay } },
    { now: () => clock.now, onProblem: ({ code, message }) => problems.push(`${code}: ${message}`) },
  );
  return { audit: store.audit, clock, problems, store };
}

type Limited = Awaited<ReturnType<typeof openLimited>>;

/** Calls until a call is refused. Returns the number of admitted calls. */
async function callUntilRefused({ audit }: Limited): Promise<number> {
  for (let count = 0; ; count += 1) {
    try {
      await audit.intent(intentOf(`c${count}`));
    } catch (error) {
      assert.equal((error as { readonly code?: string }).code, "AUDIT_BUDGET_EXCEEDED");
      return count;
    }
    audit.record("call.completed", completionOf(`c${count}`));
  }
}

test("a client beyond its budget is refused, another one is not, and a problem is reported once", async (t) => {
  const limited = await openLimited(newHome(t));
  await using _ = limited.store;
  const { audit, problems } = limited;
  const count = await callUntilRefused(limited);
  assert(count > 30, `${count} calls`);
  assert(count < 200, `${count} calls`);
  for (let n = 0; n < 3; n += 1) {
    await assert.rejects(audit.intent(intentOf("again")), {
      code: "AUDIT_BUDGET_EXCEEDED",
      message: /"default".*65536 bytes/,
    });
  }
  await audit.intent(intentOf("of-other", other));
  assert.equal(problems.length, 1);
  assert.match(problems[0]!, /^AUDIT_BUDGET_EXCEEDED/);
  assert(audit.stats().bytes < clientMaxBytesPerDay * 1.75);
});

test("completions of admitted calls are recorded beyond the budget", async (t) => {
  const limited = await openLimited(newHome(t));
  await using _ = limited.store;
  const count = await callUntilRefused(limited);
  for (let n = 0; n < 100; n += 1) limited.audit.record("call.completed", completionOf(`late${n}`));
  await limited.audit.flush();
  assert.equal(limited.audit.stats().records, 2 * count + 100);
});

test("an hour at a time, records stop to count after 24 hours", async (t) => {
  const limited = await openLimited(newHome(t));
  await using _ = limited.store;
  const { audit, clock } = limited;
  await callUntilRefused(limited);
  clock.now += 23 * hourMs;
  await assert.rejects(audit.intent(intentOf("early")), { code: "AUDIT_BUDGET_EXCEEDED" });
  clock.now += hourMs;
  await audit.intent(intentOf("late"));
});

test("a clock that goes back gives no client a new budget", async (t) => {
  const limited = await openLimited(newHome(t));
  await using _ = limited.store;
  const { audit, clock } = limited;
  await callUntilRefused(limited);
  clock.now -= 400 * 24 * hourMs;
  await assert.rejects(audit.intent(intentOf("early")), { code: "AUDIT_BUDGET_EXCEEDED" });
});

test("denials are recorded, then counted, and the count is recorded once a minute", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const limited = await openLimited(newHome(t));
  const { audit, clock } = limited;
  const from = new Date(clock.now).toISOString();
  for (let n = 0; n < 1000; n += 1) audit.record("call.denied", denialOf(`d${n}`));
  clock.now += 30_000;
  audit.record("call.denied", denialOf("last"));
  audit.record("call.denied", denialOf("of-other", other));
  await audit.flush();
  const before = audit.stats().records;
  assert(before > 30 && before < 400, `${before} records`);
  t.mock.timers.tick(60_000);
  await audit.flush();
  const [record] = await audit.list({ type: "audit.limited" });
  assert(record?.type === "audit.limited");
  const { client, count, ...rest } = record.data;
  assert.equal(client.name, "default");
  assert.equal(count + before, 1002);
  assert.deepEqual(rest, { from, to: new Date(clock.now).toISOString(), limitBytes: clientMaxBytesPerDay });
  // The rest is recorded when the store is closed.
  for (let n = 0; n < 5; n += 1) audit.record("call.denied", denialOf(`e${n}`));
  await limited.store[Symbol.asyncDispose]();
  assert.equal(audit.stats().records, before + 2);
});

test("clients beyond the counted number share one budget, and idle clients make room", async (t) => {
  const limited = await openLimited(newHome(t));
  await using _ = limited.store;
  const { audit, clock } = limited;
  const intentBy = (name: string) =>
    intentOf("c", { client: toAuditClient(localIdentity("token", name), undefined) });
  for (let n = 0; n < 10_000; n += 1)
    audit.record("call.denied", { ...denialOf("d"), client: intentBy(`n${n}`).client });
  const spend = async (name: string) => {
    for (let n = 0; n < 200; n += 1) await audit.intent(intentBy(name));
  };
  await assert.rejects(spend("late-1"), { code: "AUDIT_BUDGET_EXCEEDED" });
  await assert.rejects(audit.intent(intentBy("late-2")), { code: "AUDIT_BUDGET_EXCEEDED" });
  await audit.intent(intentBy("n0"));
  clock.now += 25 * hourMs;
  await audit.intent(intentBy("late-1"));
  await assert.rejects(spend("late-1"), { code: "AUDIT_BUDGET_EXCEEDED" });
  await audit.intent(intentBy("late-2"));
});
