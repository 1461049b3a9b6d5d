/** Creates the guards of a gateway: its pauses and its limits. */

import type { Logger } from "@toolcrib/diagnostics";
import type { LimitSettings } from "@toolcrib/guards";
import type { AuditStore, BudgetStore, PauseStore } from "@toolcrib/store";
import { CallLimits } from "./call-limits.ts";
import { Pauses } from "./pauses.ts";

/** Dependencies of the guards. */
export interface GuardDeps {
  readonly audit: Pick<AuditStore, "record">;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly newCallId: () => string;
  /** Returns the `identityKey`s that the configuration gives the name of a client. */
  readonly clientKeys: (name: string) => readonly string[];
  /** Pauses of the operator. @default nothing can be paused */
  readonly pauses?: PauseStore | undefined;
  /** Keeps what was used of budgets. @default they begin anew with the process */
  readonly budgetStore?: BudgetStore | undefined;
  /** The command by which the operator resumes. @default "toolcrib resume" */
  readonly resumeCommand?: string | undefined;
}

/** Creates the guards. Without rules in the settings of limits, none are checked. */
export function createGuards(
  limits: LimitSettings | undefined,
  {
    audit,
    logger,
    now,
    newCallId,
    clientKeys,
    pauses: store,
    budgetStore,
    resumeCommand = "toolcrib resume",
  }: GuardDeps,
): { readonly pauses: Pauses; readonly callLimits: CallLimits | undefined } {
  return {
    pauses: new Pauses({ store, audit, logger, now, resumeCommand, clientKeys }),
    callLimits: createCallLimits(limits, { logger, now, newCallId, clientKeys, budgetStore }),
  };
}

/** Creates the limits of `settings`; undefined where there are no rules. */
export function createCallLimits(
  settings: LimitSettings | undefined,
  {
    now,
    logger,
    newCallId,
    clientKeys,
    budgetStore,
  }: Pick<GuardDeps, "now" | "logger" | "newCallId" | "clientKeys" | "budgetStore">,
): CallLimits | undefined {
  if (settings === undefined || settings.rules.length === 0) return undefined;
  return new CallLimits(settings, { now, logger, clientKeys, budgetStore, run: newCallId() });
}
