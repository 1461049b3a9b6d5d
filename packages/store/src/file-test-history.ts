/**
 * Results of tests as files of one home: `test-history/<toolId>.json`, and the holds in
 * `test-history/holds.json`, a name that no toolId gives. Bounded in runs, tests and bytes.
 */

import { join } from "node:path";
import type { FileSteps } from "@toolcrib/files";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { ChangeQueue } from "./change-queue.ts";
import { createHome, type HomeLayout, toHomeLayout } from "./home-layout.ts";
import { lockHome } from "./home-lock.ts";
import { full, RecordFile } from "./record-file.ts";
import { StoreError } from "./store-error.ts";
import type { BehaviourHold, TestHistory, TestRecord, TestRun } from "./test-history.ts";

/** Runs of one package. */
const runsMaxCount = 50;
/** Tests of one run: as many as a package can have. */
const testsMaxCount = 400;
const failuresMaxCount = 3;
const holdsMaxCount = 2000;
const fileMaxBytes = 32 * 1024 * 1024;
const textMaxLength = 1000;
const toolIdForm = /^[a-z0-9][a-z0-9_]*(?:\.[a-z0-9][a-z0-9_]*)+$/;
const toolIdMaxLength = 200;

/** Dependencies of the history. */
export interface TestHistoryDeps {
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** The steps of a change. @default Node's file system */
  readonly steps?: FileSteps;
}

/** Opens the history of a home. Creates nothing before the first run. */
export function createTestHistory(home: string, deps: TestHistoryDeps): TestHistory {
  return new FileTestHistory(home, deps);
}

class FileTestHistory implements TestHistory {
  readonly #layout: HomeLayout;
  readonly #deps: TestHistoryDeps;
  readonly #holds: RecordFile<BehaviourHold>;
  readonly #changes = new ChangeQueue();

  constructor(home: string, deps: TestHistoryDeps) {
    this.#layout = toHomeLayout(home);
    this.#deps = deps;
    this.#holds = this.#file<BehaviourHold>("holds.json", ({ toolId }) => toolId, parseHold, {
      hint: "restore the file from a backup, or remove it: no package is held back then",
    });
  }

  async add(run: TestRun): Promise<void> {
    const stored = parseRun(toBounded(run) as unknown as JsonObject);
    if (stored === undefined) {
      throw new StoreError(
        "STORE_RECORD_TOO_LARGE",
        `Cannot store a run of the tests of "${run.toolId.slice(0, 100)}"`,
      );
    }
    await this.#changes.run(() =>
      this.#runs(run.toolId).change((records) => {
        records.set(keyOf(stored, records.size), stored);
        for (const key of keysToDrop(records)) records.delete(key);
      }),
    );
  }

  async list(toolId: string): Promise<readonly TestRun[]> {
    return [...(await this.#runs(toolId).read()).values()];
  }

  hold(hold: BehaviourHold): Promise<void> {
    const stored = { ...hold, reason: hold.reason.slice(0, textMaxLength) };
    return this.#changes.run(() =>
      this.#holds.change((records) => {
        records.set(stored.toolId, stored);
        if (records.size > holdsMaxCount) throw full(this.#pathOf("holds.json"), `${holdsMaxCount} packages`);
      }),
    );
  }

  holds(): Promise<ReadonlyMap<string, BehaviourHold>> {
    return this.#holds.read();
  }

  release(toolId: string): Promise<boolean> {
    return this.#changes.run(() => this.#holds.change((records) => records.delete(toolId)));
  }

  async takeSchedule(): Promise<Disposable | undefined> {
    await createHome(this.#layout);
    return lockHome(this.#layout, "test-schedule", "exclusive");
  }

  #pathOf(name: string): string {
    return join(this.#layout.testHistoryDirectory, name);
  }

  #runs(toolId: string): RecordFile<TestRun> {
    const isValid: boolean = isToolId(toolId);
    if (!isValid) throw new StoreError("STORE_RECORD_TOO_LARGE", `"${toolId.slice(0, 100)}" is no toolId`);
    let count = 0;
    return this.#file<TestRun>(`${toolId}.json`, (run) => keyOf(run, count++), parseRun, {
      hint: "remove the file: the history of this package then begins anew",
    });
  }

  #file<T>(
    name: string,
    keyOfRecord: (record: T) => string,
    parse: (value: JsonObject) => T | undefined,
    { hint }: { readonly hint: string },
  ): RecordFile<T> {
    const { randomBytes, steps } = this.#deps;
    return new RecordFile(
      { layout: this.#layout, randomBytes, steps },
      {
        path: this.#pathOf(name),
        lockName: "test-history",
        maxBytes: fileMaxBytes,
        keyOf: keyOfRecord,
        parse,
        hint,
        removesEmpty: true,
      },
    );
  }
}

/** Two runs can begin in the same millisecond. */
function keyOf({ at }: TestRun, index: number): string {
  return `${at} ${index}`;
}

/**
 * Returns the keys of the oldest runs beyond the limit. Runs with the last result of a test that the schedule has
 * are dropped last: an outage of any length, or many runs of the command, must not end what later
 * results are compared with.
 */
function keysToDrop(records: ReadonlyMap<string, TestRun>): readonly string[] {
  const compared = new Set<string>();
  const seen = new Set<string>();
  const scheduled = [...records].filter(([, { by }]) => by === "schedule").toReversed();
  const digest = scheduled[0]?.[1].digest;
  for (const [key, run] of scheduled) {
    if (run.digest !== digest) continue;
    for (const { path, outcome } of run.tests) {
      if (outcome === "error" || seen.has(path)) continue;
      seen.add(path);
      compared.add(key);
    }
  }
  const keys = [...records.keys()];
  const order = [...keys.filter((key) => !compared.has(key)), ...keys.filter((key) => compared.has(key))];
  return order.slice(0, Math.max(0, keys.length - runsMaxCount));
}

function toBounded(run: TestRun): TestRun {
  const tests = run.tests.slice(0, testsMaxCount).map(({ failures, ...test }) => ({
    ...test,
    ...(failures === undefined || failures.length === 0
      ? {}
      : { failures: failures.slice(0, failuresMaxCount).map((text) => text.slice(0, textMaxLength)) }),
  }));
  return { ...run, tests };
}

function parseRun(value: JsonObject): TestRun | undefined {
  const { toolId, version, digest, at, by, durationMs, tests, implementation } = value;
  if (!isToolId(toolId) || !isText(version) || !isText(digest) || !isText(at)) return undefined;
  if ((by !== "command" && by !== "schedule") || typeof durationMs !== "number") return undefined;
  if (implementation !== undefined && !isText(implementation)) return undefined;
  if (!Array.isArray(tests) || tests.length > testsMaxCount) return undefined;
  const records = (tests as readonly JsonValue[]).map((test) =>
    isJsonObject(test) ? parseTest(test) : undefined,
  );
  if (records.includes(undefined)) return undefined;
  return {
    toolId,
    version,
    digest,
    at,
    by,
    ...(implementation === undefined ? {} : { implementation }),
    durationMs,
    tests: records as readonly TestRecord[],
  };
}

function parseTest({ path, outcome, latencyMs, shape, failures }: JsonObject): TestRecord | undefined {
  if (!isText(path) || typeof latencyMs !== "number") return undefined;
  if (outcome !== "passed" && outcome !== "failed" && outcome !== "error") return undefined;
  if (shape !== undefined && !isText(shape)) return undefined;
  if (failures !== undefined && !(Array.isArray(failures) && failures.length <= failuresMaxCount))
    return undefined;
  if (failures?.some((text) => !isText(text)) === true) return undefined;
  return {
    path,
    outcome,
    latencyMs,
    ...(shape === undefined ? {} : { shape }),
    ...(failures === undefined ? {} : { failures: failures as unknown as readonly string[] }),
  };
}

function parseHold({ toolId, digest, reason, since }: JsonObject): BehaviourHold | undefined {
  if (!isToolId(toolId) || !isText(digest) || !isText(reason) || !isText(since)) return undefined;
  return { toolId, digest, reason, since };
}

function isToolId(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value.length <= toolIdMaxLength && toolIdForm.test(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= textMaxLength;
}
