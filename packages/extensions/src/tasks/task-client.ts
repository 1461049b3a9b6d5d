/** The capabilities of the client of a task, as its request declares them. Pure. */

import type { JsonObject } from "@toolcrib/json";
import { McpError, type ServiceRequest } from "@toolcrib/mcp";
import type { Task } from "./task.ts";

/** Returns the token under which a client gets the progress of its request; undefined where it wants none. */
export function progressTokenOf(request: ServiceRequest | undefined): string | number | undefined {
  const token = (request?.params["_meta"] as JsonObject | undefined)?.["progressToken"];
  return request?.wantsProgress === true && (typeof token === "string" || typeof token === "number")
    ? token
    : undefined;
}

/** Capabilities of clients by the requests that need them. */
const capabilityFor: { readonly [method: string]: string } = {
  "sampling/createMessage": "sampling",
  "elicitation/create": "elicitation",
  "roots/list": "roots",
};

/** Returns the error for a question that the client of a task cannot answer; undefined where it can. */
export function missingCapability(
  { facts }: Task,
  method: string,
  { mode }: JsonObject,
): McpError | undefined {
  const name = capabilityFor[method] ?? method;
  const capability = facts.clientCapabilities[name] as JsonObject | undefined;
  const lacksPages = mode === "url" && capability?.["url"] === undefined;
  if (capability !== undefined && !lacksPages) return undefined;
  return new McpError(
    "MCP_CLIENT_CAPABILITY_MISSING",
    `The client that made this call does not support ${lacksPages ? "elicitation.url" : name}`,
    { hint: `use a client that declares the capability "${name}"` },
  );
}
