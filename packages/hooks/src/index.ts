// For other packages here.
export { createSend } from "./create-send.ts";
export { Hooks } from "./hooks.ts";
