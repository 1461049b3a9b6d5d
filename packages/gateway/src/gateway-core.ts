/**
 * The part of a gateway that has no doors: index, policy, governed call,
 * service. `startGateway` puts servers behind it and HTTP in front;
 * `createRegistry` puts a program's own functions behind it.
 */

import { createSchemaValidator, type JsonObject } from "@toolcrib/json";
import { McpError, mcpClientCapabilityMissing, type ServerInfo } from "@toolcrib/mcp";
import type { AuditTrail } from "@toolcrib/store";
import type { CallContext, Identity, ToolSource } from "@toolcrib/tool";
import type { UpstreamLogger } from "@toolcrib/upstream";
import { type CallMetrics, createCallLog } from "./call/call-log.ts";
import type { CallOrigin, CallTarget } from "./call/call-target.ts";
import { createCallTargets } from "./call/call-targets.ts";
import { governedCall } from "./call/governed-call.ts";
import type { SecretScrubber } from "./call/secret-scrubber.ts";
import { toolNameCollision, toolNotFound } from "./codes.ts";
import type { GatewayConfig } from "./config/config-types.ts";
import { autoModeMaxTools } from "./config/serve-shape.ts";
import type { CallOptions, CallOutcome, ToolHit, ToolSummary } from "./gateway.ts";
import { GatewayError } from "./gateway-error.ts";
import {
  type BackendSelector,
  createToolIndex,
  type IndexedTool,
  selectByKind,
  type ToolIndex,
} from "./index/tool-index.ts";
import { type FeatureSource, hasFeatures } from "./service/feature-routes.ts";
import { createGatewayService, type GatewayService } from "./service/gateway-service.ts";
import { createMetaSource, metaToolNames } from "./service/meta-source.ts";
import { createToolPolicy, type ToolPolicy } from "./tool-policy.ts";

/** What a core is made of. */
export interface GatewayCoreDeps {
  readonly serverInfo: ServerInfo;
  readonly audit: Pick<AuditTrail, "intent" | "record">;
  readonly metrics: CallMetrics;
  readonly logger: UpstreamLogger;
  readonly scrubber: SecretScrubber;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly newCallId: () => string;
  readonly selectBackend?: BackendSelector;
}

/** A gateway without doors. */
export interface GatewayCore {
  readonly index: ToolIndex;
  readonly policy: ToolPolicy;
  readonly service: GatewayService;
  /** Put a source behind the gateway; its owner starts and disposes it. */
  add(source: ToolSource): void;
  remove(source: ToolSource): void;
  readonly underWay: { readonly count: number };
  listTools(identity: Identity): readonly ToolSummary[];
  search(identity: Identity, query: string, limit: number): readonly ToolHit[];
  find(identity: Identity, name: string): IndexedTool | undefined;
  /** Run a tool for a program or a person of this machine. */
  call(identity: Identity, name: string, args: JsonObject, options?: CallOptions): Promise<CallOutcome>;
}

/** Deepest call within calls. */
const maxCallDepth = 16;
/** Deadline of Toolcrib's own tools and local functions. */
const ownDeadlineMs = 300_000;
/** Items on one page of an MCP list. */
const pageSize = 1000;

/** Create a core for `config`. */
export function createGatewayCore(config: GatewayConfig, deps: GatewayCoreDeps): GatewayCore {
  const { logger, now } = deps;
  const selectBackend = deps.selectBackend ?? selectByKind;
  const policy = createToolPolicy(config.policy);
  const listing = createListing(config);
  const index = createToolIndex({
    selectBackend,
    onQuarantine({ id, reason }) {
      const server = id.slice(0, id.indexOf(":"));
      deps.audit.record("server.quarantined", { server, tool: id, reason, code: toolNameCollision });
      logger.warn({ tool: id, reason }, "tool is quarantined");
    },
  });
  const sources: ToolSource[] = [];
  const underWay = { count: 0 };
  const callDeps = {
    policy,
    validator: createSchemaValidator(),
    scrubber: deps.scrubber,
    log: createCallLog({ audit: deps.audit, metrics: deps.metrics, logger }),
    now,
    newCallId: deps.newCallId,
    limits: {
      resultMaxBytes: config.serve.limits.resultMaxBytes,
      maxConcurrentCalls: config.serve.limits.maxConcurrentCalls,
      maxDepth: maxCallDepth,
    },
    underWay,
  };
  const targets = createCallTargets({
    servers: new Map(config.toolServers.map((server) => [server.id, server])),
    selectBackend,
    ownDeadlineMs,
  });
  const run = (target: CallTarget, args: JsonObject, origin: CallOrigin) =>
    governedCall(callDeps, target, args, origin);

  function isAllowed(identity: Identity, entry: IndexedTool): boolean {
    return policy.decide(identity, entry.id, entry.wireName).kind === "allow";
  }

  function find(identity: Identity, name: string): IndexedTool | undefined {
    const entry = index.find(name);
    return entry !== undefined && isAllowed(identity, entry) ? entry : undefined;
  }

  function search(identity: Identity, query: string, limit: number): readonly ToolHit[] {
    const filter = (id: string) => {
      const entry = index.find(id);
      return entry !== undefined && entry.tool.origin !== "meta" && isAllowed(identity, entry);
    };
    return index.search.search(query, { limit, filter }).map(({ id, score, why }) => {
      const entry = index.find(id) as IndexedTool;
      return {
        id,
        name: entry.wireName,
        score: Math.round(score * 1000) / 1000,
        why: why.map(describeReason),
        description: entry.tool.definition.description,
      };
    });
  }

  const meta = createMetaSource({
    search,
    describe: (identity, name) => find(identity, name)?.wireDefinition,
    async callTool(context, name, args) {
      const entry = index.find(name);
      if (entry === undefined) throw unknownTool(name);
      const outcome = await run(targets.forTool(entry), args, originOfInner(context));
      if (outcome.kind === "result") return outcome.result;
      throw outcome.kind === "failed"
        ? outcome.error
        : new GatewayError(outcome.code, outcome.reason, { hint: outcome.hint });
    },
    now,
  });

  const service = createGatewayService({
    serverInfo: deps.serverInfo,
    index,
    policy,
    servers: () => sources.filter(hasFeatures) as FeatureSource[],
    listed: (identity) => listing(index.tools, (entry) => isAllowed(identity, entry)),
    call: run,
    toolTarget: (entry) => targets.forTool(entry),
    featureTarget: (source, kind, name, method) => targets.forFeature(source, kind, name, method),
    pageSize,
    instructions: () => instructionsOf(sources.filter(hasFeatures) as FeatureSource[]),
  });
  index.add(meta);
  index.onChange(() => service.changed("tools", undefined));

  return {
    index,
    policy,
    service,
    underWay,
    add(source) {
      sources.push(source);
      index.add(source);
      source.onChange(({ kind }) => {
        if (kind !== "tools") service.changed(kind, source.id);
      });
    },
    remove(source) {
      const at = sources.indexOf(source);
      if (at !== -1) sources.splice(at, 1);
      index.remove(source);
    },
    listTools: (identity) => index.tools.filter((entry) => isAllowed(identity, entry)).map(toSummary),
    search,
    find,
    call(identity, name, args, options = {}) {
      const entry = index.find(name);
      if (entry === undefined) {
        return Promise.resolve({ kind: "failed", callId: deps.newCallId(), error: unknownTool(name) });
      }
      return run(targets.forTool(entry), args, originOfProgram(identity, options));
    },
  };
}

/** Which tools the endpoint of all servers lists (`serve.mode`, `serve.tools`). */
function createListing(config: GatewayConfig) {
  const { mode, tools } = config.serve;
  const asPolicy = (patterns: readonly string[]) =>
    createToolPolicy({ allow: patterns, deny: [], clients: {}, floor: config.policy.floor });
  const hidden = asPolicy(tools.hidden);
  const pinned = asPolicy(tools.pinned);
  const anyone: Identity = { kind: "anonymous", name: "" };
  const isIn = (policy: ToolPolicy, { id, wireName }: IndexedTool) =>
    policy.decide(anyone, id, wireName).kind === "allow";
  const isMeta = ({ tool }: IndexedTool) => tool.origin === "meta";

  return (
    all: readonly IndexedTool[],
    isAllowed: (entry: IndexedTool) => boolean,
  ): readonly IndexedTool[] => {
    const allowed = all.filter((entry) => isAllowed(entry) && (isMeta(entry) || !isIn(hidden, entry)));
    const isSearch = mode === "search" || (mode === "auto" && allowed.length > autoModeMaxTools);
    if (isSearch) return allowed.filter((entry) => isMeta(entry) || isIn(pinned, entry));
    // Where every tool is listed, finding is still of use; describing and calling by name are not.
    return allowed.filter((entry) => !isMeta(entry) || entry.wireName === metaToolNames.search);
  };
}

function toSummary({ id, wireName, tool }: IndexedTool): ToolSummary {
  const { namespace, origin, tags, definition } = tool;
  return {
    id,
    wireName,
    namespace,
    origin,
    tags,
    title: definition.title,
    description: definition.description,
  };
}

function describeReason(reason: { readonly word: string; readonly field: string }): string {
  return `${reason.word} in ${reason.field}`;
}

function unknownTool(name: string): GatewayError {
  return new GatewayError(toolNotFound, `Unknown tool: "${name.slice(0, 200)}"`, {
    rpcCode: -32602,
    hint: "find names with toolcrib list or search_tools",
  });
}

/** An inner call has its outer call's way back and authority. */
function originOfInner(context: CallContext): CallOrigin {
  return {
    ...context,
    clientInfo: context.session?.clientInfo,
    parent: { callId: context.callId, depth: context.depth },
  };
}

function originOfProgram(identity: Identity, options: CallOptions): CallOrigin {
  return {
    identity,
    era: "modern",
    session: undefined,
    meta: undefined,
    clientInfo: undefined,
    parent: undefined,
    signal: options.signal,
    wantsProgress: options.onProgress !== undefined,
    progress: (params) => options.onProgress?.(params),
    notify: () => {},
    ask: (method) =>
      Promise.reject(new McpError(mcpClientCapabilityMissing, `Nobody can answer "${method}" for this call`)),
  };
}

/** Longest instructions of one server that are passed on. */
const instructionsMaxLength = 4000;

function instructionsOf(sources: readonly FeatureSource[]): string {
  const lines = [
    "Tools of several servers behind one endpoint. A tool's name is its server's name, two underscores, and the server's own name for it.",
    `Find tools by what they do with ${metaToolNames.search}.`,
  ];
  for (const { id, features } of sources) {
    const text = features.instructions();
    if (text !== undefined && text.trim() !== "")
      lines.push(`\n## ${id}\n${text.trim().slice(0, instructionsMaxLength)}`);
  }
  return lines.join("\n");
}
