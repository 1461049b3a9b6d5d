/** The kill switch by the public names of the package: what is refused, what is cancelled, and what others read. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { Pauses } from "@toolcrib/admission";
import { createPauseStore } from "@toolcrib/store";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { identityKey } from "@toolcrib/tool";
import { callOf, guardsOf, operator } from "./guard-harness.ts";

const by = { issuer: operator.issuer, subject: operator.subject, name: operator.name };

describe("Pauses", () => {
  test("refuses every call before the pauses were read, and none of a home without pauses", async () => {
    await using directory = await makeTemporaryDirectory();
    const { pauses } = guardsOf(directory.path, { ms: 0 });
    const { target, origin } = callOf("ci");
    assert.equal(pauses.refusal(target, origin)?.error.code, "PAUSES_UNREADABLE");
    await pauses.refresh();
    assert.equal(pauses.refusal(target, origin), undefined);
    assert.deepEqual(pauses.facts(), { pauses: [] });
  });

  test("says what to do where it is not known what is paused", async () => {
    await using directory = await makeTemporaryDirectory();
    const { pauses } = guardsOf(directory.path, { ms: 0 });
    const { target, origin } = callOf("ci");
    const refused = () => pauses.refusal(target, origin)?.error;
    assert.equal(
      refused()?.message,
      '"notes__write" was not called: what the operator paused is not known yet',
    );
    assert.equal(refused()?.hint, "try again");
    mkdirSync(directory.join("guards"), { recursive: true });
    writeFileSync(directory.join("guards/pauses.json"), "{", { mode: 0o600 });
    await pauses.refresh();
    assert.equal(
      refused()?.message,
      '"notes__write" was not called: what the operator paused cannot be read',
    );
    assert.equal(refused()?.hint, "the operator sees the reason with toolcrib status");
  });

  test("names the command that resumes exactly what was paused", async () => {
    for (const [kind, name, words] of [
      ["all", "", "all"],
      ["server", "notes", "server notes"],
      ["tool", "notes__w*", "tool 'notes__w*'"],
      ["client", "it's", "client 'it'\\''s'"],
    ] as const) {
      await using directory = await makeTemporaryDirectory();
      const { pauses, events } = guardsOf(directory.path, { ms: 0 });
      await pauses.pause({ kind, name, reason: "" }, operator);
      const { target, origin } = callOf("it's");
      const { message, hint } = pauses.refusal(target, origin)?.error ?? assert.fail(name);
      assert.equal(hint, `the operator can resume it: toolcrib resume ${words}`);
      // An empty reason is none.
      assert.match(message, / is paused$/);
      assert.deepEqual(events.logged, ["calls are paused"]);
    }
  });

  test("refuses what is paused and nothing else, for each kind of pause", async () => {
    const rows: readonly [kind: string, name: string, refused: readonly string[]][] = [
      ["tool", "notes:write", ["ci write", "dev write"]],
      ["tool", "notes__w*", ["ci write", "dev write"]],
      ["server", "notes", ["ci write", "ci read", "dev write"]],
      ["client", "ci", ["ci write", "ci read"]],
      ["all", "", ["ci write", "ci read", "dev write"]],
      ["server", "other", []],
    ];
    for (const [kind, name, refused] of rows) {
      await using directory = await makeTemporaryDirectory();
      const { pauses } = guardsOf(directory.path, { ms: 0 });
      await pauses.pause({ kind, name }, operator);
      const found = [
        ["ci", "write"],
        ["ci", "read"],
        ["dev", "write"],
      ].flatMap(([client = "", tool = ""]) => {
        const { target, origin } = callOf(client, tool);
        const refusal = pauses.refusal(target, origin);
        if (refusal === undefined) return [];
        assert.equal(refusal.error.code, "CALL_PAUSED");
        assert.equal(refusal.rule, name === "" ? "pause.all" : `pause.${kind} ${name}`);
        return [`${client} ${tool}`];
      });
      assert.deepEqual(found, refused, `${kind} ${name}`);
    }
  });

  test("pauses and resumes although the trail takes no record, and logs each", async () => {
    await using directory = await makeTemporaryDirectory();
    const { pauses, events } = guardsOf(directory.path, { ms: 0 });
    const { target, origin } = callOf("ci");
    events.isClosed = true;
    await pauses.pause({ kind: "all", name: "" }, operator);
    assert.equal(pauses.refusal(target, origin)?.error.code, "CALL_PAUSED");
    assert.equal(await pauses.resume({ kind: "all", name: "" }, operator), true);
    const line = "audit record could not be written";
    assert.deepEqual(
      events.logged.filter((message) => message === line),
      [line, line],
    );
  });

  test("cancels the calls in flight that a pause is about, and counts them", async () => {
    await using directory = await makeTemporaryDirectory();
    const { pauses, events } = guardsOf(directory.path, { ms: 5000 });
    await pauses.refresh();
    const cancelled: string[] = [];
    const enter = (client: string, tool: string): (() => void) => {
      const { target, origin } = callOf(client, tool);
      return pauses.enter(target, origin, ({ code, message }) => {
        cancelled.push(`${client} ${tool} ${code}`);
        assert.match(message, /was cancelled: tool "notes:write" is paused \(runaway\)/);
      });
    };
    enter("ci", "write");
    enter("ci", "read");
    const leave = enter("dev", "write");
    leave();
    const request = { kind: "tool", name: "notes:write", reason: "runaway" };
    const { pause, cancelledCalls } = await pauses.pause(request, operator);
    assert.deepEqual(cancelled, ["ci write CALL_PAUSED"]);
    assert.equal(cancelledCalls, 1);
    assert.deepEqual(pause, { ...request, since: "1970-01-01T00:00:05.000Z" });
    assert.deepEqual(events.recorded, [
      { type: "guard.paused", data: { ...request, by, cancelledCalls: 1 } },
    ]);
    assert.throws(() => enter("ci", "write"), { code: "CALL_PAUSED" });
    assert.equal(await pauses.resume(request, operator), true);
    assert.equal(await pauses.resume(request, operator), false);
    enter("ci", "write")();
    const { reason: _reason, ...resumed } = request;
    assert.deepEqual(events.recorded.slice(1), [{ type: "guard.resumed", data: { ...resumed, by } }]);
  });

  test("cancels an outer call, whose end ends its inner calls, once", async () => {
    await using directory = await makeTemporaryDirectory();
    const { pauses, events } = guardsOf(directory.path, { ms: 0 });
    await pauses.refresh();
    const { target, origin } = callOf("ci");
    const cancelled: string[] = [];
    const leaves: (() => void)[] = [];
    const enter = (call: string) =>
      pauses.enter(target, origin, () => {
        cancelled.push(call);
        for (const leave of leaves.splice(0)) leave();
      });
    enter("outer");
    leaves.push(enter("inner"));
    const { cancelledCalls } = await pauses.pause({ kind: "all", name: "" }, operator);
    assert.deepEqual([cancelled, cancelledCalls], [["outer"], 1]);
    assert.deepEqual(events.recorded, [
      { type: "guard.paused", data: { kind: "all", by, cancelledCalls: 1 } },
    ]);
  });

  test("stops the clients that the configuration gives a paused name, from a change of it on", async () => {
    await using directory = await makeTemporaryDirectory();
    const { target, origin } = callOf("ci");
    const named = new Map<string, string>();
    await using store = createPauseStore(directory.path, { randomBytes });
    const pauses = new Pauses({
      store,
      audit: { record() {} },
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      now: () => 0,
      resumeCommand: "toolcrib resume",
      clientKeys: (name) => [...named].flatMap(([given, key]) => (given === name ? [key] : [])),
    });
    pauses.reconsider();
    assert.equal(pauses.refusal(target, origin)?.error.code, "PAUSES_UNREADABLE");
    await pauses.pause({ kind: "client", name: "build" }, operator);
    assert.equal(pauses.refusal(target, origin), undefined);
    const cancelled: string[] = [];
    pauses.enter(target, origin, ({ code }) => cancelled.push(code));
    named.set("build", identityKey(origin.identity));
    pauses.reconsider();
    assert.equal(pauses.refusal(target, origin)?.error.code, "CALL_PAUSED");
    assert.deepEqual(cancelled, ["CALL_PAUSED"]);
  });

  test("ends a pause at its time, and hides from a client who else is paused", async () => {
    await using directory = await makeTemporaryDirectory();
    const clock = { ms: 0 };
    const { pauses, events } = guardsOf(directory.path, clock);
    await pauses.pause({ kind: "client", name: "owner", forMs: 60_000 }, operator);
    const until = "1970-01-01T00:01:00.000Z";
    assert.deepEqual(
      events.recorded.map(({ data }) => (data as { until?: string }).until),
      [until],
    );
    const { target, origin } = callOf("ci");
    assert.equal(pauses.refusal(target, origin), undefined);
    const owned = { ...origin, owners: [callOf("owner").origin.identity] };
    const { error } = pauses.refusal(target, owned) ?? {};
    assert.equal(
      error?.message,
      '"notes__write" was not called: the owner of a saved tool around this call is paused until 1970-01-01T00:01:00.000Z',
    );
    assert.doesNotMatch(`${error.message} ${error.hint}`, /client/);
    assert.deepEqual(error.data, { until });
    clock.ms = 60_000;
    assert.equal(pauses.refusal(target, owned), undefined);
  });

  test("hold for every gateway of a home, and a file that cannot be read refuses every call", async () => {
    await using directory = await makeTemporaryDirectory();
    const first = guardsOf(directory.path, { ms: 0 });
    const second = guardsOf(directory.path, { ms: 0 });
    const { target, origin } = callOf("ci");
    await second.pauses.refresh();
    await first.pauses.pause({ kind: "all", name: "" }, operator);
    assert.equal(second.pauses.refusal(target, origin), undefined);
    const stop = second.pauses.watch();
    await waitUntil(() => second.pauses.refusal(target, origin) !== undefined);
    await stop();
    assert.equal(second.pauses.refusal(target, origin)?.error.code, "CALL_PAUSED");
    mkdirSync(directory.join("guards"), { recursive: true });
    writeFileSync(directory.join("guards/pauses.json"), "{", { mode: 0o600 });
    await second.pauses.refresh();
    assert.equal(second.pauses.refusal(target, origin)?.error.code, "PAUSES_UNREADABLE");
    assert.notEqual(second.pauses.facts().pausesProblem, undefined);
    assert.deepEqual(second.events.logged.at(-1), "every call is refused: it is not known what is paused");
  });

  test("pauses nothing and refuses no call without a home", async () => {
    const { pauses } = guardsOf(undefined, { ms: 0 });
    const { target, origin } = callOf("ci");
    await pauses.refresh();
    const stop = pauses.watch();
    await assert.rejects(pauses.pause({ kind: "all", name: "" }, operator), { code: "PAUSE_INVALID" });
    assert.equal(pauses.refusal(target, origin), undefined);
    pauses.enter(target, origin, () => assert.fail())();
    assert.deepEqual(pauses.facts(), { pauses: [] });
    await stop();
  });

  test("refuses requests that name nothing", async () => {
    await using directory = await makeTemporaryDirectory();
    const { pauses } = guardsOf(directory.path, { ms: 0 });
    for (const request of [
      { kind: "planet", name: "x" },
      { kind: "all", name: "x" },
      { kind: "tool", name: " " },
      { kind: "tool", name: "x", forMs: 999 },
      { kind: "tool", name: "x", forMs: Number.NaN },
      { kind: "tool", name: "x", forMs: 400 * 24 * 3_600_000 },
    ]) {
      await assert.rejects(
        pauses.pause(request, operator),
        { code: "PAUSE_INVALID" },
        JSON.stringify(request),
      );
    }
    assert.deepEqual(pauses.facts().pauses, []);
  });
});
