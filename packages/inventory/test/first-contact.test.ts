import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { FirstContact, type RosterEntry } from "@toolcrib/inventory";
import { type Health, localIdentity, type SourceChange, type ToolSource } from "@toolcrib/tool";

/** The behaviour of a source during its first contact, by milliseconds after its start. */
type Course = { readonly [atMs: number]: Partial<Health> };

/** Milliseconds that pass at a time. */
const stepMs = 10;

function sourceOf(id: string, course: Course, startedAt: number): ToolSource {
  const listeners = new Set<(change: SourceChange) => void>();
  let health: Health = { state: "starting", since: startedAt };
  for (const [atMs, change] of Object.entries(course)) {
    setTimeout(
      () => {
        const since = change.state === undefined ? health.since : Date.now();
        health = { ...health, ...change, since };
        for (const listener of listeners) listener({ kind: "health" });
      },
      startedAt + Number(atMs) - Date.now(),
    );
  }
  return {
    id,
    origin: "server",
    start: async () => {},
    tools: () => [],
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    call: () => Promise.reject(new Error("never called")),
    health: () => health,
    async [Symbol.asyncDispose]() {},
  };
}

/** Returns when, in milliseconds after the start, the first list of a client is answered that comes at `clientMs`. */
async function answeredAt(
  courses: { readonly [id: string]: Course },
  {
    clientMs = 0,
    waitMs = 5000,
    serverId,
    reaches = Object.keys(courses),
    hasSession = true,
    clock = () => Date.now(),
  }: {
    readonly clientMs?: number;
    readonly waitMs?: number;
    readonly serverId?: string;
    readonly reaches?: readonly string[];
    readonly hasSession?: boolean;
    readonly clock?: () => number;
  } = {},
): Promise<number> {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  try {
    const startedAt = Date.now();
    const entries = Object.entries(courses).map(([id, course]) => {
      const source = sourceOf(id, course, startedAt);
      return { id, source, facts: { isOwn: false } } as RosterEntry;
    });
    const isReady = (id: string) =>
      entries.some((entry) => entry.id === id && entry.source.health().state === "ready");
    const visibility = {
      mayReach: (_identity: unknown, id: string) => reaches.includes(id),
      isUsable: (_identity: unknown, id: string) => reaches.includes(id) && isReady(id),
    };
    const contact = new FirstContact({ roster: { entries }, visibility, now: clock }, waitMs);
    for (let ms = 0; ms < clientMs; ms += stepMs) mock.timers.tick(stepMs);
    const identity = localIdentity("token", "one");
    const session = hasSession ? {} : undefined;
    const list = () => contact.untilListed({ identity, session }, serverId);
    let isAnswered = false;
    void Promise.resolve(list()).then(() => {
      isAnswered = true;
    });
    for (let ms = clientMs; ; ms += stepMs) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (isAnswered) return ms;
      assert.ok(ms < 100_000, "the list is never answered");
      mock.timers.tick(stepMs);
    }
  } finally {
    mock.timers.reset();
  }
}

const ready: Partial<Health> = { state: "ready" };
const listing: Partial<Health> = { phase: "listing" };
const hanging: Course = {};

test("the first list waits until every source is ready or has failed", async () => {
  assert.equal(await answeredAt({ one: { 100: ready }, two: { 400: ready } }), 400);
  assert.equal(await answeredAt({ one: { 100: ready }, two: { 400: { state: "unavailable" } } }), 400);
  assert.equal(await answeredAt({ one: { 100: ready } }, { clientMs: 300 }), 300);
});

test("the first list waits for a source that hangs for a part of its limit only", async () => {
  const courses = { one: { 100: ready }, two: { 300: ready }, hanging };
  assert.equal(await answeredAt(courses), 1000);
  assert.equal(await answeredAt(courses, { hasSession: false }), 1000);
  assert.equal(await answeredAt(courses, { waitMs: 60_000 }), 12_000);
  assert.equal(await answeredAt(courses, { waitMs: 0 }), 0);
  // The wait counts from the start of the source, and not from the request of the client.
  assert.equal(await answeredAt(courses, { clientMs: 700 }), 1000);
  assert.equal(await answeredAt(courses, { clientMs: 3000 }), 3000);
});

test("a fetch of a package ends the wait as a source that hangs does", async () => {
  const fetching: Course = { 20: { phase: "fetching" }, 9000: { phase: "connecting" } };
  assert.equal(await answeredAt({ one: { 100: ready }, fetching }), 1000);
});

test("on a slow machine, sources get as long again as the others took", async () => {
  assert.equal(await answeredAt({ one: { 1800: ready }, hanging }), 3600);
  assert.equal(await answeredAt({ one: { 1800: ready }, two: { 2900: ready }, hanging }), 5000);
  assert.equal(await answeredAt({ one: { 1800: ready }, two: { 3000: ready } }), 3000);
});

test("a source that answered its handshake is waited for", async () => {
  const course: Course = { 900: listing, 2500: ready };
  assert.equal(await answeredAt({ one: { 100: ready }, slow: course, hanging }), 5000);
  assert.equal(await answeredAt({ one: { 100: ready }, slow: course }), 2500);
  assert.equal(await answeredAt({ one: { 100: ready }, stuck: { 900: listing } }), 5000);
});

test("a list that would be empty waits up to its limit", async () => {
  assert.equal(await answeredAt({ hanging, failed: { 100: { state: "unavailable" } } }), 5000);
  assert.equal(await answeredAt({ late: { 3000: ready }, hanging }), 5000);
  assert.equal(await answeredAt({ one: { 100: ready }, late: { 3000: ready } }, { serverId: "late" }), 3000);
  assert.equal(await answeredAt({ one: { 100: ready }, late: { 3000: ready } }, { reaches: ["late"] }), 3000);
});

test("a source of which the client may use nothing is not waited for", async () => {
  assert.equal(await answeredAt({ one: { 100: ready }, hanging }, { reaches: ["one"] }), 100);
});

test("a clock that is set back during the wait does not make it longer than its limit", async () => {
  const clock = () => Date.now() - (Date.now() < 1_000_500 ? 0 : 3_600_000);
  const courses = { one: { 100: ready }, stuck: { 900: listing } };
  assert.equal(await answeredAt(courses, { clock }), 5000);
});

test("each client waits once", async () => {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  try {
    const source = sourceOf("hanging", hanging, Date.now());
    const entries = [{ id: "hanging", source, facts: { isOwn: false } } as RosterEntry];
    const visibility = { mayReach: () => true, isUsable: () => false };
    const contact = new FirstContact({ roster: { entries }, visibility, now: Date.now }, 5000);
    const client = { identity: localIdentity("token", "one"), session: {} };
    const first = contact.untilListed(client);
    assert.equal(contact.untilListed(client), first);
    mock.timers.tick(5000);
    await first;
    await contact.untilListed(client);
    const other = contact.untilListed({ ...client, session: {} });
    assert.ok(other !== undefined && other !== first);
  } finally {
    mock.timers.reset();
  }
});
