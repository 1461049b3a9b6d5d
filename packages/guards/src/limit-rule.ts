/** Rules that limit calls, and the calls as the rules see them. */

import type { Identity, ToolId } from "@toolcrib/tool";
import type { OpenWindow } from "./open-window.ts";

/** The calls that are counted together. */
export type LimitScope = "client" | "tool" | "server" | "all";

/** A rate: a bucket of `burst` calls that is filled evenly. */
export interface RateLimit {
  readonly count: number;
  readonly perMs: number;
  /** Calls that can be made at once. */
  readonly burst: number;
}

/** Amounts that a budget counts. */
export interface Amounts {
  readonly calls: number;
  /** Bytes of arguments and results as JSON. */
  readonly bytes: number;
  /** In millionths of the unit of the configuration, so that sums are exact. */
  readonly cost: number;
}

/** The kinds of amounts. */
export const amountKinds = ["calls", "bytes", "cost"] as const satisfies readonly (keyof Amounts)[];

/** A budget for each hour or day. */
export interface BudgetLimit {
  readonly limits: Partial<Amounts>;
  readonly every: "hour" | "day";
}

/** One rule. All of its limits hold. */
export interface LimitRule {
  /** Unique. */
  readonly name: string;
  /** Patterns. @default all tools except for Toolcrib's own, resources and prompts */
  readonly tools: readonly string[] | undefined;
  /** Names of clients. @default all */
  readonly clients: readonly string[] | undefined;
  readonly per: LimitScope;
  readonly rate: RateLimit | undefined;
  readonly budget: BudgetLimit | undefined;
  /** Calls are allowed in one of them only. @default at any time */
  readonly windows: readonly OpenWindow[] | undefined;
  /** Time zone of days and windows. */
  readonly timeZone: string;
}

/** All rules, and what calls cost. */
export interface LimitSettings {
  readonly rules: readonly LimitRule[];
  /** The first pattern that matches a tool decides; others cost nothing. */
  readonly costs: readonly { readonly pattern: string; readonly cost: number }[];
}

/** A call as rules see it. */
export interface LimitedCall {
  readonly id: ToolId;
  readonly wireName: string;
  /** Id of the configured source that runs it. */
  readonly server: string | undefined;
  /** Whether it is a tool of Toolcrib itself. */
  readonly isOwn: boolean;
  readonly identity: Identity;
}

/** Millionths in one unit of cost. */
export const costUnit = 1_000_000;
