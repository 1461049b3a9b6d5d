// For other packages here.
export { createCommandSend } from "./command-hook.ts";
export type { HookPhase, HookSubject } from "./hook-answer.ts";
export { type HookOutcome, type HookRule, Hooks, type SendToHook } from "./hooks.ts";
export { restoreHidden } from "./restore-hidden.ts";
export { createUrlSend, type HookAddress } from "./url-hook.ts";
