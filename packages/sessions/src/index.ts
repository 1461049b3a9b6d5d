// For other packages here.
export { openSessionStore } from "./file-session-store.ts";
export { restoreEach } from "./restore-each.ts";
