// For other packages here.
export { createSend } from "./create-send.ts";
export type { ExecutionRules } from "./hookable-call.ts";
export { type CallHooksDeps, type HookedCall, hookedCall } from "./hooked-call.ts";
export { type HookRule, Hooks } from "./hooks.ts";
