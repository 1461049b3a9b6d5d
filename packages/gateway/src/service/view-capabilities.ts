/** The capabilities of a view that are not declared by extensions. Pure. */

import type { JsonObject } from "@toolcrib/json";

/** Capabilities of the endpoint of all servers. */
const allCapabilities: JsonObject = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

/** Returns the capabilities that are offered for a server which declares `own`. Without any, all of them are. */
export function offeredOf(own: JsonObject): JsonObject {
  if (Object.keys(own).length === 0) return allCapabilities;
  return Object.fromEntries(Object.entries(allCapabilities).filter(([name]) => own[name] !== undefined));
}
