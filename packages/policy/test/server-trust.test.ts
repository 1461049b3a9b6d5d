/**
 * Calls that are judged by the trust in a server: every combination of trust state, mutability class, containment,
 * transport and annotations against an independent table, which states for each cell what must happen.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  believe,
  believedAnnotations,
  findViolations,
  type JudgedPart,
  type MutabilityClass,
  type ServerTrust,
  type ToolClaims,
  type TrustState,
  trustRules,
} from "@toolcrib/policy";

type TrustRule = (typeof trustRules)[number];

const trustStates: readonly TrustState[] = ["unverified", "verified", "certified"];
const mutabilityClasses: readonly MutabilityClass[] = ["read_only", "write", "unknown"];
const transports = ["stdio", "sse", "streamable_http"] as const;
const denials: readonly (readonly JudgedPart[])[] = [
  [],
  ["network_egress"],
  ["filesystem_write"],
  ["network_egress", "filesystem_write"],
];
const hints = [undefined, true, false];

/**
 * The table, written from the words of the documents. Columns: the read-only and the destructive hint as `-` (absent),
 * `t`, `f`; in each cell of a trust state with `filesystem_write: deny` and class `unknown` or `write`:
 * `B` blocked, `R` recorded, `.` neither.
 */
const writes: { readonly [Trust in TrustState]: string } = {
  //            --  -t  -f  t-  tt  tf  f-  ft  ff
  unverified: "  B   B   B   B   B   B   B   B   B ",
  verified: "    .   B   .   .   B   .   B   B   B ",
  certified: "   .   R   .   .   R   .   R   R   R ",
};
/** The same for `network_egress: deny`, by the open-world hint: absent, true, false. */
const reaches: { readonly [Trust in TrustState]: string } = {
  unverified: " B B B ",
  verified: "   . B . ",
  certified: "  . R . ",
};
/** Tools that contradict `mutability_class: read_only`, in the columns of `writes`. */
const contradicts = " .   B   .   .   B   .   B   B   B ";

function cell(row: string, column: number): string {
  return row.trim().split(/ +/)[column] as string;
}

/** Returns the expected events in order, each with its effect. */
function expected(server: ServerTrust, claims: ToolClaims): string[] {
  const { trustState, mutabilityClass, transport, denied } = server;
  const column = hints.indexOf(claims.readOnlyHint) * 3 + hints.indexOf(claims.destructiveHint);
  const found: string[] = [];
  const isReadOnly = mutabilityClass === "read_only";
  const isContradicted = cell(contradicts, column) === "B";
  if (isReadOnly && isContradicted) found.push("mutability.violation B");
  if (transport === "stdio") return found;
  if (denied.includes("network_egress")) {
    const effect = cell(reaches[trustState], hints.indexOf(claims.openWorldHint));
    if (effect !== ".") found.push(`containment.violation ${effect}`);
  }
  if (denied.includes("filesystem_write")) {
    // The operator's declaration, uncontradicted, makes a tool read-only in every trust state.
    const effect = isReadOnly && !isContradicted ? "." : cell(writes[trustState], column);
    if (effect !== ".") found.push(`containment.violation ${effect}`);
  }
  return found;
}

/** Every server with every tool. */
function* combinations(): Generator<readonly [ServerTrust, ToolClaims]> {
  for (const trustState of trustStates)
    for (const mutabilityClass of mutabilityClasses)
      for (const transport of transports)
        for (const denied of denials)
          for (const readOnlyHint of hints)
            for (const destructiveHint of hints)
              for (const openWorldHint of hints) {
                const claims = { readOnlyHint, destructiveHint, openWorldHint };
                const given = Object.entries(claims).filter(([, value]) => value !== undefined);
                yield [{ trustState, mutabilityClass, transport, denied }, Object.fromEntries(given)];
              }
}

function actual(server: ServerTrust, claims: ToolClaims, rules?: readonly TrustRule[]): string[] {
  return findViolations(server, claims, rules).map(
    ({ rule }) => `${rule.event} ${rule.effect === "block" ? "B" : "R"}`,
  );
}

test("every combination of trust, class, containment, transport and annotations is judged by the table", () => {
  let count = 0;
  for (const [server, claims] of combinations()) {
    assert.deepEqual(actual(server, claims), expected(server, claims), JSON.stringify({ server, claims }));
    count++;
  }
  assert.equal(count, 3 * 3 * 3 * 4 * 27);
});

test("a change of any rule shows: without it, with the other effect, or for another trust state or class", () => {
  const differs = (rules: readonly TrustRule[]) =>
    [...combinations()].some(
      ([server, claims]) => `${actual(server, claims, rules)}` !== `${expected(server, claims)}`,
    );
  assert.equal(differs(trustRules), false);
  const conditions: readonly TrustRule["tool"][] = ["writes", "reachesOut", "mayWrite", "mayReachOut"];
  for (const [at, rule] of trustRules.entries()) {
    const { trustState: _trust, mutabilityClass: _class, denied: _denied, ...bare } = rule;
    const mutants: readonly TrustRule[] = [
      { ...rule, effect: rule.effect === "block" ? "record" : "block" },
      ...trustStates.filter((one) => one !== rule.trustState).map((trustState) => ({ ...rule, trustState })),
      ...conditions
        .filter((one) => one !== rule.tool)
        // A read_only server's tools are read-only unless they declare that they write: these two mean the same.
        .filter((one) => rule.mutabilityClass === undefined || one !== "mayWrite")
        .map((tool) => ({ ...rule, tool })),
      { ...bare, ...(rule.denied === undefined ? {} : { denied: rule.denied }) },
      { ...rule, denied: rule.denied === "network_egress" ? "filesystem_write" : "network_egress" },
    ];
    assert.equal(differs(trustRules.toSpliced(at, 1)), true, `without ${rule.id}`);
    for (const mutant of mutants) {
      assert.equal(differs(trustRules.with(at, mutant)), true, JSON.stringify(mutant));
    }
  }
});

test("a reason says what the tool declares, or that it is not believed", () => {
  const server = { mutabilityClass: "read_only", transport: "sse", denied: denials[3] ?? [] } as const;
  const reasonsOf = (trustState: TrustState, claims: ToolClaims) =>
    findViolations({ ...server, trustState }, claims).map(({ reason }) => reason);
  assert.deepEqual(reasonsOf("unverified", { readOnlyHint: true, openWorldHint: false }), [
    "it can reach other systems: its annotations are not believed",
  ]);
  assert.deepEqual(reasonsOf("verified", { destructiveHint: true, openWorldHint: true }), [
    "it declares destructiveHint: true",
    "it declares openWorldHint: true",
    "it declares destructiveHint: true",
  ]);
});

test("annotations are shown as they are believed: never safer, and as declared where nothing is in doubt", () => {
  const defaults = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
  let changed = 0;
  for (const [server, claims] of combinations()) {
    const title = "Reads";
    for (const idempotentHint of hints) {
      const declared = { title, ...claims, ...(idempotentHint === undefined ? {} : { idempotentHint }) };
      const shown = believedAnnotations(server, declared) ?? assert.fail();
      const what = JSON.stringify({ server, declared, shown });
      const meant = { ...defaults, ...shown };
      const { isReadOnly, isClosedWorld } = believe(server, claims);
      assert.equal(meant.readOnlyHint, isReadOnly, what);
      assert.equal(meant.openWorldHint, !isClosedWorld, what);
      // What policies decide by is what clients are shown.
      const { isDestructive, isIdempotent } = believe(server, declared);
      assert.equal(isDestructive, !isReadOnly && meant.destructiveHint, what);
      assert.equal(isIdempotent, isReadOnly || meant.idempotentHint, what);
      if (!isReadOnly && (server.trustState === "unverified" || server.mutabilityClass === "write")) {
        assert.deepEqual([meant.destructiveHint, meant.idempotentHint], [true, false], what);
      } else {
        assert.deepEqual(
          [shown.destructiveHint, shown.idempotentHint],
          [claims.destructiveHint, idempotentHint],
        );
      }
      assert.equal(shown.title, title);
      if (shown !== declared) changed += 1;
      assert.deepEqual(believedAnnotations(server, shown), shown, `shown again: ${what}`);
    }
  }
  assert.ok(changed > 0);
  const server = { mutabilityClass: "unknown", transport: "stdio", denied: [] } as const;
  const safe = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
  assert.equal(believedAnnotations({ ...server, trustState: "verified" }, safe), safe);
  assert.equal(believedAnnotations({ ...server, trustState: "unverified" }, undefined), undefined);
});
