/** The used parts of budgets, as the gateways of a home share them and as a killed one leaves them. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { BudgetStore } from "@toolcrib/store";
import { makeTemporaryDirectory } from "@toolcrib/testing";

type BudgetEntry = Parameters<BudgetStore["exchange"]>[1][number];

const none = { calls: 0, bytes: 0, cost: 0 };
const entry: BudgetEntry = {
  rule: "r",
  key: "k",
  label: "ci",
  every: "day",
  period: { start: 0, end: 1000 },
  add: { calls: 2, bytes: 30, cost: 5 },
  ahead: { calls: 10, bytes: 0, cost: 0 },
};

test("what one gateway used or may use is used for the others, also after it was killed", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const clock = { now: 1 };
  const open = () => new BudgetStore(home, { now: () => clock.now, randomBytes });
  const [first, second] = [open(), open()];
  assert.deepEqual(await first.read("one"), []);
  assert.equal(existsSync(home), false);
  const [own] = await first.exchange("one", [entry]);
  assert.deepEqual(own, {
    rule: "r",
    key: "k",
    label: "ci",
    every: "day",
    period: { start: 0, end: 1000 },
    base: { calls: 2, bytes: 30, cost: 5 },
  });
  assert.deepEqual((await second.read("two"))[0]?.base, { calls: 12, bytes: 30, cost: 5 });
  const [other] = await second.exchange("two", [{ ...entry, ahead: { ...none, calls: 1 } }]);
  assert.deepEqual(other?.base, { calls: 14, bytes: 60, cost: 10 });
  // The first gives back what it did not use. The second is killed, and what it might have used stays used.
  await first.exchange("one", [{ ...entry, add: none, ahead: none }]);
  assert.equal((await open().read("three"))[0]?.base.calls, 5);

  // A gateway whose clock is behind adds to the later period.
  const later = { ...entry, period: { start: 1000, end: 2000 }, ahead: none };
  assert.equal((await first.exchange("one", [later]))[0]?.base.calls, 2);
  const [behind] = await second.exchange("two", [{ ...entry, ahead: none }]);
  assert.deepEqual([behind?.period.end, behind?.base.calls], [2000, 4]);
  clock.now = 2000;
  assert.deepEqual(await first.exchange("one", []), []);
  assert.equal(existsSync(directory.join("home/guards/budgets.json")), false);
});

test("a damaged file is not read, and not replaced", async () => {
  await using directory = await makeTemporaryDirectory();
  const path = directory.join("home/guards/budgets.json");
  const budgetStore = new BudgetStore(directory.join("home"), { now: () => 1, randomBytes });
  await budgetStore.exchange("one", [entry]);
  const text = readFileSync(path, "utf8");
  for (const damaged of ["", text.replace('"calls":2', '"calls":-2'), text.replace("day", "week")]) {
    writeFileSync(path, damaged);
    await assert.rejects(budgetStore.read("one"), { code: "STORE_UNREADABLE" });
    await assert.rejects(budgetStore.exchange("one", [entry]), { code: "STORE_UNREADABLE" });
    assert.equal(readFileSync(path, "utf8"), damaged);
  }
});

test("a budget of a client with a long name can be read back, as can those of others", async () => {
  await using directory = await makeTemporaryDirectory();
  const budgetStore = new BudgetStore(directory.join("home"), { now: () => 1, randomBytes });
  await budgetStore.exchange("one", [entry, { ...entry, key: "k".repeat(9000) }]);
  assert.deepEqual(
    (await budgetStore.read("two")).map(({ base }) => base.calls),
    [12, 12],
  );
});
