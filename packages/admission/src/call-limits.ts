/**
 * Limits of calls in the governed call: refuses a call that exceeds one, counts the others, and keeps in
 * the home what was used of budgets, which the gateways of a home share.
 *
 * Rates are counted by each gateway alone and begin anew with it, and with a change of their rule. Budgets are exchanged with the home
 * while they are used, so that gateways together can exceed one by what they allow in between. A change of the configuration
 * exceeds none: limits that replace others count on in the same place.
 */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import {
  type Amounts,
  type KeptBudget,
  type LimitedCall,
  type LimitRefusal,
  type LimitSettings,
  Limits,
  type LimitTicket,
  type RuleUsage,
} from "@toolcrib/guards";
import type { BudgetStore } from "@toolcrib/store";
import { AdmissionError } from "./admission-error.ts";
import type { GuardedOrigin, GuardedTarget } from "./guarded-call.ts";
import type { GuardRefusal } from "./pauses.ts";

type BudgetEntry = Parameters<BudgetStore["exchange"]>[1][number];

/** Dependencies of `CallLimits`. */
export interface CallLimitsDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
  /** Returns the `identityKey`s that the configuration gives the name of a client. */
  readonly clientKeys: (name: string) => readonly string[];
  /** Keeps budgets. @default they begin anew with the process */
  readonly budgetStore: BudgetStore | undefined;
  /** Id of this run of the gateway. */
  readonly run: string;
}

/** Milliseconds between two exchanges with the home. */
const exchangeMs = 1000;
/**
 * The share of a budget that a gateway announces for the time until the next exchange. It may use more than that: where it is
 * killed then, only the announced part counts as used.
 */
const aheadShare = 0.05;

const none: Amounts = { calls: 0, bytes: 0, cost: 0 };

/** The limits of one gateway. */
export class CallLimits {
  readonly #deps: CallLimitsDeps;
  readonly #limits: Limits;
  readonly #hasBudgets: boolean;
  /** Amounts that this gateway announced that it may use, by rule and key. */
  readonly #ahead = new Map<string, Amounts>();
  #isUnreadable = false;
  /** The reason of the last problem, while it lasts. */
  #reported: string | undefined;
  #exchanging: Promise<void> | undefined;
  /** Budgets that the limits which replace these keep. */
  #handedOver: ReadonlySet<object> = new Set();

  constructor(settings: LimitSettings, deps: CallLimitsDeps) {
    this.#deps = deps;
    this.#limits = new Limits(settings, deps.clientKeys);
    this.#hasBudgets = settings.rules.some(({ budget }) => budget !== undefined);
  }

  /** Returns why a call may not be made now; undefined if it may. */
  refusal(target: GuardedTarget, origin: GuardedOrigin): GuardRefusal | undefined {
    const refusal = this.#limits.refusal(toLimited(target, origin), this.#deps.now());
    return refusal === undefined ? this.#unreadable(target, origin) : this.#refused(target, refusal);
  }

  /** Returns why a call could not be made now, for the operator who asks; undefined if it could. Counts nothing. */
  wouldRefuse(target: GuardedTarget, origin: GuardedOrigin): GuardRefusal | undefined {
    const refusal = this.#limits.wouldRefuse(toLimited(target, origin), this.#deps.now());
    return refusal === undefined ? this.#unreadable(target, origin) : this.#refused(target, refusal);
  }

  /** Counts a call. @param argumentBytes returns the size of its arguments; called where a budget counts bytes */
  take(
    target: GuardedTarget,
    origin: GuardedOrigin,
    argumentBytes: () => number,
  ): Pick<LimitTicket, "spend"> | GuardRefusal {
    const unreadable = this.#unreadable(target, origin);
    if (unreadable !== undefined) return unreadable;
    const taken = this.#limits.take(toLimited(target, origin), this.#deps.now());
    if ("code" in taken) return this.#refused(target, taken);
    if (taken.countsBytes) taken.spend(argumentBytes());
    return taken;
  }

  /** Returns the usage of each rule. */
  usage(): readonly RuleUsage[] {
    return this.#limits.usage(this.#deps.now());
  }

  /**
   * Reads what was used before the start. Calls that count towards a budget are refused while that cannot be read; `keep`
   * tries again. Never rejects.
   *
   * @param previous the limits that these replace, which store first what was used of them
   */
  async restore(previous?: CallLimits): Promise<void> {
    const { budgetStore, run, now } = this.#deps;
    if (budgetStore === undefined || !this.#hasBudgets) return;
    if (previous !== undefined) {
      await previous.#exchanging;
      await previous.#exchange(true);
    }
    try {
      const used = await budgetStore.read(run);
      for (const one of used) this.#limits.restore(one, now());
      this.#isUnreadable = false;
      this.#reported = undefined;
    } catch (error) {
      this.#isUnreadable = true;
      this.#report(error, "budgets cannot be read: calls that count towards one are refused");
    }
  }

  /** Continues the rates and budgets of the limits that these replace. Call it when these are in force. */
  continueFrom(previous: CallLimits): void {
    const now = this.#deps.now();
    this.#limits.continueRates(previous.#limits, now);
    previous.#handedOver = this.#limits.continueBudgets(previous.#limits, now);
    for (const [key, amounts] of previous.#ahead) this.#ahead.set(key, amounts);
    const running = previous.#exchanging;
    if (running === undefined) return;
    // What it writes must not be written twice.
    const waited: Promise<void> = running.finally(() => {
      if (this.#exchanging === waited) this.#exchanging = undefined;
    });
    this.#exchanging = waited;
  }

  /** Logs a problem once, until another one or a success follows. */
  #report(error: unknown, message: string): void {
    const reason = messageOf(error);
    if (this.#reported === reason) return;
    this.#reported = reason;
    this.#deps.logger.error({ reason }, message);
  }

  /** Exchanges budgets with the home from now on. @returns ends it, and gives back what was not used */
  keep(): () => Promise<void> {
    if (this.#deps.budgetStore === undefined || !this.#hasBudgets) return () => Promise.resolve();
    const timer = setInterval(() => void this.#exchange(false), exchangeMs).unref();
    return async () => {
      clearInterval(timer);
      await this.#exchanging;
      await this.#exchange(true);
    };
  }

  #exchange(isLast: boolean): Promise<void> {
    this.#exchanging ??= this.#exchangeOnce(isLast).finally(() => {
      this.#exchanging = undefined;
    });
    return this.#exchanging;
  }

  async #exchangeOnce(isLast: boolean): Promise<void> {
    const { budgetStore, run } = this.#deps;
    if (this.#isUnreadable && !isLast) await this.restore();
    const kept = [...this.#limits.budgets()].filter((one) => this.#isDue(one));
    if (budgetStore === undefined || this.#isUnreadable || kept.length === 0) return;
    const entries = kept.map((one) => toEntry(one, isLast));
    try {
      const known = await budgetStore.exchange(run, entries);
      for (const [index, one] of kept.entries()) this.#apply(one, entries[index], known[index]);
      this.#reported = undefined;
    } catch (error) {
      // What was used stays counted here, and is added with the next exchange.
      this.#report(error, "budgets could not be stored");
    }
  }

  #isDue({ counter, use }: KeptBudget): boolean {
    if (this.#handedOver.has(use)) return false;
    const isUsed = use.own.calls > 0 || use.own.bytes > 0 || use.own.cost > 0;
    return isUsed || this.#ahead.has(toKey(counter));
  }

  #apply(
    { counter, use }: KeptBudget,
    entry: BudgetEntry | undefined,
    known: { readonly period: BudgetEntry["period"]; readonly base: Amounts } | undefined,
  ): void {
    if (entry === undefined || known === undefined) return;
    const { ahead, add } = entry;
    if (ahead.calls + ahead.bytes + ahead.cost === 0) this.#ahead.delete(toKey(counter));
    else this.#ahead.set(toKey(counter), ahead);
    // The period of the budget can have ended meanwhile.
    if (counter.budget !== use) return;
    use.period = known.period;
    use.base = known.base;
    use.own = {
      calls: use.own.calls - add.calls,
      bytes: use.own.bytes - add.bytes,
      cost: use.own.cost - add.cost,
    };
  }

  #unreadable(target: GuardedTarget, origin: GuardedOrigin): GuardRefusal | undefined {
    if (!this.#isUnreadable || !this.#limits.hasBudget(toLimited(target, origin))) return undefined;
    const error = new AdmissionError(
      "BUDGETS_UNREADABLE",
      `"${target.shownName}" was not called: what was used of its budgets cannot be read`,
      { hint: "the operator can repair or remove the file that the log of the gateway names" },
    );
    return { error, rule: "limit.unreadable" };
  }

  #refused({ shownName }: GuardedTarget, { code, rule, reason, retryAt }: LimitRefusal): GuardRefusal {
    const seconds =
      retryAt === undefined ? undefined : Math.max(1, Math.ceil((retryAt - this.#deps.now()) / 1000));
    const again =
      seconds === undefined || retryAt === undefined
        ? "it is not possible under this limit"
        : `it is possible again in ${durationText(seconds)}, at ${new Date(retryAt).toISOString()}`;
    const error = new AdmissionError(code, `"${shownName}" was not called (limit "${rule}"): ${reason}`, {
      hint: `${again}; the operator can change guards.limits`,
      data: { limit: rule, ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }) },
    });
    return { error, rule: `limit.${rule}` };
  }
}

/** Returns a time in the units that people read: seconds, or minutes and hours where it is long, never less than it is. */
function durationText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  if (hours === 0) return `${minutes} min`;
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
}

function toLimited({ id, wireName, server, isOwn }: GuardedTarget, { identity }: GuardedOrigin): LimitedCall {
  return { id, wireName, server, isOwn, identity };
}

/** Returns what is written to the home: what was used, and what may be used until the next time. */
function toEntry({ counter, limit, use }: KeptBudget, isLast: boolean): BudgetEntry {
  const { rule, key, label } = counter;
  const { own, base, period } = use;
  const isUsed = own.calls > 0 || own.bytes > 0 || own.cost > 0;
  const aheadOf = (kind: keyof Amounts) => {
    const most = limit.limits[kind];
    if (most === undefined || isLast || !isUsed) return 0;
    return Math.max(0, Math.min(most - base[kind] - own[kind], Math.ceil(most * aheadShare)));
  };
  const ahead = { calls: aheadOf("calls"), bytes: aheadOf("bytes"), cost: aheadOf("cost") };
  return { rule, key, label, every: limit.every, period, add: { ...none, ...own }, ahead };
}

function toKey({ rule, key }: { readonly rule: string; readonly key: string }): string {
  return `${rule} ${key}`;
}
