// For other packages here.
export { openSessionStore } from "./file-session-store.ts";
