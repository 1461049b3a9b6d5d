/** Exceptions of the policy engine: the engine is replaced, within limits, and meanwhile everything is denied. */

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import { describe, it, type TestContext } from "node:test";
import { LivePolicies, openOfflinePolicy } from "@toolcrib/cedar";
import { makeTemporaryDirectory, waitUntil, writeFiles } from "@toolcrib/testing";
import { openTestPolicies as open } from "./open-test-policies.ts";
import { callOf } from "./test-call.ts";

type Engine = typeof import("@cedar-policy/cedar-wasm/nodejs");

/** The engine that is used now. */
function engine(): Engine {
  const require = createRequire(import.meta.url);
  return require("@cedar-policy/cedar-wasm/nodejs") as Engine;
}

const text = `permit(principal, action == Action::"call", resource) when {
  context.arguments.hasTag("path") && context.arguments.getTag("path") != principal.name };`;

let calls = 0;

/** A request that differs from all others, so that the engine decides it. */
function request(): ReturnType<typeof callOf> {
  calls += 1;
  return callOf({}, { args: { path: `/home/${calls}` } });
}

/** Calls `use` from every depth of the stack at which it can end, until `isEnough`. */
function atEndOfStack(use: () => void, isEnough: () => boolean): void {
  const deepen = (left: number): void => (left === 0 ? use() : deepen(left - 1));
  let depth = 0;
  const probe = (): void => {
    depth += 1;
    probe();
  };
  assert.throws(probe, RangeError);
  for (let at = Math.floor(depth / 2); at < depth * 2 && !isEnough(); at += 1) {
    try {
      deepen(at);
    } catch (error) {
      assert.ok(error instanceof RangeError);
    }
  }
  assert.ok(isEnough(), "the stack ended within the engine");
}

/** The engine fails once. */
function failOnce(t: TestContext, name: "statefulIsAuthorized" | "preparsePolicySet"): void {
  t.mock.method(engine(), name, () => {
    throw new Error("memory access out of bounds");
  });
}

/** Timers stand still until `t.mock.timers.tick`. Replacements of other tests count no longer. */
function useClock(t: TestContext): void {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.after(() => t.mock.timers.tick(60_000));
}

describe("a policy engine that fails", () => {
  it("is replaced after its stack ended, also where it ended so again and again", async (t) => {
    useClock(t);
    using policies = await open(text);
    for (let round = 0; round < 3; round += 1) {
      const failing = engine();
      const { statefulIsAuthorized } = failing;
      let hasFailed = false;
      t.mock.method(failing, "statefulIsAuthorized", (asked: never) => {
        try {
          return statefulIsAuthorized(asked);
        } catch (error) {
          hasFailed = true;
          throw error;
        }
      });
      atEndOfStack(
        () => policies.decide(request()),
        () => hasFailed,
      );
      assert.equal(policies.decide(request()).kind, "allow");
      assert.notEqual(engine(), failing);
    }
  });

  it("denies the call that it failed at with a code of its own, and decides the next and the same one", async (t) => {
    useClock(t);
    using policies = await open(text);
    const same = request();
    failOnce(t, "statefulIsAuthorized");
    assert.deepEqual(policies.decide(same), {
      kind: "deny",
      code: "POLICY_UNAVAILABLE",
      reason:
        '"ci" may not use "files:read" now: the policy engine failed: memory access out of bounds (policy.files)',
      rule: "policy.files",
      hint: "try again in a minute; the operator sees the state of the engine with toolcrib status",
    });
    assert.equal(policies.decide(request()).kind, "allow");
    assert.equal(policies.decide(same).kind, "allow");
  });

  it("is replaced three times within a minute, and keeps what it decided before", async (t) => {
    useClock(t);
    using policies = await open(text);
    const known = request();
    assert.equal(policies.decide(known).kind, "allow");
    assert.equal(policies.isDown, false);
    for (let failure = 0; failure < 4; failure += 1) {
      failOnce(t, "statefulIsAuthorized");
      assert.equal(policies.decide(request()).kind, "deny");
      if (failure < 3) assert.equal(policies.decide(request()).kind, "allow");
    }
    const denied = policies.decide(request());
    assert.ok(denied.kind === "deny" && denied.code === "POLICY_UNAVAILABLE");
    assert.match(denied.reason, /failed 4 times within a minute, and is not loaded again before/);
    assert.equal(policies.decide(known).kind, "allow");
    assert.equal(policies.isDown, true);
    t.mock.timers.tick(59_999);
    assert.equal(policies.decide(request()).kind, "deny");
    t.mock.timers.tick(1);
    assert.equal(policies.isDown, false);
    assert.equal(policies.decide(request()).kind, "allow");
  });

  it("is replaced again a minute after each replacement, and not after the last one", async (t) => {
    useClock(t);
    using policies = await open(text);
    const decide = () => policies.decide(request()).kind;
    const fail = () => {
      failOnce(t, "statefulIsAuthorized");
      assert.equal(decide(), "deny");
    };
    const isDownFor = (ms: number) => {
      t.mock.timers.tick(ms - 1);
      assert.equal(decide(), "deny");
      t.mock.timers.tick(1);
      assert.equal(decide(), "allow");
    };
    fail();
    assert.equal(decide(), "allow");
    t.mock.timers.tick(20_000);
    for (let failure = 0; failure < 2; failure += 1) {
      fail();
      assert.equal(decide(), "allow");
    }
    fail();
    isDownFor(40_000);
    // One replacement was free, and is used.
    fail();
    isDownFor(20_000);
    fail();
    assert.equal(decide(), "allow");
    fail();
    isDownFor(40_000);
  });

  it("is taken out of use once, and not the one that replaced it, where it fails within a failure", async (t) => {
    useClock(t);
    using policies = await open(text);
    await using live = await LivePolicies.open([{ path: "/main.cedar", name: "main.cedar", text }], {
      policy: { replaceFiles: () => undefined },
      attributesOf: () => ({ roles: [], labels: {} }),
      record: () => undefined,
      logger: { info() {}, warn() {}, error() {} } as never,
      onReplaced: () => undefined,
      checkNames: () => undefined,
    });
    const failures = () => live.status().engine?.count ?? 0;
    const before = failures();
    const failing = engine();
    const inner: string[] = [];
    t.mock.method(failing, "statefulIsAuthorized", () => {
      // A decision while one is being made: the engine of the outer one is out of use already.
      inner.push(policies.decide(request()).kind);
      throw new Error("memory access out of bounds");
    });
    assert.equal(policies.decide(request()).kind, "deny");
    assert.deepEqual(inner, ["allow"]);
    const replacing = engine();
    assert.notEqual(replacing, failing);
    assert.equal(failures(), before + 1);
    assert.equal(policies.decide(request()).kind, "allow");
    assert.equal(engine(), replacing);
  });

  it("is loaded by the next use where it could not be loaded, and is not counted as failed", async (t) => {
    useClock(t);
    using policies = await open(text);
    failOnce(t, "statefulIsAuthorized");
    assert.equal(policies.decide(request()).kind, "deny");
    const reads = t.mock.method(fs, "readFileSync", () => {
      throw new Error("EMFILE: too many open files");
    });
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const denied = policies.decide(request());
      assert.ok(denied.kind === "deny" && denied.code === "POLICY_UNAVAILABLE");
      assert.match(denied.reason, /EMFILE/);
    }
    reads.mock.restore();
    assert.equal(policies.decide(request()).kind, "allow");
  });

  it("does not disturb the end of policies, and others are opened", async (t) => {
    useClock(t);
    const policies = await open(text);
    failOnce(t, "preparsePolicySet");
    assert.doesNotThrow(() => policies[Symbol.dispose]());
    using others = await open(text);
    assert.equal(others.decide(request()).kind, "allow");
    using offline = await openOfflinePolicy({
      allow: undefined,
      ...{ deny: [], switchedOff: [], clients: {}, profiles: {} },
      files: [{ path: "/main.cedar", name: "main.cedar", text }],
    } as unknown as Parameters<typeof openOfflinePolicy>[0]);
    assert.equal(offline.decide(request()).kind, "allow");
  });

  it("is on record and in the status, and what it denied is decided again", async (t) => {
    useClock(t);
    const recorded: unknown[] = [];
    let replaced = 0;
    let notified = 0;
    const silent = () => undefined;
    await using live = await LivePolicies.open([{ path: "/main.cedar", name: "main.cedar", text }], {
      policy: { replaceFiles: () => (replaced += 1) },
      attributesOf: () => ({ roles: [], labels: {} }),
      record: (type, data) => void recorded.push([type, data]),
      logger: { info: silent, warn: silent, error: silent } as never,
      onReplaced: () => (notified += 1),
      checkNames: silent,
    });
    const before = live.status().engine?.count ?? 0;
    const { digest } = live.status();
    failOnce(t, "statefulIsAuthorized");
    assert.equal(live.current.decide(request()).kind, "deny");
    const problem = "memory access out of bounds";
    assert.deepEqual(live.status().engine, { count: before + 1, problem, isDown: false });
    await waitUntil(() => recorded.length > 0);
    assert.deepEqual(recorded, [["policy.failed", { digest, problem }]]);
    assert.deepEqual([replaced, notified], [2, 1]);

    for (let failure = 0; failure < 3; failure += 1) {
      assert.equal(live.current.decide(request()).kind, "allow");
      failOnce(t, "statefulIsAuthorized");
      assert.equal(live.current.decide(request()).kind, "deny");
      await waitUntil(() => recorded.length === failure + 2);
    }
    assert.equal(live.status().engine?.isDown, true);
    const [replacedBefore, notifiedBefore] = [replaced, notified];
    t.mock.timers.tick(60_000);
    assert.equal(live.status().engine?.isDown, false);
    assert.ok(replaced > replacedBefore && notified > notifiedBefore);
    assert.equal(live.current.decide(request()).kind, "allow");
  });

  it("does not keep a changed file out that it could not check", async (t) => {
    useClock(t);
    await using directory = await makeTemporaryDirectory();
    writeFiles(directory.path, { "main.cedar": text });
    const file = { path: directory.join("main.cedar"), name: "main.cedar", text };
    const silent = () => undefined;
    await using live = await LivePolicies.open([file], {
      policy: { replaceFiles: silent },
      attributesOf: () => ({ roles: [], labels: {} }),
      record: silent as never,
      logger: { info: silent, warn: silent, error: silent } as never,
      onReplaced: silent,
      checkNames: silent,
    });
    for (let failure = 0; failure < 4; failure += 1) {
      assert.equal(live.current.decide(request()).kind, "allow");
      failOnce(t, "statefulIsAuthorized");
      assert.equal(live.current.decide(request()).kind, "deny");
    }
    const { digest } = live.status();
    writeFiles(directory.path, { "main.cedar": `${text}\n` });
    await waitUntil(() => live.status().problem !== undefined);
    assert.match(live.status().problem ?? "", /CEDAR_UNAVAILABLE\nThe policy engine failed 4 times/);
    t.mock.timers.tick(60_000);
    await waitUntil(() => live.status().digest !== digest);
    assert.equal(live.status().problem, undefined);
  });
});
