/** Creates the guards of a gateway: its pauses and its limits. */

import type { GatewayConfig } from "@toolcrib/config";
import type { Logger } from "@toolcrib/diagnostics";
import type { AuditStore, BudgetStore, PauseStore } from "@toolcrib/store";
import { clientKeysOf } from "../call/client-keys.ts";
import { CallLimits } from "./call-limits.ts";
import { Pauses } from "./pauses.ts";

/** Dependencies of the guards. */
export interface GuardDeps {
  readonly audit: Pick<AuditStore, "record">;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly newCallId: () => string;
  /** What the operator paused. @default nothing can be paused */
  readonly pauses?: PauseStore | undefined;
  /** Keeps what was used of budgets. @default they begin anew with the process */
  readonly budgetStore?: BudgetStore | undefined;
  /** The command by which the operator resumes. @default "toolcrib resume" */
  readonly resumeCommand?: string | undefined;
}

/** Creates the guards. Without limits in the configuration, none are checked. */
export function createGuards(
  { policy, guards }: Pick<GatewayConfig, "policy"> & Partial<Pick<GatewayConfig, "guards">>,
  { audit, logger, now, newCallId, pauses: store, budgetStore, resumeCommand = "toolcrib resume" }: GuardDeps,
): { readonly pauses: Pauses; readonly callLimits: CallLimits | undefined } {
  const clientKeys = (name: string) => clientKeysOf(policy, name);
  const isLimited = guards !== undefined && guards.rules.length > 0;
  return {
    pauses: new Pauses({ store, audit, logger, now, resumeCommand, clientKeys }),
    callLimits: isLimited
      ? new CallLimits(guards, { now, logger, clientKeys, budgetStore, run: newCallId() })
      : undefined,
  };
}
