// For other packages here.
export { type Amounts, costUnit, type LimitedCall, type LimitSettings } from "./limit-rule.ts";
export { type KeptBudget, type LimitRefusal, Limits, type LimitTicket, type RuleUsage } from "./limits.ts";
export { isTimeZone } from "./local-time.ts";
export {
  describePause,
  type Pause,
  PauseSet,
  type PauseTarget,
  parsePauseTarget,
  pauseKey,
} from "./pause.ts";
