// For other packages here.
export { type HooksContext, openHooks } from "./open-hooks.ts";
