/**
 * Targets of governed calls for what the index and the servers offer: which
 * source runs it, under which deadline, with which schemas.
 */

import type { JsonObject } from "@toolcrib/json";
import { toToolId } from "@toolcrib/tool";
import { backendNotFound } from "../codes.ts";
import type { ToolServerConfig } from "../config/config-types.ts";
import { GatewayError } from "../gateway-error.ts";
import type { BackendSelector, IndexedTool } from "../index/tool-index.ts";
import { toWireName } from "../index/wire-name.ts";
import type { FeatureSource } from "../service/feature-routes.ts";
import type { CallTarget } from "./call-target.ts";

/** What targets are made from. */
export interface CallTargetsDeps {
  /** The configured servers, by id. */
  readonly servers: ReadonlyMap<string, ToolServerConfig>;
  readonly selectBackend: BackendSelector;
  /** Deadline of tools that belong to no server, in milliseconds. */
  readonly ownDeadlineMs: number;
}

/** Makes targets. */
export interface CallTargets {
  forTool(entry: IndexedTool): CallTarget;
  /** @param method `resources/read`, `prompts/get` or `completion/complete`; its parameters are the call's arguments. */
  forFeature(source: FeatureSource, kind: "resources" | "prompts", name: string, method: string): CallTarget;
}

/** Create the maker of targets. Targets of tools are kept with their entries. */
export function createCallTargets(deps: CallTargetsDeps): CallTargets {
  const kept = new WeakMap<IndexedTool, CallTarget>();

  function surroundings(serverId: string | undefined) {
    const server = serverId === undefined ? undefined : deps.servers.get(serverId);
    return {
      server: server?.id,
      deadlineMs:
        server === undefined ? deps.ownDeadlineMs : server.containment.effective.maxExecutionSeconds * 1000,
      // Deadlines hold; the sandbox tiers are not built into this version.
      containment: server === undefined ? undefined : "deadline",
    };
  }

  return {
    forTool(entry) {
      const known = kept.get(entry);
      if (known !== undefined) return known;
      const { id, wireName, tool, backends } = entry;
      const target: CallTarget = {
        id,
        wireName,
        origin: tool.origin,
        ...surroundings(tool.sourceId),
        inputSchema: tool.definition.inputSchema,
        outputSchema: tool.definition.outputSchema,
        async execute(args, context) {
          const backend = backends.length === 1 ? backends[0] : deps.selectBackend(backends);
          if (backend === undefined || !backends.includes(backend)) {
            throw new GatewayError(backendNotFound, `The backend selector chose no backend of "${id}"`);
          }
          return (await backend.source.call(backend.tool, args, context)) as unknown as JsonObject;
        },
      };
      kept.set(entry, target);
      return target;
    },
    forFeature(source, kind, name, method) {
      return {
        id: toToolId(source.id, `${kind}/${name}`),
        wireName: `${toWireName(source.id, kind)}/${name}`,
        origin: source.origin,
        ...surroundings(source.id),
        inputSchema: undefined,
        outputSchema: undefined,
        execute: (params, context) => source.features.request(method, params, context),
      };
    },
  };
}
