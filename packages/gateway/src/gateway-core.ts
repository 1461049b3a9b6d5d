/**
 * The part of a gateway that has no doors: index, policy, governed call,
 * service. `startGateway` puts servers behind it and HTTP in front;
 * `createRegistry` puts a program's own functions behind it.
 */

import type { GatewayConfig } from "@toolcrib/config";
import { autoModeMaxTools } from "@toolcrib/config";
import type { Logger } from "@toolcrib/diagnostics";
import { createSchemaValidator, type JsonObject } from "@toolcrib/json";
import { McpError, type ServerInfo } from "@toolcrib/mcp";
import type { SecretScrubber } from "@toolcrib/redaction";
import type { AuditStore } from "@toolcrib/store";
import type { CallContext, Identity, ToolId, ToolResult, ToolSource, Unsubscribe } from "@toolcrib/tool";
import { type CallMetrics, createCallLog } from "./call/call-log.ts";
import type { CallOrigin, CallTarget } from "./call/call-target.ts";
import { createCallTargets, featureNames } from "./call/call-targets.ts";
import { governedCall } from "./call/governed-call.ts";
import type { CallOptions, CallOutcome, ToolHit, ToolSummary } from "./gateway.ts";
import { GatewayError } from "./gateway-error.ts";
import {
  type BackendSelector,
  createToolIndex,
  type IndexedTool,
  selectByKind,
  type ToolIndex,
} from "./index/tool-index.ts";
import { type CheckedFeatures, checkFeatures } from "./service/checked-features.ts";
import type { FeatureSource } from "./service/feature-routes.ts";
import { createGatewayService, type GatewayService, toClientInfo } from "./service/gateway-service.ts";
import { createMetaSource, metaToolNames } from "./service/meta-source.ts";
import { createUnknownTool } from "./service/unknown-tool.ts";
import { ToolPatterns } from "./tool-patterns.ts";
import { createToolPolicy, type ToolPolicy } from "./tool-policy.ts";

/** What a core is made of. */
export interface GatewayCoreDeps {
  readonly serverInfo: ServerInfo;
  readonly audit: Pick<AuditStore, "intent" | "record">;
  readonly metrics: CallMetrics;
  readonly logger: Logger;
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
  /** Definitions that are not offered, and why. */
  quarantined(): readonly { readonly id: ToolId; readonly reason: string }[];
  readonly underWay: { readonly count: number };
  listTools(identity: Identity): readonly ToolSummary[];
  search(identity: Identity, query: string, limit: number): readonly ToolHit[];
  find(identity: Identity, name: string): IndexedTool | undefined;
  /** Run a tool for a program or a person of this machine. */
  call(identity: Identity, name: string, args: JsonObject, options?: CallOptions): Promise<CallOutcome>;
  /** Run a tool on account of the call `context`, one level deeper. @throws {CodedError} when it is not there, denied or failed */
  callInner(context: CallContext, name: string, args: JsonObject): Promise<ToolResult>;
}

/** Deepest call within calls. */
const maxCallDepth = 16;
/** Deadline of local functions. */
const localDeadlineMs = 300_000;
/** Deadline of Toolcrib's own tools: longer than the longest `max_execution_seconds`, which holds within them. */
const metaDeadlineMs = 3_610_000;
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
    onQuarantine: ({ id, namespace, code, reason }) =>
      quarantined(namespace === "" ? "local" : namespace, id, code, reason),
  });
  const sources: AddedSource[] = [];
  const featureSources = () => sources.flatMap(({ features }) => features ?? []);
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
    localDeadlineMs,
    metaDeadlineMs,
  });
  const run = (target: CallTarget, args: JsonObject, origin: CallOrigin) =>
    governedCall(callDeps, target, args, origin);

  /** Records that `id` of `server` is not offered. */
  function quarantined(server: string, id: ToolId, code: string, reason: string): void {
    deps.audit.record("server.quarantined", {
      server,
      tool: id,
      reason: deps.scrubber.text(reason),
      code,
    });
    logger.warn({ server, tool: id, code, reason: deps.scrubber.text(reason) }, "definition is quarantined");
  }

  /** Records the entries of `source` that became malformed since `known` was filled. */
  function checkLists({ source, features, known }: AddedSource): void {
    const malformed = features?.features.malformed() ?? [];
    for (const { id, reason } of malformed) {
      if (!known.has(id)) quarantined(source.id, id, "TOOL_DEFINITION_INVALID", reason);
    }
    known.clear();
    for (const { id } of malformed) known.add(id);
  }

  function isAllowed(identity: Identity, entry: IndexedTool): boolean {
    return policy.decide(identity, entry.id, entry.wireName).kind === "allow";
  }

  function find(identity: Identity, name: string): IndexedTool | undefined {
    const entry = index.find(name);
    return entry !== undefined && isAllowed(identity, entry) ? entry : undefined;
  }

  /** What `identity` finds: what it may use and what is not hidden. */
  function isFound(identity: Identity, entry: IndexedTool): boolean {
    return entry.tool.origin !== "meta" && !listing.isHidden(entry) && isAllowed(identity, entry);
  }

  function search(identity: Identity, query: string, limit: number): readonly ToolHit[] {
    const filter = (id: string) => {
      const entry = index.find(id);
      return entry !== undefined && isFound(identity, entry);
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

  const unknownTool = createUnknownTool({
    index,
    policy,
    servers: () => sources.map(({ source }) => source),
    isFound,
  });

  const meta = createMetaSource({
    search,
    describe(identity, name) {
      const entry = find(identity, name);
      return entry === undefined || listing.isHidden(entry) ? undefined : entry.wireDefinition;
    },
    callTool: callInner,
    now,
  });

  async function callInner(context: CallContext, name: string, args: JsonObject): Promise<ToolResult> {
    const entry = index.find(name);
    if (entry === undefined) throw unknownTool(context.identity, name);
    const outcome = await run(targets.forTool(entry), args, originOfInner(context));
    if (outcome.kind === "result") return outcome.result;
    throw outcome.kind === "failed"
      ? outcome.error
      : new GatewayError(outcome.code, outcome.reason, { hint: outcome.hint });
  }

  const service = createGatewayService({
    serverInfo: deps.serverInfo,
    index,
    policy,
    servers: featureSources,
    listed: (identity, serverId) =>
      listing.listed(index.tools, serverId, (entry) => isAllowed(identity, entry)),
    unknownTool,
    call: run,
    toolTarget: (entry) => targets.forTool(entry),
    featureTarget: (source, kind, name, method) => targets.forFeature(source, kind, name, method),
    scrubber: deps.scrubber,
    pageSize,
    run: now().toString(36),
    instructions: (identity) =>
      deps.scrubber.text(instructionsOf(sourcesFor(identity), find(identity, saveTool) !== undefined)),
  });
  index.add(meta);
  index.onChange((sourceIds) => service.changed("tools", sourceIds));

  /** The servers that `identity` may use something of. */
  function sourcesFor(identity: Identity): readonly FeatureSource[] {
    const isUsable = (id: string, kind: "resources" | "prompts", name: unknown) => {
      const names = featureNames(id, kind, String(name));
      return policy.decide(identity, names.id, names.wireName).kind === "allow";
    };
    const withTools = new Set(
      index.tools.filter((entry) => isAllowed(identity, entry)).map(({ tool }) => tool.sourceId),
    );
    return featureSources().filter(
      ({ id, features }) =>
        withTools.has(id) ||
        features.resources().some(({ uri }) => isUsable(id, "resources", uri)) ||
        features.prompts().some(({ name }) => isUsable(id, "prompts", name)),
    );
  }

  return {
    index,
    policy,
    service,
    underWay,
    quarantined: () =>
      [...index.quarantined, ...featureSources().flatMap(({ features }) => features.malformed())].map(
        ({ id, reason }) => ({ id, reason: deps.scrubber.text(reason) }),
      ),
    add(source) {
      const added: AddedSource = {
        source,
        features: toFeatureSource(source),
        known: new Set(),
        unsubscribe: source.onChange(({ kind }) => {
          if (kind === "resources" || kind === "prompts") checkLists(added);
          if (kind !== "tools") service.changed(kind, new Set([source.id]));
        }),
      };
      sources.push(added);
      checkLists(added);
      index.add(source);
    },
    remove(source) {
      const at = sources.findIndex((one) => one.source === source);
      if (at === -1) return;
      sources[at]?.unsubscribe();
      sources.splice(at, 1);
      index.remove(source);
      for (const kind of ["resources", "prompts"] as const) service.changed(kind, new Set([source.id]));
    },
    listTools: (identity) => index.tools.filter((entry) => isAllowed(identity, entry)).map(toSummary),
    search,
    find,
    call(identity, name, args, options = {}) {
      const entry = index.find(name);
      if (entry === undefined) {
        const error = unknownTool(identity, name);
        return Promise.resolve({ kind: "failed", callId: deps.newCallId(), error });
      }
      return run(targets.forTool(entry), args, originOfProgram(identity, options));
    },
    callInner,
  };
}

/** A source, and what the core keeps about it. */
interface AddedSource {
  readonly source: ToolSource;
  readonly features: (FeatureSource & { readonly features: CheckedFeatures }) | undefined;
  /** Ids of the malformed entries of its lists that were reported. */
  readonly known: Set<ToolId>;
  readonly unsubscribe: Unsubscribe;
}

function toFeatureSource(source: ToolSource): AddedSource["features"] {
  const { id, origin, features } = source;
  if (features === undefined) return undefined;
  return { id, origin, health: () => source.health(), features: checkFeatures(id, features) };
}

/** Which tools are listed (`serve.mode`, `serve.tools`). */
function createListing({ serve }: GatewayConfig) {
  const hidden = new ToolPatterns(serve.tools.hidden);
  const pinned = new ToolPatterns(serve.tools.pinned);
  const isMeta = ({ tool }: IndexedTool) => tool.origin === "meta";
  const isHidden = (entry: IndexedTool) =>
    !isMeta(entry) && hidden.find(entry.id, entry.wireName) !== undefined;

  return {
    isHidden,
    /** @param serverId lists the tools of one server; undefined those of all, as the mode says */
    listed(
      all: readonly IndexedTool[],
      serverId: string | undefined,
      isAllowed: (entry: IndexedTool) => boolean,
    ): readonly IndexedTool[] {
      const visible = all.filter((entry) => !isHidden(entry) && isAllowed(entry));
      if (serverId !== undefined) return visible.filter(({ tool }) => tool.sourceId === serverId);
      const tools = visible.filter((entry) => !isMeta(entry));
      const isSearch = serve.mode === "search" || (serve.mode === "auto" && tools.length > autoModeMaxTools);
      if (isSearch) {
        return visible.filter(
          (entry) => isMeta(entry) || pinned.find(entry.id, entry.wireName) !== undefined,
        );
      }
      // Where every tool is listed, finding is still of use; describing and calling by name are not.
      const { describe, call } = metaToolNames;
      return visible.filter(
        (entry) => !isMeta(entry) || (entry.wireName !== describe && entry.wireName !== call),
      );
    },
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

/** An inner call has its outer call's way back and authority. */
function originOfInner(context: CallContext): CallOrigin {
  return {
    ...context,
    wayBack: context,
    clientInfo: toClientInfo(context.session?.clientInfo),
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
    wayBack: {
      progress: (params) => options.onProgress?.(params),
      notify: () => {},
      ask: (method) =>
        Promise.reject(
          new McpError("MCP_CLIENT_CAPABILITY_MISSING", `Nobody can answer "${method}" for this call`),
        ),
    },
  };
}

/** Longest instructions of one server that are passed on, and of all together. */
const instructionsMaxLength = 4000;
const allInstructionsMaxLength = 32_000;

/** The tool that tells of composites, where there are any. */
const saveTool = "save_tool";

function instructionsOf(sources: readonly FeatureSource[], hasComposites: boolean): string {
  let text = [
    "Tools of several servers behind one endpoint. A tool's name is its server's name, two underscores, and the server's own name for it.",
    `Find tools by what they do with ${metaToolNames.search}.`,
    ...(hasComposites
      ? [`Make many calls in one step, or keep a program as a tool of its own: see ${saveTool}.`]
      : []),
  ].join("\n");
  for (const { id, features } of sources) {
    const own = features.instructions()?.trim() ?? "";
    if (own === "") continue;
    const part = `\n\n## ${id}\n${own.slice(0, instructionsMaxLength)}`;
    if (text.length + part.length > allInstructionsMaxLength) break;
    text += part;
  }
  return text;
}
