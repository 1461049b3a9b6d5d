/** The calls that a pause stops. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Pause, PauseSet, parsePauseTarget } from "@toolcrib/guards";
import { identityKey, localIdentity } from "@toolcrib/tool";

const operator = localIdentity("cli", "cli");
const ci = localIdentity("token", "ci");
const remote = { issuer: "https://id.example", subject: "u-1", name: "Ann", roles: [] };
const pauseOf = (kind: Pause["kind"], name: string, more: Partial<Pause> = {}): Pause => ({
  kind,
  name,
  pausedBy: operator,
  pausedAt: 0,
  ...more,
});

const calls = {
  issue: { id: "github:issue:1.2", wireName: "github__issue", server: "github", identity: ci },
  uri: {
    id: "files:resources/file:///a/../etc/passwd",
    wireName: "files__resources/file:///a/../etc/passwd",
    server: "files",
    identity: ci,
  },
  local: { id: "math:add", wireName: "math__add", server: undefined, identity: remote },
  owned: { id: "math:sub", wireName: "math__sub", server: undefined, identity: remote, owners: [ci] },
} as const satisfies { readonly [name: string]: Parameters<PauseSet["find"]>[0] };

const cases: readonly [kind: Pause["kind"], name: string, stopped: readonly (keyof typeof calls)[]][] = [
  ["all", "", ["issue", "uri", "local", "owned"]],
  ["server", "github", ["issue"]],
  ["server", "git", []],
  ["server", "math", ["local", "owned"]],
  ["tool", "github:issue", ["issue"]],
  ["tool", "github:issue:1.2", ["issue"]],
  ["tool", "github:issue:1.3", []],
  ["tool", "github__issue", ["issue"]],
  ["tool", "github", []],
  ["tool", "math:*", ["local", "owned"]],
  ["tool", "files:resources/file:///etc/*", ["uri"]],
  ["client", "ci", ["issue", "uri", "owned"]],
  ["client", "Ann", ["local", "owned"]],
  ["client", "u-1", ["local", "owned"]],
  ["client", "ann of marketing", ["local", "owned"]],
  ["client", "toolcrib:token", []],
];

for (const [kind, name, stopped] of cases) {
  test(`a pause of ${kind} "${name}" stops ${stopped.join(", ") || "nothing"}`, () => {
    const keys = (one: string) => (one === "ann of marketing" ? [identityKey(remote)] : []);
    const set = new PauseSet([pauseOf(kind, name)], keys);
    const found = Object.entries(calls).filter(([, call]) => set.find(call, 1) !== undefined);
    assert.deepEqual(
      found.map(([one]) => one),
      stopped,
    );
  });
}

test("a pause stops nothing from its end on, and the widest pause is named", () => {
  const set = new PauseSet([pauseOf("tool", "*"), pauseOf("all", "", { expiresAt: 10 })]);
  assert.equal(set.find(calls.issue, 9)?.kind, "all");
  assert.equal(set.find(calls.issue, 10)?.kind, "tool");
  assert.deepEqual(
    set.current(10).map(({ kind }) => kind),
    ["tool"],
  );
  assert.deepEqual([set.isEmpty, new PauseSet([]).isEmpty], [false, true]);
});

test("parsePauseTarget() says what is wrong", () => {
  const problems: readonly [string, string, RegExp][] = [
    ["disk", "x", /"disk" is none of server, tool, client, all/],
    ["all", "x", /all takes no name/],
    ["client", "", /client needs a name/],
    ["tool", "x".repeat(1025), /more than 1024/],
  ];
  for (const [kind, name, expected] of problems) {
    const parsed = parsePauseTarget(kind, name);
    assert.match("problem" in parsed ? parsed.problem : "", expected);
  }
});
