/**
 * The gateway as an MCP service: lists, calls, reads and notifications for
 * every view. View `""` shows all servers under prefixed names, view
 * `s/<server>` one server under its own. What a client may not use it does not
 * see.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import {
  type Listener,
  type ListenFilter,
  type McpService,
  metaOf,
  methodNotFound,
  type ServerInfo,
  type ServerSession,
  type ServiceRequest,
  type View,
} from "@toolcrib/mcp";
import type { Identity, ResourceWatcher, SourceChange, ToolDefinition } from "@toolcrib/tool";
import type { CallOrigin, CallTarget } from "../call/call-target.ts";
import { toArguments } from "../call/governed-call.ts";
import { paramsInvalid, promptNotFound, resourceNotFound, toolNotFound } from "../codes.ts";
import type { CallOutcome } from "../gateway.ts";
import { GatewayError } from "../gateway-error.ts";
import type { IndexedTool, ToolIndex } from "../index/tool-index.ts";
import type { ToolPolicy } from "../tool-policy.ts";
import {
  type FeatureSource,
  findPrompt,
  findReference,
  findResource,
  listPrompts,
  listResources,
  listResourceTemplates,
} from "./feature-routes.ts";
import { pageOf } from "./list-pages.ts";
import { toRpcFailure, toWireResult } from "./outcome-to-wire.ts";

/** What the service works with. */
export interface GatewayServiceDeps {
  readonly serverInfo: ServerInfo;
  readonly index: ToolIndex;
  readonly policy: ToolPolicy;
  /** Upstream servers in configured order. */
  readonly servers: () => readonly FeatureSource[];
  /** The tools that the endpoint of all servers lists for `identity`, in order. */
  readonly listed: (identity: Identity) => readonly IndexedTool[];
  /** Run a target through the governed call. */
  readonly call: (target: CallTarget, args: JsonObject, origin: CallOrigin) => Promise<CallOutcome>;
  /** What to run for a tool. */
  readonly toolTarget: (entry: IndexedTool) => CallTarget;
  /** What to run for a resource or a prompt of a server. */
  readonly featureTarget: (
    source: FeatureSource,
    kind: "resources" | "prompts",
    name: string,
    method: string,
  ) => CallTarget;
  /** Items on one page of a list. */
  readonly pageSize: number;
  /** Text for models about the endpoint of all servers. */
  readonly instructions: () => string;
}

/** The service, and the way to tell its clients of changes. */
export interface GatewayService extends McpService {
  /** A list of `source` changed (all tools, when it is absent). */
  changed(kind: SourceChange["kind"], sourceId: string | undefined): void;
  readonly sessionCount: number;
}

const invalidParams = -32602;

/** Create the service. */
export function createGatewayService(deps: GatewayServiceDeps): GatewayService {
  const { index, policy } = deps;
  const sessions = new Map<ServerSession, Map<string, ResourceWatcher>>();
  const listeners = new Set<Listener>();
  const views = new Map<string, { readonly generation: number; readonly tools: readonly ToolDefinition[] }>();

  function sourcesOf(view: View): readonly FeatureSource[] {
    const id = serverOfView(view);
    const servers = deps.servers();
    return id === undefined ? servers : servers.filter((server) => server.id === id);
  }

  function isAllowed(identity: Identity, id: string, wireName: string): boolean {
    return policy.decide(identity, id, wireName).kind === "allow";
  }

  /** The tool definitions of a view, as that client may see them; kept until the index changes. */
  function toolsOf(view: View, identity: Identity): readonly ToolDefinition[] {
    const key = `${view} ${identity.kind} ${identity.name}`;
    const kept = views.get(key);
    if (kept?.generation === index.generation) return kept.tools;
    const id = serverOfView(view);
    const tools =
      id === undefined
        ? deps.listed(identity).map(({ wireDefinition }) => wireDefinition)
        : index.tools
            .filter((entry) => entry.tool.sourceId === id && isAllowed(identity, entry.id, entry.wireName))
            .map(({ tool }) => tool.definition);
    if (views.size > 1000) views.clear();
    views.set(key, { generation: index.generation, tools });
    return tools;
  }

  function findTool(view: View, name: string): IndexedTool | undefined {
    const id = serverOfView(view);
    return id === undefined ? index.find(name) : index.findIn(id, name);
  }

  async function callTool(request: ServiceRequest): Promise<JsonObject> {
    const { name } = request.params;
    const entry = typeof name === "string" ? findTool(request.view, name) : undefined;
    if (entry === undefined) throw unknownTool(index, name);
    const args = toArguments(request.params["arguments"]);
    if (args === undefined) throw invalid('"arguments" must be an object');
    return toWireResult(await deps.call(deps.toolTarget(entry), args, toOrigin(request)));
  }

  async function readResource(request: ServiceRequest): Promise<JsonObject> {
    const { uri } = request.params;
    if (typeof uri !== "string") throw invalid('"uri" must be a string');
    const source = findResource(sourcesOf(request.view), uri);
    if (source === undefined) throw unknownResource(request, uri);
    const target = deps.featureTarget(source, "resources", uri, "resources/read");
    return toRpcFailure(await deps.call(target, withoutMeta(request.params), toOrigin(request)), request.era);
  }

  async function getPrompt(request: ServiceRequest): Promise<JsonObject> {
    const { name } = request.params;
    const isPrefixed = serverOfView(request.view) === undefined;
    const sources = sourcesOf(request.view);
    const found = typeof name === "string" ? findPrompt(sources, name, isPrefixed) : undefined;
    if (found === undefined) {
      throw new GatewayError(promptNotFound, `Unknown prompt: "${String(name)}"`, { rpcCode: invalidParams });
    }
    const target = deps.featureTarget(found.source, "prompts", found.name, "prompts/get");
    const args = { ...withoutMeta(request.params), name: found.name };
    return toRpcFailure(await deps.call(target, args, toOrigin(request)), request.era);
  }

  async function complete(request: ServiceRequest): Promise<JsonObject> {
    const isPrefixed = serverOfView(request.view) === undefined;
    const found = findReference(sourcesOf(request.view), request.params["ref"], isPrefixed);
    if (found === undefined) throw invalid('"ref" names no prompt or resource template');
    const name = String(found.ref["name"] ?? found.ref["uri"]);
    const kind = found.ref["type"] === "ref/prompt" ? "prompts" : "resources";
    const target = deps.featureTarget(found.source, kind, name, "completion/complete");
    const args = { ...withoutMeta(request.params), ref: found.ref };
    return toRpcFailure(await deps.call(target, args, toOrigin(request)), request.era);
  }

  async function subscribe(request: ServiceRequest): Promise<JsonObject> {
    const { session } = request;
    const { uri } = request.params;
    if (session === undefined) throw methodNotFound(request.method);
    if (typeof uri !== "string") throw invalid('"uri" must be a string');
    const watchers = sessions.get(session) ?? new Map<string, ResourceWatcher>();
    const source = findResource(sourcesOf(request.view), uri);
    if (source === undefined) throw unknownResource(request, uri);
    if (!isAllowed(request.identity, `${source.id}:resources/${uri}`, `${source.id}__resources/${uri}`)) {
      throw unknownResource(request, uri);
    }
    const known = watchers.get(uri);
    if (request.method === "resources/unsubscribe") {
      watchers.delete(uri);
      if (known !== undefined) await source.features.unwatch(uri, known);
    } else if (known === undefined) {
      const updated = (changed: string) =>
        session.notify("notifications/resources/updated", { uri: changed });
      const watcher: ResourceWatcher = { session, updated };
      watchers.set(uri, watcher);
      try {
        await source.features.watch(uri, watcher);
      } catch (error) {
        watchers.delete(uri);
        throw error;
      }
    }
    return {};
  }

  function list(request: ServiceRequest, key: string, items: readonly JsonObject[]): JsonObject {
    const edition = `${key}/${request.view}/${request.identity.name}/${index.generation}/${items.length}`;
    const page = pageOf(items, request.params["cursor"], edition, deps.pageSize);
    return page.nextCursor === undefined
      ? { [key]: page.items }
      : { [key]: page.items, nextCursor: page.nextCursor };
  }

  function visible(
    request: ServiceRequest,
    kind: "resources" | "prompts",
    items: (sources: readonly FeatureSource[]) => readonly JsonObject[],
    nameOf: (item: JsonObject) => unknown,
  ): readonly JsonObject[] {
    // Each source alone, so that a denied item of one does not hide an allowed one of another.
    const found = sourcesOf(request.view).flatMap((source) =>
      items([source]).filter((item) => {
        const name = String(nameOf(item));
        return isAllowed(request.identity, `${source.id}:${kind}/${name}`, `${source.id}__${kind}/${name}`);
      }),
    );
    const seen = new Set<unknown>();
    return found.filter((item) => !seen.has(nameOf(item)) && seen.add(nameOf(item)));
  }

  return {
    serverInfo: deps.serverInfo,
    get sessionCount() {
      return sessions.size;
    },
    capabilities(view) {
      const id = serverOfView(view);
      const server = deps.servers().find((one) => one.id === id);
      const all = {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
      };
      // A server that is down for the moment is offered with everything it may have.
      if (server === undefined || Object.keys(server.features.capabilities()).length === 0) return all;
      const own = server.features.capabilities();
      return Object.fromEntries(Object.entries(all).filter(([name]) => own[name] !== undefined));
    },
    instructions(view) {
      const id = serverOfView(view);
      if (id === undefined) return deps.instructions();
      return deps
        .servers()
        .find((server) => server.id === id)
        ?.features.instructions();
    },
    toolInputSchema: (view, _identity, name) => findTool(view, name)?.tool.definition.inputSchema,
    async handle(request) {
      const isPrefixed = serverOfView(request.view) === undefined;
      switch (request.method) {
        case "tools/call":
          return callTool(request);
        case "tools/list":
          return list(
            request,
            "tools",
            toolsOf(request.view, request.identity) as unknown as readonly JsonObject[],
          );
        case "resources/list":
          return list(
            request,
            "resources",
            visible(request, "resources", listResources, ({ uri }) => uri),
          );
        case "resources/templates/list": {
          const items = visible(
            request,
            "resources",
            listResourceTemplates,
            ({ uriTemplate }) => uriTemplate,
          );
          return list(request, "resourceTemplates", items);
        }
        case "prompts/list": {
          const items = visible(
            request,
            "prompts",
            (sources) => listPrompts(sources, isPrefixed),
            ({ name }) => name,
          );
          return list(request, "prompts", items);
        }
        case "resources/read":
          return readResource(request);
        case "prompts/get":
          return getPrompt(request);
        case "completion/complete":
          return complete(request);
        case "resources/subscribe":
        case "resources/unsubscribe":
          return subscribe(request);
        default:
          throw methodNotFound(request.method);
      }
    },
    sessionOpened(session) {
      sessions.set(session, new Map());
    },
    sessionClosed(session) {
      const watchers = sessions.get(session);
      sessions.delete(session);
      for (const [uri, watcher] of watchers ?? []) {
        const source = findResource(sourcesOf(session.view), uri);
        // The client is gone; a server that cannot be told forgets with its own session.
        void source?.features.unwatch(uri, watcher).catch(() => {});
      }
    },
    async listen(listener) {
      const { filter } = listener;
      const honoured: { -readonly [Key in keyof ListenFilter]: ListenFilter[Key] } = {};
      if (filter.toolsListChanged) honoured.toolsListChanged = true;
      if (filter.promptsListChanged) honoured.promptsListChanged = true;
      if (filter.resourcesListChanged) honoured.resourcesListChanged = true;
      const uris = await watchFor(listener, filter.resourceSubscriptions ?? []);
      if (uris.length > 0) honoured.resourceSubscriptions = uris;
      listeners.add(listener);
      listener.closed.addEventListener("abort", () => listeners.delete(listener), { once: true });
      return honoured;
    },
    changed(kind, sourceId) {
      if (kind === "health") return;
      const method = `notifications/${kind}/list_changed`;
      const concerns = (view: View) => {
        const id = serverOfView(view);
        return id === undefined || sourceId === undefined || id === sourceId;
      };
      for (const session of sessions.keys()) if (concerns(session.view)) session.notify(method, {});
      for (const listener of listeners) {
        if (concerns(listener.view) && listener.filter[`${kind}ListChanged`] === true)
          listener.notify(method, {});
      }
    },
  };

  /** Watch resources for a modern client until its stream ends; returns those that can be watched. */
  async function watchFor(listener: Listener, uris: readonly string[]): Promise<string[]> {
    const watched: string[] = [];
    const sources = sourcesOf(listener.view);
    for (const uri of uris.slice(0, 1000)) {
      const source = typeof uri === "string" ? findResource(sources, uri) : undefined;
      if (source === undefined) continue;
      if (!isAllowed(listener.identity, `${source.id}:resources/${uri}`, `${source.id}__resources/${uri}`))
        continue;
      const watcher: ResourceWatcher = {
        updated: (changed) => listener.notify("notifications/resources/updated", { uri: changed }),
      };
      try {
        await source.features.watch(uri, watcher);
      } catch {
        // Types and resources that cannot be honoured are left out of the acknowledgment.
        continue;
      }
      watched.push(uri);
      listener.closed.addEventListener(
        "abort",
        () => void source.features.unwatch(uri, watcher).catch(() => {}),
        {
          once: true,
        },
      );
    }
    return watched;
  }
}

/** The server of view `s/<server>`; undefined for the view of all. */
export function serverOfView(view: View): string | undefined {
  return view.startsWith("s/") ? view.slice(2) : undefined;
}

function toOrigin(request: ServiceRequest): CallOrigin {
  const { identity, era, session, wantsProgress, signal } = request;
  const info = request.clientInfo;
  return {
    identity,
    era,
    session,
    wantsProgress,
    signal,
    parent: undefined,
    clientInfo:
      info === undefined ? undefined : { name: String(info["name"]), version: String(info["version"]) },
    meta: passedOnMeta(request.params),
    progress: (params) => request.progress(params),
    notify: (method, params) => request.notify(method, params),
    ask: (method, params, askSignal) => request.ask(method, params, askSignal),
  };
}

/** `_meta` of a request less what belongs to this hop. */
function passedOnMeta(params: JsonObject): JsonObject | undefined {
  const meta = metaOf(params);
  if (meta === undefined) return undefined;
  const kept = Object.entries(meta).filter(
    ([key]) => key !== "progressToken" && !key.startsWith("io.modelcontextprotocol/"),
  );
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function withoutMeta(params: JsonObject): JsonObject {
  if (!isJsonObject(params["_meta"])) return params;
  const { _meta, ...rest } = params;
  return rest;
}

function unknownTool(index: ToolIndex, name: unknown): GatewayError {
  if (typeof name !== "string") return invalid('"name" must be a string');
  const similar = index.search.search(name.slice(0, 200).replace(/[_:.-]+/g, " "), { limit: 1 })[0];
  const hit = similar === undefined ? undefined : index.find(similar.id)?.wireName;
  return new GatewayError(toolNotFound, `Unknown tool: "${name.slice(0, 200)}"`, {
    rpcCode: invalidParams,
    hint: hit === undefined ? "see tools/list" : `did you mean "${hit}"?`,
  });
}

function unknownResource(request: ServiceRequest, uri: string): GatewayError {
  return new GatewayError(resourceNotFound, `Resource not found: "${uri.slice(0, 500)}"`, {
    // The modern era folded this code into invalid params.
    rpcCode: request.era === "modern" ? invalidParams : -32002,
    data: { uri },
  });
}

function invalid(message: string): GatewayError {
  return new GatewayError(paramsInvalid, message, { rpcCode: invalidParams });
}
