/** The table of the benchmark about governance. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePolicies } from "@toolcrib/cedar";
import { governanceTable, verdictOn } from "../../bench/governance.ts";
import { partsOf, policyCount, policyText } from "../../bench/governance-parts.ts";
import type { Turn } from "../../bench/load.ts";

const gateways = [
  "command, all governed",
  "command, least governed",
  "policy+pins+audit",
  "the same, a policy reads the argument",
  "policy",
  "pins",
  "audit",
  "none",
  "ungoverned",
];

function turn(p50Ms: number, cpuMs: number | undefined): Turn {
  return { calls: 1000, seconds: 1, p50Ms, p99Ms: p50Ms, cpuMs, indexCpuMs: 0, clientCpuMs: 1 };
}

/** Rounds of a machine that is ten times slower in the last one. @param added by all parts, in ms of p50 and of CPU time of a call */
function roundsWith(added: readonly [number, number]): ReadonlyMap<string, readonly Turn[]> {
  const [p50Ms, cpuMs] = added;
  return new Map(
    gateways.map((name) => {
      const isGoverned = name.startsWith("policy+") || name.startsWith("the same");
      const more = isGoverned ? 1 : 0;
      const one = (slow: number) => turn(slow * (0.3 + more * p50Ms), slow * 1000 * (0.2 + more * cpuMs));
      return [name, [one(1), one(1), one(10)]];
    }),
  );
}

function rowOf(rounds: ReadonlyMap<string, readonly Turn[]>, what: string): readonly string[] | undefined {
  return governanceTable(rounds, 1).rows.find(([first]) => first === what);
}

test("a difference is the median of the differences within the rounds", () => {
  const row = rowOf(roundsWith([0.1, 0.02]), "policy, pins, audit chain: added");
  assert.deepEqual(row, [
    "policy, pins, audit chain: added",
    "+0.100",
    "+0.020",
    "0.000",
    "0.15 and 0.03",
    "met",
  ]);
  const none = rowOf(roundsWith([0.1, 0.02]), "pins alone: added");
  assert.deepEqual(none, ["pins alone: added", "0.000", "0.000", "0.000", "", ""]);
});

test("a row says which goal is missed, and by how much", () => {
  const row = rowOf(roundsWith([0.2, 0.05]), "the same, a policy reads the argument: added");
  assert.equal(row?.at(-1), "missed: p50 by 0.050, CPU by 0.020");
  assert.equal(verdictOn(0.2, 0.01), "missed: p50 by 0.050");
  assert.equal(verdictOn(0.15, 0.031), "missed: CPU by 0.001");
});

test("p50 has no goal where calls wait for each other", () => {
  const rounds = roundsWith([0.2, 0.05]);
  const crowd = governanceTable(rounds, 32).rows.find(
    ([first]) => first === "policy, pins, audit chain: added",
  );
  assert.deepEqual(crowd?.slice(-2), ["CPU 0.03", "missed: CPU by 0.020"]);
});

test("the index of the trail is not part of a call", () => {
  const rounds = new Map(roundsWith([0.1, 0.02]));
  const indexed = (name: string) =>
    rounds.get(name)?.map((each) => ({ ...each, cpuMs: each.cpuMs! + 50, indexCpuMs: 50 })) ?? [];
  rounds.set("policy+pins+audit", indexed("policy+pins+audit"));
  const row = rowOf(rounds, "policy, pins, audit chain: added");
  assert.deepEqual(row?.slice(1), ["+0.100", "+0.020", "+0.050", "0.15 and 0.03", "met"]);
});

test("what the system does not count is not a met goal, and a gateway without rounds is an error", () => {
  assert.equal(verdictOn(0.1, Number.NaN), "not measured");
  const rounds = new Map(roundsWith([0.1, 0.02]));
  rounds.delete("none");
  assert.throws(() => governanceTable(rounds, 1), /"none" was not measured/);
  rounds.set("none", [turn(1, 1)]);
  assert.throws(() => governanceTable(rounds, 1), /not pairs/);
});

test("both files have twenty valid policies, and parts are known by their names", async () => {
  for (const kind of ["shared", "argument"] as const) {
    const { value, diagnostics } = await parsePolicies([{ name: "team.cedar", text: policyText(kind) }]);
    assert.deepEqual(diagnostics, []);
    assert.equal(value?.policies.length, policyCount);
  }
  assert.equal(policyCount, 20);
  assert.deepEqual(partsOf("policy+audit"), new Set(["policy", "audit"]));
  assert.deepEqual(partsOf("none"), new Set());
  assert.throws(
    () => partsOf("policy+pin"),
    /"pin" is no part of governance; allowed are policy, pins, audit/,
  );
});
