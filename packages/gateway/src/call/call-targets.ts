/**
 * Targets of governed calls for what the index and the servers offer: which
 * source runs it, under which deadline, with which schemas.
 */

import type { ToolServerConfig } from "@toolcrib/config";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { type Origin, type ToolId, toToolId } from "@toolcrib/tool";
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
  readonly localDeadlineMs: number;
  /** Deadline of Toolcrib's own tools: no shorter than that of any tool that they call. */
  readonly metaDeadlineMs: number;
}

/** Makes targets. */
export interface CallTargets {
  forTool(entry: IndexedTool): CallTarget;
  /** @param method `resources/read`, `prompts/get` or `completion/complete`; its parameters are the call's arguments. */
  forFeature(source: FeatureSource, kind: "resources" | "prompts", name: string, method: string): CallTarget;
}

/** The names of a resource or prompt in policy and audit. */
export function featureNames(
  sourceId: string,
  kind: "resources" | "prompts",
  name: string,
): { readonly id: ToolId; readonly wireName: string } {
  return {
    id: toToolId(sourceId, `${kind}/${name}`),
    wireName: `${toWireName(sourceId, kind)}/${name}`,
  };
}

/** Create the maker of targets. Targets of tools are kept with their entries. */
export function createCallTargets(deps: CallTargetsDeps): CallTargets {
  const kept = new WeakMap<IndexedTool, CallTarget>();

  function surroundings(serverId: string, origin: Origin) {
    // Whatever a toolspec sends goes out through the egress.
    if (origin === "toolspec") {
      return { server: serverId, deadlineMs: deps.localDeadlineMs, containment: "egress" };
    }
    const server = deps.servers.get(serverId);
    const ownDeadlineMs = origin === "meta" ? deps.metaDeadlineMs : deps.localDeadlineMs;
    return {
      server: server?.id,
      deadlineMs:
        server === undefined ? ownDeadlineMs : server.containment.effective.maxExecutionSeconds * 1000,
      // Deadlines hold; the sandbox tiers are not built into this version.
      containment: server === undefined ? undefined : "deadline",
    };
  }

  return {
    forTool(entry) {
      const known = kept.get(entry);
      if (known !== undefined) return known;
      const { id, wireName, tool, backends } = entry;
      const preferred = backends.find((backend) => backend.tool === tool)?.source;
      const around = surroundings(tool.sourceId, tool.origin);
      const target: CallTarget = {
        id,
        wireName,
        origin: tool.origin,
        ...around,
        deadlineMs: preferred?.deadlineMs?.(tool) ?? around.deadlineMs,
        inputSchema: preferred?.checksArguments === true ? undefined : tool.definition.inputSchema,
        outputSchema: tool.definition.outputSchema,
        async execute(args, context) {
          const backend = backends.length === 1 ? backends[0] : deps.selectBackend(backends);
          if (backend === undefined || !backends.includes(backend)) {
            throw new GatewayError("BACKEND_NOT_FOUND", `The backend selector chose no backend of "${id}"`);
          }
          return toToolResult(await backend.source.call(backend.tool, args, context), wireName);
        },
      };
      kept.set(entry, target);
      return target;
    },
    forFeature(source, kind, name, method) {
      const names = featureNames(source.id, kind, name);
      return {
        ...names,
        origin: source.origin,
        ...surroundings(source.id, source.origin),
        inputSchema: undefined,
        outputSchema: undefined,
        execute: async (params, context) =>
          toResult(await source.features.request(method, params, context), names.wireName),
      };
    },
  };
}

/** What a source answered, if it is a result at all. @throws {GatewayError} `RESULT_INVALID` */
function toResult(answer: unknown, wireName: string): JsonObject {
  if (isJsonObject(answer)) return answer;
  throw new GatewayError("RESULT_INVALID", `The answer of "${wireName}" is not a result`, {
    hint: "tell whoever runs this server; the answer was not passed on",
  });
}

/** A tool's result has a list of content, empty where its server left it out. */
function toToolResult(answer: unknown, wireName: string): JsonObject {
  const result = toResult(answer, wireName);
  return Array.isArray(result["content"]) ? result : { ...result, content: [] };
}
