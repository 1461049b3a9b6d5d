/**
 * The use of each limit, by rule and by the calls that the rule counts together. Their number is limited: when
 * there is no room, states that say nothing are dropped, and further keys of a rule share one state.
 * Invariant: nothing of a budget that was used is forgotten before the budget's period has ended. Pure.
 */

import type { Amounts, BudgetLimit, LimitRule, RateLimit } from "./limit-rule.ts";
import { type Period, periodAt } from "./local-time.ts";

/** States of all rules together, those that are shared not counted. */
const maxStates = 4096;
/** Milliseconds between two attempts to make room. */
const sweepPauseMs = 1000;

/** The key of the state that further keys of a rule share. */
export const othersKey = "";

/** The key under which a rule counts a call. */
export interface CounterKey {
  readonly key: string;
  /** For people. */
  readonly label: string;
}

/** The use of a budget. */
export interface BudgetUse {
  period: Period;
  /** The use according to the store, other gateways included. */
  base: Amounts;
  /** The use since then. */
  own: Amounts;
}

/** One state. */
export interface Counter extends CounterKey {
  /** Name of the rule. */
  readonly rule: string;
  /** Calls that the bucket of the rate holds, as of `filledAt`. */
  tokens: number;
  filledAt: number;
  /** Milliseconds in which an empty bucket is full. */
  readonly refillMs: number;
  budget: BudgetUse | undefined;
}

export const noAmounts: Amounts = { calls: 0, bytes: 0, cost: 0 };

/** Returns the sum of two amounts. */
export function added(a: Amounts, b: Amounts): Amounts {
  return { calls: a.calls + b.calls, bytes: a.bytes + b.bytes, cost: a.cost + b.cost };
}

/** Returns what was used of a budget. */
export function usedOf({ base, own }: BudgetUse): Amounts {
  return added(base, own);
}

/** Fills the bucket of a rate. A clock that goes back fills nothing. */
export function refill(counter: Counter, { count, perMs, burst }: RateLimit, now: number): void {
  const elapsed = Math.max(0, now - counter.filledAt);
  counter.tokens = Math.min(burst, counter.tokens + (elapsed * count) / perMs);
  counter.filledAt = now;
}

/** Begins the period of `now`, if it is later than the current one. A clock that goes back begins none. */
export function beginPeriod(
  counter: Counter,
  { every }: BudgetLimit,
  timeZone: string,
  now: number,
): BudgetUse {
  const { budget } = counter;
  if (budget !== undefined && now < budget.period.end) return budget;
  const begun = { period: periodAt(now, every, timeZone), base: noAmounts, own: noAmounts };
  counter.budget = begun;
  return begun;
}

/** The states of all rules. */
export class Counters {
  readonly #states = new Map<string, Counter>();
  readonly #limit: number;
  #sweptAt = Number.NEGATIVE_INFINITY;

  /** @param limit most states. @default 4096 */
  constructor(limit = maxStates) {
    this.#limit = limit;
  }

  /** All states. */
  values(): IterableIterator<Counter> {
    return this.#states.values();
  }

  /** Returns the state of `key`, or the one that it shares. */
  of(rule: LimitRule, counted: CounterKey, now: number): Counter {
    const known = this.#find(rule, counted, now);
    if (known !== undefined) return known;
    const hasRoom = this.#states.size < this.#limit || this.#sweep(now);
    const shared = this.#states.get(toId(rule.name, othersKey));
    if (!hasRoom && shared !== undefined) return shared;
    const added = newCounter(rule, hasRoom ? counted : { key: othersKey, label: "others" }, now);
    this.#states.set(toId(rule.name, added.key), added);
    return added;
  }

  /** Returns a copy of the state that `of` would return. It takes no room, and makes none. */
  copyOf(rule: LimitRule, counted: CounterKey, now: number): Counter {
    return { ...(this.#find(rule, counted, now) ?? newCounter(rule, counted, now)) };
  }

  /** Returns the state that counts `key`; undefined where a new one says the same. */
  #find({ name }: LimitRule, { key }: CounterKey, now: number): Counter | undefined {
    const known = this.#states.get(toId(name, key));
    if (known !== undefined) return known;
    // A key that was counted with others must not begin anew beside them.
    const shared = this.#states.get(toId(name, othersKey));
    return shared === undefined || isIdle(shared, now) ? undefined : shared;
  }

  #sweep(now: number): boolean {
    if (now >= this.#sweptAt && now - this.#sweptAt < sweepPauseMs) return false;
    this.#sweptAt = now;
    for (const [id, counter] of this.#states) if (isIdle(counter, now)) this.#states.delete(id);
    return this.#states.size < this.#limit;
  }
}

function newCounter({ name, rate }: LimitRule, { key, label }: CounterKey, now: number): Counter {
  return {
    rule: name,
    key,
    label,
    tokens: rate?.burst ?? 0,
    filledAt: now,
    refillMs: rate === undefined ? 0 : (rate.burst * rate.perMs) / rate.count,
    budget: undefined,
  };
}

/** Whether a state says nothing that a new one would not. */
function isIdle({ budget, filledAt, refillMs }: Counter, now: number): boolean {
  return now - filledAt >= refillMs && (budget === undefined || now >= budget.period.end);
}

function toId(rule: string, key: string): string {
  return `${rule} ${key}`;
}
