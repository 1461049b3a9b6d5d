/**
 * The use of budgets, in one file of the home (`guards/budgets.json`), which the gateways of the
 * home share. A gateway adds what it used from time to time, and says how much it may use until the
 * next time. What it said counts as used for all others, and, if it is killed, until the period ends: a
 * budget is rather too small after a crash than too large.
 *
 * A file that cannot be read is never replaced and never counts as nothing used.
 */

import { join } from "node:path";
import type { FileSteps } from "@toolcrib/files";
import type { Limits } from "@toolcrib/guards";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { toHomeLayout } from "./home-layout.ts";
import { full, RecordFile } from "./record-file.ts";

/** The use of a budget. */
type UsedBudget = Parameters<Limits["restore"]>[0][number];
type Amounts = UsedBudget["base"];

/** The use of a budget by a gateway since its last report. */
export interface BudgetEntry extends Omit<UsedBudget, "base"> {
  readonly add: Amounts;
  /** Its allowance until the next report. */
  readonly ahead: Amounts;
}

/** Dependencies of the store. */
export interface BudgetStoreDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** The steps of a change. @default Node's file system */
  readonly steps?: FileSteps;
}

interface StoredBudget extends Omit<UsedBudget, "base"> {
  readonly used: Amounts;
  /** By run of a gateway. */
  readonly ahead: { readonly [run: string]: Amounts };
}

/** Most budgets of all gateways. */
const maxBudgets = 10_000;
const fileMaxBytes = 64 * 1024 * 1024;

/** The budgets of one home. */
export class BudgetStore {
  readonly #now: () => number;
  readonly #path: string;
  readonly #file: RecordFile<StoredBudget>;

  constructor(home: string, { now, randomBytes, steps }: BudgetStoreDeps) {
    const layout = toHomeLayout(home);
    this.#now = now;
    this.#path = join(layout.guardDirectory, "budgets.json");
    this.#file = new RecordFile(
      { layout, randomBytes, steps },
      {
        path: this.#path,
        lockName: "budgets",
        maxBytes: fileMaxBytes,
        keyOf: toKey,
        parse: parseBudget,
        hint: "restore the file from a backup, or remove it: every budget then begins anew",
        removesEmpty: true,
      },
    );
  }

  /** Returns what all gateways of the home used, for the run `run`. @throws {StoreError} `STORE_UNREADABLE` */
  async read(run: string): Promise<readonly UsedBudget[]> {
    return [...(await this.#file.read()).values()].map((stored) => toUsed(stored, run));
  }

  /**
   * Adds what the run `run` used, and replaces what it may use until the next time. A budget whose period has ended
   * is removed; an entry of an earlier period than the stored one counts in the stored one.
   *
   * @returns the budgets of `entries` as of now.
   * @throws {StoreError} when the file cannot be read or written. Nothing is added then, except after a
   *   `STORE_UNWRITABLE` of a disk that did not confirm the change.
   */
  exchange(run: string, entries: readonly BudgetEntry[]): Promise<readonly UsedBudget[]> {
    return this.#file.change((records) => {
      const now = this.#now();
      for (const [key, { period }] of records) if (period.end <= now) records.delete(key);
      const changed = entries.map((entry) => {
        const stored = changedBy(records.get(toKey(entry)), entry, run);
        records.set(toKey(entry), stored);
        return toUsed(stored, run);
      });
      if (records.size > maxBudgets) throw full(this.#path, `${maxBudgets} budgets`);
      return changed;
    });
  }
}

function changedBy(
  known: StoredBudget | undefined,
  { add, ahead, ...entry }: BudgetEntry,
  run: string,
): StoredBudget {
  const isLater = known === undefined || known.period.end < entry.period.end;
  const { used, ahead: others, ...rest } = isLater ? { ...entry, used: none, ahead: {} } : known;
  const { [run]: _own, ...kept } = others;
  const isNothing = ahead.calls + ahead.bytes + ahead.cost === 0;
  return { ...rest, used: sum(used, add), ahead: isNothing ? kept : { ...kept, [run]: ahead } };
}

function toUsed({ used, ahead, ...rest }: StoredBudget, run: string): UsedBudget {
  const others = Object.entries(ahead).filter(([one]) => one !== run);
  return { ...rest, base: others.reduce((total, [, amounts]) => sum(total, amounts), used) };
}

const none: Amounts = { calls: 0, bytes: 0, cost: 0 };

function sum(a: Amounts, b: Amounts): Amounts {
  return { calls: a.calls + b.calls, bytes: a.bytes + b.bytes, cost: a.cost + b.cost };
}

function toKey({ rule, every, key }: Pick<UsedBudget, "rule" | "every" | "key">): string {
  return `${rule} ${every} ${key}`;
}

function parseBudget(value: JsonObject): StoredBudget | undefined {
  const { rule, key, label, every, start, end } = { ...value, ...objectIn(value["period"]) } as JsonObject;
  const used = parseAmounts(value["used"]);
  const ahead = Object.entries(objectIn(value["ahead"])).map(
    ([run, amounts]) => [run, parseAmounts(amounts)] as const,
  );
  if (typeof rule !== "string" || typeof key !== "string") return undefined;
  if (typeof label !== "string" || (every !== "hour" && every !== "day")) return undefined;
  if (typeof start !== "number" || typeof end !== "number" || used === undefined) return undefined;
  if (!isJsonObject(value["ahead"]) || ahead.some(([, amounts]) => amounts === undefined)) return undefined;
  return {
    rule,
    key,
    label,
    every,
    period: { start, end },
    used,
    ahead: Object.fromEntries(ahead) as StoredBudget["ahead"],
  };
}

function objectIn(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function parseAmounts(value: JsonValue | undefined): Amounts | undefined {
  const { calls, bytes, cost } = objectIn(value);
  const isAmount = (one: JsonValue | undefined): one is number =>
    typeof one === "number" && Number.isSafeInteger(one) && one >= 0;
  return isAmount(calls) && isAmount(bytes) && isAmount(cost) ? { calls, bytes, cost } : undefined;
}
