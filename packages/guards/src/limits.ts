/**
 * Limits of calls: rates, budgets and windows of time. `take` counts a call, or says which rule
 * refuses it and when it is possible again; nothing is counted for a call that is refused. Pure: the time is
 * handed in, and what was used can be read and replaced by the code that keeps it.
 */

import { ToolPatterns } from "@toolcrib/policy";
import { type Identity, identityKey } from "@toolcrib/tool";
import {
  added,
  type BudgetUse,
  beginPeriod,
  type Counter,
  type CounterKey,
  Counters,
  noAmounts,
  refill,
  usedOf,
} from "./counters.ts";
import {
  type Amounts,
  amountKinds,
  type BudgetLimit,
  costUnit,
  type LimitedCall,
  type LimitRule,
  type LimitSettings,
  type RateLimit,
} from "./limit-rule.ts";
import { isOpenAt, nextOpening } from "./open-window.ts";

/** A rule that refuses a call. */
export interface LimitRefusal {
  readonly code: "RATE_LIMITED" | "BUDGET_EXCEEDED" | "OUTSIDE_WINDOW";
  /** Name of the rule. */
  readonly rule: string;
  /** The allowance of the rule and the rest of it, as the end of a sentence. */
  readonly reason: string;
  /** When the call is possible again, in milliseconds since the epoch; undefined for never under these rules. */
  readonly retryAt: number | undefined;
}

/** A call that was counted. */
export interface LimitTicket {
  /** Counts bytes of the call, such as those of its result. */
  spend(bytes: number): void;
  /** Whether a rule counts its bytes. */
  readonly countsBytes: boolean;
}

/** The use of a rule. */
export interface RuleUsage {
  readonly name: string;
  /** Calls that it refused since the start. */
  readonly refused: number;
  /** Whether calls are allowed at this time; absent for a rule without windows. */
  readonly window?: {
    readonly isOpen: boolean;
    /** RFC 3339 time at which the next window opens, while none is open. */
    readonly opensAt?: string;
  };
  /** The largest share of a budget that was used, from 0; 0 for a rule without a budget. */
  readonly usedRatio: number;
  /** Those that used most of the budget, or of the rate, at most 10. */
  readonly top: readonly {
    /** Client, tool or server that is counted. */
    readonly of: string;
    readonly used?: Partial<Amounts>;
    readonly left?: Partial<Amounts>;
    /** RFC 3339. */
    readonly until?: string;
    /** Calls that the rate allows now. */
    readonly callsNow?: number;
  }[];
}

interface CompiledRule {
  readonly rule: LimitRule;
  readonly tools: ToolPatterns | undefined;
  readonly isClient: (identity: Identity) => boolean;
  refused: number;
}

/** A rule that applies to a call, with its state. */
interface Applying {
  readonly compiled: CompiledRule;
  readonly counter: Counter;
}

/** A budget in use. */
export interface KeptBudget {
  readonly counter: Counter;
  readonly limit: BudgetLimit;
  readonly use: BudgetUse;
}

/** The use of a budget before the start. */
export interface UsedBudget extends CounterKey, Pick<BudgetUse, "period" | "base"> {
  /** Name of the rule. */
  readonly rule: string;
  readonly every: BudgetLimit["every"];
}

/** Options of `Limits`. */
export interface LimitsOptions {
  /** Counts of all limits together; above it, further clients, tools or servers of a limit share one. @default 4,096 */
  readonly maxStates?: number | undefined;
  /** Clients, tools or servers that the usage of a limit names. @default 10 */
  readonly topCount?: number | undefined;
}

const defaultTopCount = 10;

const uncounted: LimitTicket = { countsBytes: false, spend() {} };

/** The limits of one gateway. */
export class Limits {
  readonly #rules: readonly CompiledRule[];
  readonly #costs: readonly { readonly tools: ToolPatterns; readonly cost: number }[];
  readonly #counters: Counters;
  readonly #topCount: number;

  /**
   * @param clientKeys returns the `identityKey`s of a name in the configuration.
   */
  constructor(
    { rules, costs }: LimitSettings,
    clientKeys: (name: string) => readonly string[],
    { maxStates, topCount = defaultTopCount }: LimitsOptions = {},
  ) {
    this.#topCount = topCount;
    this.#rules = rules.map((rule) => {
      const keys = rule.clients === undefined ? undefined : new Set(rule.clients.flatMap(clientKeys));
      return {
        rule,
        tools: rule.tools === undefined ? undefined : new ToolPatterns(rule.tools),
        isClient: (identity) => keys === undefined || keys.has(identityKey(identity)),
        refused: 0,
      };
    });
    this.#costs = costs.map(({ pattern, cost }) => ({ tools: new ToolPatterns([pattern]), cost }));
    this.#counters = new Counters(maxStates);
  }

  /** Whether a budget applies to a call. */
  hasBudget(call: LimitedCall): boolean {
    return this.#rules.some((one) => one.rule.budget !== undefined && doesApply(one, call));
  }

  /** Returns why a call cannot be made now; undefined if it can. Counts nothing but the refusal. */
  refusal(call: LimitedCall, now: number): LimitRefusal | undefined {
    return this.#refusalOf(this.#statesOf(call, now), call, now);
  }

  /** Returns why a call could not be made now, for the operator who asks; undefined if it could. Nothing is kept of the question. */
  wouldRefuse(call: LimitedCall, now: number): LimitRefusal | undefined {
    const states = this.#statesOf(call, now, (rule, key) => this.#counters.copyOf(rule, key, now));
    return this.#firstRefusal(states, call, now)?.refusal;
  }

  /** Counts a call, unless a rule refuses it. */
  take(call: LimitedCall, now: number): LimitTicket | LimitRefusal {
    const states = this.#statesOf(call, now);
    if (states.length === 0) return uncounted;
    const refusal = this.#refusalOf(states, call, now);
    if (refusal !== undefined) return refusal;
    const cost = this.#costOf(states, call);
    for (const { compiled, counter } of states) {
      if (compiled.rule.rate !== undefined) counter.tokens -= 1;
      use(counter, { calls: 1, bytes: 0, cost });
    }
    const counting = states.filter(({ compiled }) => compiled.rule.budget?.limits.bytes !== undefined);
    return {
      countsBytes: counting.length > 0,
      spend: (bytes) => {
        for (const { counter } of counting) use(counter, { calls: 0, bytes, cost: 0 });
      },
    };
  }

  /** The budgets that are in use, to keep what was used of them. */
  *budgets(): IterableIterator<KeptBudget> {
    const rules = new Map(this.#rules.map(({ rule }) => [rule.name, rule]));
    for (const counter of this.#counters.values()) {
      const limit = rules.get(counter.rule)?.budget;
      if (limit !== undefined && counter.budget !== undefined) yield { counter, limit, use: counter.budget };
    }
  }

  /**
   * Restores what was used of all budgets. What belongs to no rule any more is ignored, and what was used here since is
   * counted on.
   */
  restore(used: readonly UsedBudget[], now: number): void {
    const restored = new Set<Counter>();
    for (const { rule: name, every, key, label, period, base } of used) {
      const rule = this.#rules.find((one) => one.rule.name === name)?.rule;
      if (rule?.budget?.every !== every || now >= period.end) continue;
      const counter = this.#counters.of(rule, { key, label }, now);
      const known = counter.budget;
      const budget =
        known === undefined || now >= known.period.end ? { period, base, own: noAmounts } : known;
      // A state that several keys share has used what all of them used.
      budget.base = restored.has(counter) ? added(budget.base, base) : base;
      restored.add(counter);
      counter.budget = budget;
    }
  }

  /**
   * Continues the rates of `previous` where a rule counts and allows the same as before. A rule that allows something else
   * begins anew.
   */
  continueRates(previous: Limits, now: number): void {
    for (const one of this.#rules) {
      const { rule } = one;
      const before = previous.#rules.find((other) => other.rule.name === rule.name);
      if (before === undefined || !hasSameRate(before.rule, rule)) continue;
      one.refused = before.refused;
      if (rule.rate === undefined) continue;
      for (const counter of previous.#counters.values()) {
        if (counter.rule !== rule.name) continue;
        const own = this.#counters.of(rule, counter, now);
        own.tokens = Math.min(own.tokens, counter.tokens);
        own.filledAt = counter.filledAt;
      }
    }
  }

  /**
   * Continues the budgets of `previous` where a rule has one for the same time: both count in the same place from now on, so
   * that neither calls since a budget was restored nor calls that `previous` still counts are forgotten.
   *
   * @returns the budgets that are shared, which only one of the two may keep
   */
  continueBudgets(previous: Limits, now: number): ReadonlySet<BudgetUse> {
    const shared = new Set<BudgetUse>();
    const taken = new Set<Counter>();
    for (const { rule } of this.#rules) {
      const before = previous.#rules.find((other) => other.rule.name === rule.name)?.rule;
      if (rule.budget === undefined || before?.budget?.every !== rule.budget.every) continue;
      for (const counter of previous.#counters.values()) {
        const { budget } = counter;
        if (counter.rule !== rule.name || budget === undefined || now >= budget.period.end) continue;
        const own = this.#counters.of(rule, counter, now);
        // Keys that share one state here are restored from where they are kept.
        if (own.key !== counter.key || taken.has(own)) continue;
        taken.add(own);
        // What was restored can know more of other gateways. Neither base ever has less than before.
        if (own.budget?.period.end === budget.period.end)
          budget.base = greatest(own.budget.base, budget.base);
        own.budget = budget;
        shared.add(budget);
      }
    }
    return shared;
  }

  /** The use of each rule. */
  usage(now: number): readonly RuleUsage[] {
    const byRule = Map.groupBy(this.#counters.values(), ({ rule }) => rule);
    return this.#rules.map(({ rule, refused }) => {
      const entries = (byRule.get(rule.name) ?? []).map((counter) => entryOf(rule, counter, now));
      entries.sort((a, b) => b.ratio - a.ratio);
      return {
        name: rule.name,
        refused,
        ...windowOf(rule, now),
        usedRatio: entries[0]?.budgetRatio ?? 0,
        top: entries.slice(0, this.#topCount).map(({ shown }) => shown),
      };
    });
  }

  /** The rules that apply to a call, with their states. @param counterOf @default begins one where there is none */
  #statesOf(
    call: LimitedCall,
    now: number,
    counterOf = (rule: LimitRule, key: CounterKey) => this.#counters.of(rule, key, now),
  ): readonly Applying[] {
    const states: Applying[] = [];
    for (const compiled of this.#rules) {
      const { rule } = compiled;
      if (!doesApply(compiled, call)) continue;
      const counter = counterOf(rule, keyOf(rule, call));
      if (rule.rate !== undefined) refill(counter, rule.rate, now);
      if (rule.budget !== undefined) beginPeriod(counter, rule.budget, rule.timeZone, now);
      states.push({ compiled, counter });
    }
    return states;
  }

  #costOf(states: readonly Applying[], { id, wireName }: LimitedCall): number {
    const isNeeded = states.some(({ compiled }) => compiled.rule.budget?.limits.cost !== undefined);
    const found = isNeeded
      ? this.#costs.find(({ tools }) => tools.findInAny(id, wireName) !== undefined)
      : undefined;
    return found?.cost ?? 0;
  }

  #refusalOf(states: readonly Applying[], call: LimitedCall, now: number): LimitRefusal | undefined {
    const found = this.#firstRefusal(states, call, now);
    if (found === undefined) return undefined;
    found.compiled.refused += 1;
    return found.refusal;
  }

  #firstRefusal(
    states: readonly Applying[],
    call: LimitedCall,
    now: number,
  ): { readonly compiled: CompiledRule; readonly refusal: LimitRefusal } | undefined {
    const cost = this.#costOf(states, call);
    for (const { compiled, counter } of states) {
      const refusal = refusalBy(compiled.rule, counter, cost, now);
      if (refusal !== undefined) return { compiled, refusal };
    }
    return undefined;
  }
}

function greatest(a: Amounts, b: Amounts): Amounts {
  return {
    calls: Math.max(a.calls, b.calls),
    bytes: Math.max(a.bytes, b.bytes),
    cost: Math.max(a.cost, b.cost),
  };
}

/** Whether two rules count the same calls together, and allow the same rate of them. */
function hasSameRate(one: LimitRule, other: LimitRule): boolean {
  const text = ({ tools, clients, per, rate }: LimitRule) => JSON.stringify([tools, clients, per, rate]);
  return text(one) === text(other);
}

function doesApply(
  { tools, isClient }: CompiledRule,
  { id, wireName, isOwn, identity }: LimitedCall,
): boolean {
  const isTool = tools === undefined ? !isOwn : tools.findInAny(id, wireName) !== undefined;
  return isTool && isClient(identity);
}

function refusalBy(
  { name, windows, timeZone, rate, budget }: LimitRule,
  counter: Counter,
  cost: number,
  now: number,
): LimitRefusal | undefined {
  if (windows !== undefined && !isOpenAt(windows, now, timeZone)) {
    const reason = `it is allowed at certain times only (${timeZone})`;
    return { code: "OUTSIDE_WINDOW", rule: name, reason, retryAt: nextOpening(windows, now, timeZone) };
  }
  if (rate !== undefined && counter.tokens < 1) return rateRefusal(name, rate, counter, now);
  return budget === undefined ? undefined : budgetRefusal(name, budget, counter, cost);
}

function use(counter: Counter, amounts: Amounts): void {
  if (counter.budget !== undefined) counter.budget.own = added(counter.budget.own, amounts);
}

/** Returns what a rule counts a call under. Resources and prompts of a server count together: a client chooses their URIs. */
function keyOf({ per }: LimitRule, { id, server, identity }: LimitedCall): CounterKey {
  switch (per) {
    case "client":
      return { key: identityKey(identity), label: identity.name };
    case "tool": {
      const slashAt = id.indexOf("/");
      const isFeature = /^[^:]*:(?:resources|prompts)\//.test(id);
      const key = isFeature ? id.slice(0, slashAt) : id;
      return { key, label: key };
    }
    case "server": {
      const key = server ?? id.slice(0, id.indexOf(":"));
      return { key, label: key };
    }
    case "all":
      return { key: "all", label: "all" };
  }
}

function rateRefusal(
  rule: string,
  { count, perMs }: RateLimit,
  { tokens }: Counter,
  now: number,
): LimitRefusal {
  const retryAt = now + Math.max(1, Math.ceil(((1 - tokens) * perMs) / count));
  const unit = perMs === 1000 ? "a second" : perMs === 60_000 ? "a minute" : "an hour";
  return { code: "RATE_LIMITED", rule, reason: `at most ${count} calls ${unit} are allowed`, retryAt };
}

function budgetRefusal(
  rule: string,
  { limits, every }: BudgetLimit,
  { budget }: Counter,
  cost: number,
): LimitRefusal | undefined {
  if (budget === undefined) return undefined;
  const used = usedOf(budget);
  // The bytes of a call are known only after it.
  const needed: Amounts = { calls: 1, bytes: 1, cost };
  for (const kind of amountKinds) {
    const limit = limits[kind];
    if (limit === undefined || used[kind] + needed[kind] <= limit) continue;
    const left = Math.max(0, limit - used[kind]);
    const needs = kind === "cost" ? `; this call costs ${shown(kind, cost)}` : "";
    const reason = `${shown(kind, left)} of ${shown(kind, limit)} ${kind} ${every === "hour" ? "an hour" : "a day"} are left${needs}`;
    const isPossible = needed[kind] <= limit;
    return { code: "BUDGET_EXCEEDED", rule, reason, retryAt: isPossible ? budget.period.end : undefined };
  }
  return undefined;
}

function shown(kind: keyof Amounts, value: number): string {
  return String(kind === "cost" ? value / costUnit : value);
}

function windowOf({ windows, timeZone }: LimitRule, now: number): Pick<RuleUsage, "window"> {
  if (windows === undefined) return {};
  if (isOpenAt(windows, now, timeZone)) return { window: { isOpen: true } };
  const opening = nextOpening(windows, now, timeZone);
  const opensAt = opening === undefined ? {} : { opensAt: new Date(opening).toISOString() };
  return { window: { isOpen: false, ...opensAt } };
}

function entryOf({ rate, budget }: LimitRule, counter: Counter, now: number) {
  const shownEntry: { -readonly [K in keyof RuleUsage["top"][number]]: RuleUsage["top"][number][K] } = {
    of: counter.label,
  };
  let ratio = 0;
  let budgetRatio = 0;
  const use = counter.budget;
  if (budget !== undefined && use !== undefined && now < use.period.end) {
    const used = usedOf(use);
    const kinds = amountKinds.filter((kind) => budget.limits[kind] !== undefined);
    const unitOf = (kind: keyof Amounts) => (kind === "cost" ? costUnit : 1);
    const amounts = (amountOf: (kind: keyof Amounts) => number) =>
      Object.fromEntries(kinds.map((kind) => [kind, amountOf(kind) / unitOf(kind)]));
    shownEntry.used = amounts((kind) => used[kind]);
    shownEntry.left = amounts((kind) => Math.max(0, (budget.limits[kind] ?? 0) - used[kind]));
    shownEntry.until = new Date(use.period.end).toISOString();
    budgetRatio = Math.max(...kinds.map((kind) => used[kind] / (budget.limits[kind] ?? 1)));
    ratio = budgetRatio;
  }
  if (rate !== undefined) {
    const filled = Math.max(0, now - counter.filledAt);
    const tokens = Math.min(rate.burst, counter.tokens + (filled * rate.count) / rate.perMs);
    shownEntry.callsNow = Math.floor(tokens);
    ratio = Math.max(ratio, 1 - tokens / rate.burst);
  }
  return { shown: shownEntry, ratio, budgetRatio };
}
