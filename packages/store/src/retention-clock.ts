/**
 * The age of finished segments, measured so that a jump of the clock ages nothing
 * by more than one day: between two observations, at most `stepMaxMs` count. Time
 * during which no process of the home runs counts at most one step, too. The state
 * is in `audit-retention.json` of the home; the caller holds the lock of pruning.
 *
 * It never makes a segment older than it is: without a readable state, the age of
 * every segment starts at zero.
 */

import { replaceFile } from "@toolcrib/files";
import { isJsonObject, type JsonObject, parseJson } from "@toolcrib/json";
import { readHomeFile } from "./home-file.ts";

/** Maximum number of milliseconds that count between two observations. */
const stepMaxMs = 24 * 60 * 60 * 1000;
/** Milliseconds that must have passed before the state is written again for its time alone. */
const writeIntervalMs = 60 * 60 * 1000;
/** Some 100,000 segments. */
const stateMaxBytes = 8 * 1024 * 1024;

/** The ages of the finished segments of a home. */
export class RetentionClock {
  readonly #path: string;
  readonly #now: number;
  readonly #agedMs: number;
  readonly #since = new Map<string, number>();
  #isChanged: boolean;

  /** Reads the state at `path` and observes the time `now` and the finished segments `names`. */
  constructor(path: string, now: number, names: readonly string[]) {
    this.#path = path;
    this.#now = now;
    const state = readState(this.#path);
    const observed = numberOf(state["observedMs"]) ?? now;
    const step = Math.min(Math.max(0, now - observed), stepMaxMs);
    this.#agedMs = (numberOf(state["agedMs"]) ?? 0) + step;
    this.#isChanged = Math.abs(now - observed) >= writeIntervalMs;
    const known = isJsonObject(state["since"]) ? state["since"] : {};
    for (const name of names) {
      const since = Object.hasOwn(known, name) ? numberOf(known[name]) : undefined;
      if (since === undefined) this.#isChanged = true;
      this.#since.set(name, Math.min(since ?? this.#agedMs, this.#agedMs));
    }
  }

  /** Milliseconds since the segment `name` was first seen finished. */
  ageOf(name: string): number {
    return this.#agedMs - (this.#since.get(name) ?? this.#agedMs);
  }

  /** Forgets a segment that was deleted. */
  delete(name: string): void {
    this.#isChanged = this.#since.delete(name) || this.#isChanged;
  }

  /** Writes the state if it changed. @throws {FilesError} `FILE_UNWRITABLE`, `FILE_NOT_DURABLE` */
  async save(): Promise<void> {
    if (!this.#isChanged) return;
    const state = { observedMs: this.#now, agedMs: this.#agedMs, since: Object.fromEntries(this.#since) };
    // The lock of pruning excludes other drafts, so the name only needs to differ from one that a crash left.
    const draft = `${[...this.#now.toString(36)].reverse().join("")}${process.pid}`;
    await replaceFile(
      { randomBytes: (count) => Buffer.alloc(count, draft) },
      this.#path,
      JSON.stringify(state),
    );
  }
}

function readState(path: string): JsonObject {
  try {
    const value = parseJson(readHomeFile(path, stateMaxBytes) ?? "{}");
    return isJsonObject(value) ? value : {};
  } catch {
    // It is missing or damaged.
    return {};
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}
