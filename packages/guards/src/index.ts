// For other packages here.
export { costUnit } from "./limit-rule.ts";
export { Limits } from "./limits.ts";
export { isTimeZone } from "./local-time.ts";
export { describePause, PauseSet, type PauseTarget, parsePauseTarget, pauseKey } from "./pause.ts";
