// For other packages here.
export { openServers } from "./open-servers.ts";
