/** Definitions that servers list, and the pins of a home that hold them back. */

import { randomBytes } from "node:crypto";
import type { JsonObject } from "@toolcrib/json";
import { SecretScrubber } from "@toolcrib/redaction";
import { createPinStore, DefinitionPins } from "@toolcrib/store";
import {
  type CheckedFeatures,
  checkFeatures,
  type Tool,
  type ToolDefinition,
  toToolId,
} from "@toolcrib/tool";

/** Rules that hold back what the operator did not approve. */
export const asking = { trustState: "unverified", firstContact: "ask", pinsResources: false } as const;
/** Rules that accept what a server lists first. */
export const pinning = { trustState: "verified", firstContact: "pin", pinsResources: false } as const;

/** Opens the pins of a home. */
export function pinsOf(home: string): DefinitionPins {
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  return new DefinitionPins({
    audit: { record() {} },
    logger,
    scrubber: new SecretScrubber(),
    now: () => 0,
    pins: { store: createPinStore(home, { randomBytes }), remembered: [] },
    approveCommand: "toolcrib approve",
  });
}

/** Returns a tool of a server. */
export function toolOf(server: string, name: string, definition: Partial<ToolDefinition> = {}): Tool {
  return {
    id: toToolId(server, name),
    namespace: server,
    tags: [],
    origin: "server",
    sourceId: server,
    definition: { name, inputSchema: { type: "object" }, ...definition },
  };
}

/** The lists of a server, which a test replaces. */
export interface Lists {
  instructions?: string | undefined;
  resources?: readonly JsonObject[];
  templates?: readonly JsonObject[];
  prompts?: readonly JsonObject[];
}

const none: readonly JsonObject[] = [];

/** Returns the features of the server "s". */
export function featuresOf(lists: Lists): CheckedFeatures {
  return checkFeatures("s", {
    capabilities: () => ({}),
    instructions: () => lists.instructions,
    resources: () => lists.resources ?? none,
    resourceTemplates: () => lists.templates ?? none,
    prompts: () => lists.prompts ?? none,
    request: async (method, params) => ({ method, params }),
    async watch() {},
    async unwatch() {},
  });
}
