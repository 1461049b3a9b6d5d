// For other packages here.
export { openSessionStore } from "./file-session-store.ts";
export { ResourceUpdates } from "./resource-updates.ts";
export { restoreEach } from "./restore-each.ts";
