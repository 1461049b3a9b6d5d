/**
 * The gateway as an MCP service: lists, calls, reads and notifications for
 * every view. View `""` shows all servers under prefixed names, view
 * `s/<server>` one server under its own. What a client may not use it does not
 * see.
 */

import { isCodedError } from "@toolcrib/diagnostics";
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
import type { SecretScrubber } from "@toolcrib/redaction";
import { type Identity, identityKey, type SourceChange } from "@toolcrib/tool";
import type { CallOrigin, CallTarget } from "../call/call-target.ts";
import { featureNames } from "../call/call-targets.ts";
import { toArguments } from "../call/governed-call.ts";
import { scrubError } from "../call/scrub-error.ts";
import type { CallOutcome } from "../gateway.ts";
import { GatewayError } from "../gateway-error.ts";
import type { IndexedTool, ToolIndex } from "../index/tool-index.ts";
import type { Decision, ToolPolicy } from "../tool-policy.ts";
import {
  type FeatureSource,
  findPrompt,
  findReference,
  findResource,
  type IsAllowed,
  listPrompts,
  listResources,
  listResourceTemplates,
} from "./feature-routes.ts";
import { keepLegacyDefinitions } from "./legacy-definitions.ts";
import { keepLists, pageOf } from "./list-pages.ts";
import { toRpcFailure, toWireError, toWireResult } from "./outcome-to-wire.ts";
import { createSubscriptions } from "./subscriptions.ts";
import type { UnknownTool } from "./unknown-tool.ts";

/** What the service works with. */
export interface GatewayServiceDeps {
  readonly serverInfo: ServerInfo;
  readonly index: ToolIndex;
  readonly policy: ToolPolicy;
  /** Upstream servers in configured order. */
  readonly servers: () => readonly FeatureSource[];
  /** The tools that are listed for `identity`, in order: of one server, or of the endpoint of all. */
  readonly listed: (identity: Identity, serverId: string | undefined) => readonly IndexedTool[];
  /** The error for a tool that is not there. */
  readonly unknownTool: UnknownTool;
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
  /** Takes known secrets out of what is listed, and out of what fails. */
  readonly scrubber: SecretScrubber;
  /** Items on one page of a list. */
  readonly pageSize: number;
  /** Differs between two runs of the program. */
  readonly run: string;
  /** Text for models about the endpoint of all servers. */
  readonly instructions: (identity: Identity) => string;
}

/** The service, and the way to tell its clients of changes. */
export interface GatewayService extends McpService {
  /** A list of the sources `sourceIds` changed. */
  changed(kind: SourceChange["kind"], sourceIds: ReadonlySet<string>): void;
  readonly sessionCount: number;
}

const invalidParams = -32602;
/** Longest URI of a resource that is read or watched. */
const uriMaxLength = 8192;

/** Create the service. */
export function createGatewayService(deps: GatewayServiceDeps): GatewayService {
  const { index, policy } = deps;
  const sessions = new Set<ServerSession>();
  const listeners = new Set<Listener>();
  const subscriptions = createSubscriptions(resourceOf);
  const lists = keepLists<JsonObject>(deps.run);
  const legacyForms = keepLegacyDefinitions();
  const changes = { resources: 0, prompts: 0 };

  function sourcesOf(view: View): readonly FeatureSource[] {
    const id = serverOfView(view);
    const servers = deps.servers();
    return id === undefined ? servers : servers.filter((server) => server.id === id);
  }

  function decide(
    identity: Identity,
    source: FeatureSource,
    kind: "resources" | "prompts",
    name: string,
  ): Decision {
    const { id, wireName } = featureNames(source.id, kind, name);
    return policy.decide(identity, id, wireName);
  }

  function allowedTo(identity: Identity): IsAllowed {
    return (source, kind, name) => decide(identity, source, kind, name).kind === "allow";
  }

  function isUsable(identity: Identity, entry: IndexedTool): boolean {
    return policy.decide(identity, entry.id, entry.wireName).kind === "allow";
  }

  function findTool(view: View, name: string): IndexedTool | undefined {
    const id = serverOfView(view);
    return id === undefined ? index.find(name) : index.findIn(id, name);
  }

  /** The definitions of a view's tools; each keeps its identity while it does not change. */
  function toolsOf(view: View, identity: Identity): readonly JsonObject[] {
    const id = serverOfView(view);
    const tools = deps
      .listed(identity, id)
      .map(({ tool, wireDefinition }) => (id === undefined ? wireDefinition : tool.definition));
    return tools as unknown as readonly JsonObject[];
  }

  async function callTool(request: ServiceRequest): Promise<JsonObject> {
    const { name } = request.params;
    if (typeof name !== "string") throw invalid('"name" must be a string');
    const entry = findTool(request.view, name);
    if (entry === undefined) throw deps.unknownTool(request.identity, name, serverOfView(request.view));
    const args = toArguments(request.params["arguments"]);
    if (args === undefined) throw invalid('"arguments" must be an object');
    return toWireResult(await deps.call(deps.toolTarget(entry), args, toOrigin(request)));
  }

  /** The source that answers for `uri` to the client of `request`. */
  function resourceOf(
    request: Pick<ServiceRequest, "view" | "identity">,
    uri: string,
  ): FeatureSource | undefined {
    return findResource(sourcesOf(request.view), uri, allowedTo(request.identity));
  }

  async function readResource(request: ServiceRequest): Promise<JsonObject> {
    const uri = uriOf(request);
    const source = resourceOf(request, uri);
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
      throw new GatewayError("PROMPT_NOT_FOUND", `Unknown prompt: "${String(name)}"`, {
        rpcCode: invalidParams,
      });
    }
    const target = deps.featureTarget(found.source, "prompts", found.name, "prompts/get");
    const args = { ...withoutMeta(request.params), name: found.name };
    return toRpcFailure(await deps.call(target, args, toOrigin(request)), request.era);
  }

  async function complete(request: ServiceRequest): Promise<JsonObject> {
    const isPrefixed = serverOfView(request.view) === undefined;
    const sources = sourcesOf(request.view);
    const found = findReference(sources, request.params["ref"], allowedTo(request.identity), isPrefixed);
    if (found === undefined) throw invalid('"ref" names no prompt or resource template');
    const name = String(found.ref["name"] ?? found.ref["uri"]);
    const kind = found.ref["type"] === "ref/prompt" ? "prompts" : "resources";
    const target = deps.featureTarget(found.source, kind, name, "completion/complete");
    const args = { ...withoutMeta(request.params), ref: found.ref };
    return toRpcFailure(await deps.call(target, args, toOrigin(request)), request.era);
  }

  async function subscribe(request: ServiceRequest): Promise<JsonObject> {
    const { session, identity } = request;
    if (session === undefined) throw methodNotFound(request.method);
    const uri = uriOf(request);
    if (request.method === "resources/unsubscribe") {
      await subscriptions.remove(session, uri);
      return {};
    }
    const source = resourceOf(request, uri);
    if (source === undefined) throw unknownResource(request, uri);
    const decision = decide(identity, source, "resources", uri);
    if (decision.kind === "deny") {
      const { code, reason, hint } = decision;
      throw new GatewayError(code, reason, { rpcCode: invalidParams, hint });
    }
    try {
      await subscriptions.add(session, source, uri);
    } catch (error) {
      if (!isCodedError(error)) throw error;
      throw toWireError(scrubError(deps.scrubber, error), request.era);
    }
    return {};
  }

  /** One page of the list `key` for the client of `request`. */
  function list(
    request: ServiceRequest,
    key: "tools" | "resources" | "resourceTemplates" | "prompts",
  ): JsonObject {
    const { view, identity, params, era } = request;
    const state =
      key === "tools" ? index.generation : key === "prompts" ? changes.prompts : changes.resources;
    const toShown = (item: JsonObject) =>
      deps.scrubber.value(key === "tools" && era === "legacy" ? legacyForms.of(item) : item);
    const kept = lists.get(`${key} ${view} ${era} ${identityKey(identity)}`, state, () =>
      itemsOf(key, view, identity).map(toShown),
    );
    const page = pageOf(kept.items, params["cursor"], `${key} ${kept.edition}`, deps.pageSize);
    return page.nextCursor === undefined
      ? { [key]: page.items }
      : { [key]: page.items, nextCursor: page.nextCursor };
  }

  function itemsOf(key: string, view: View, identity: Identity): readonly JsonObject[] {
    const isAllowed = allowedTo(identity);
    if (key === "tools") return toolsOf(view, identity);
    if (key === "resources") return listResources(sourcesOf(view), isAllowed);
    if (key === "resourceTemplates") return listResourceTemplates(sourcesOf(view), isAllowed);
    return listPrompts(sourcesOf(view), isAllowed, serverOfView(view) === undefined);
  }

  async function answer(request: ServiceRequest): Promise<JsonObject> {
    switch (request.method) {
      case "tools/list":
        return list(request, "tools");
      case "resources/list":
        return list(request, "resources");
      case "resources/templates/list":
        return list(request, "resourceTemplates");
      case "prompts/list":
        return list(request, "prompts");
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
      const offered = Object.entries(all).filter(([name]) => own[name] !== undefined);
      return Object.fromEntries(offered);
    },
    instructions(view, identity) {
      const id = serverOfView(view);
      if (id === undefined) return deps.instructions(identity);
      const server = deps.servers().find((one) => one.id === id);
      return deps.scrubber.value(server?.features.instructions());
    },
    toolInputSchema(view, identity, name) {
      const entry = findTool(view, name);
      if (entry === undefined || !isUsable(identity, entry)) return undefined;
      return entry.tool.definition.inputSchema;
    },
    handle: (request) => (request.method === "tools/call" ? callTool(request) : answer(request)),
    sessionOpened(session) {
      sessions.add(session);
    },
    sessionClosed(session) {
      sessions.delete(session);
      subscriptions.end(session);
    },
    async listen(listener) {
      const { filter } = listener;
      const honoured: { -readonly [Key in keyof ListenFilter]: ListenFilter[Key] } = {};
      if (filter.toolsListChanged) honoured.toolsListChanged = true;
      if (filter.promptsListChanged) honoured.promptsListChanged = true;
      if (filter.resourcesListChanged) honoured.resourcesListChanged = true;
      if (!listener.closed.aborted) {
        listeners.add(listener);
        listener.closed.addEventListener("abort", () => listeners.delete(listener), { once: true });
      }
      const allowed = (filter.resourceSubscriptions ?? []).filter((uri) => {
        const source = uri.length > uriMaxLength ? undefined : resourceOf(listener, uri);
        return source !== undefined && allowedTo(listener.identity)(source, "resources", uri);
      });
      const uris = await subscriptions.listen(listener, allowed);
      if (uris.length > 0) honoured.resourceSubscriptions = uris;
      return honoured;
    },
    changed(kind, sourceIds) {
      if (kind === "health") return;
      if (kind !== "tools") changes[kind] += 1;
      const method = `notifications/${kind}/list_changed`;
      const concerns = (view: View) => {
        const id = serverOfView(view);
        return id === undefined || sourceIds.has(id);
      };
      for (const session of sessions) if (concerns(session.view)) session.notify(method, {});
      for (const listener of listeners) {
        if (concerns(listener.view) && listener.filter[`${kind}ListChanged`] === true)
          listener.notify(method, {});
      }
    },
  };
}

/** The server of view `s/<server>`; undefined for the view of all. */
export function serverOfView(view: View): string | undefined {
  return view.startsWith("s/") ? view.slice(2) : undefined;
}

function toOrigin(request: ServiceRequest): CallOrigin {
  const { identity, era, session, wantsProgress, signal } = request;
  return {
    identity,
    era,
    session,
    wantsProgress,
    signal,
    parent: undefined,
    clientInfo: toClientInfo(request.clientInfo),
    meta: passedOnMeta(request.params),
    wayBack: request,
  };
}

/** What a client's software says of itself, as the record keeps it. */
export function toClientInfo(info: unknown): CallOrigin["clientInfo"] {
  if (!isJsonObject(info)) return undefined;
  return {
    name: String(info["name"]).slice(0, clientInfoMaxLength),
    version: String(info["version"]).slice(0, clientInfoMaxLength),
  };
}

/** Longest name and version of a client's software. */
const clientInfoMaxLength = 100;

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

/** @throws {GatewayError} `PARAMS_INVALID` */
function uriOf({ params }: ServiceRequest): string {
  const { uri } = params;
  if (typeof uri !== "string") throw invalid('"uri" must be a string');
  if (uri.length > uriMaxLength) throw invalid(`"uri" is longer than ${uriMaxLength} characters`);
  return uri;
}

function unknownResource(request: ServiceRequest, uri: string): GatewayError {
  return new GatewayError("RESOURCE_NOT_FOUND", `Resource not found: "${uri.slice(0, 500)}"`, {
    // The modern era folded this code into invalid params.
    rpcCode: request.era === "modern" ? invalidParams : -32002,
    data: { uri },
  });
}

function invalid(message: string): GatewayError {
  return new GatewayError("PARAMS_INVALID", message, { rpcCode: invalidParams });
}
