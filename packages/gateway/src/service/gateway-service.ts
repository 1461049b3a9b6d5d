/**
 * The gateway as an MCP service: lists, calls, reads and notifications for
 * every view. View `""` shows all servers under prefixed names, view
 * `s/<server>` one server under its own names. A client sees only what it may
 * use.
 */

import { InputStates } from "@toolcrib/admission";
import { declaredFor, TaskRequests, taskMethodPrefix, toTaskRequest } from "@toolcrib/extensions";
import {
  type FeatureKind,
  type FeatureSource,
  findPrompt,
  findReference,
  findResource,
  fromWireUri,
  type IndexedTool,
  isAppOnly,
  reasonAgainstPrompt,
  reasonAgainstResource,
  showsApps,
  withWireContents,
} from "@toolcrib/inventory";
import type { JsonObject } from "@toolcrib/json";
import {
  LegacyDefinitions,
  ListCache,
  type Listener,
  type ListenFilter,
  ListWatch,
  type McpService,
  methodNotFound,
  pageOf,
  type ServerInfo,
  type ServerSession,
  type ServiceRequest,
  type View,
} from "@toolcrib/mcp";
import {
  type Era,
  type Identity,
  identityKey,
  isInputRequired,
  isListedFor,
  isOperator,
  rightsKey,
} from "@toolcrib/tool";
import { originOfProgram } from "../call/call-origins.ts";
import type { CallOrigin, CallTarget } from "../call/call-target.ts";
import { toArguments } from "../call/check-values.ts";
import type { CallOutcome } from "../gateway.ts";
import type { GatewayError } from "../gateway-error.ts";
import { allowedValues, deniedUri } from "./completion-values.ts";
import { cutResult } from "./create-meta-source.ts";
import { allowedTo, type ListKey, listedItems, sourcesOf } from "./listed-items.ts";
import { forClient, isConcealed, toRpcFailure, toWireResult } from "./outcome-to-wire.ts";
import {
  completedOf,
  ownerOf,
  paramsError,
  promptError,
  referenceOf,
  resourceError,
  serverOfView,
  toOrigin,
  uriMaxLength,
  uriOf,
  withoutMeta,
} from "./request-params.ts";
import type { GatewayServiceDeps } from "./service-deps.ts";
import { type Subscribe, Subscriptions } from "./subscriptions.ts";
import { offeredOf } from "./view-capabilities.ts";

const firstRound: NonNullable<CallOrigin["rounds"]> = Object.freeze({});
const isForAll = () => true;
/** Whether a tool is listed for a client that shows no pages of apps. */
const isForModels = (tool: JsonObject) => !isAppOnly(tool);

/** Methods besides `tools/call` whose result can be questions. */
const askingMethods: ReadonlySet<string> = new Set(["resources/read", "prompts/get"]);

/** The service. */
export class GatewayService implements McpService {
  readonly serverInfo: ServerInfo;
  /** Open client sessions. */
  readonly sessions = new Set<ServerSession>();
  readonly #deps: GatewayServiceDeps;
  readonly #watch: ListWatch;
  readonly #subscriptions: Subscriptions;
  readonly #lists: ListCache<JsonObject>;
  readonly #states: InputStates;
  readonly #taskRequests: TaskRequests;
  readonly #legacyDefinitions = new LegacyDefinitions();
  readonly #changes = { resources: 0, prompts: 0 };

  constructor(deps: GatewayServiceDeps) {
    this.#deps = deps;
    this.serverInfo = deps.serverInfo;
    this.#states = new InputStates(deps);
    this.#taskRequests = new TaskRequests(deps);
    this.#subscriptions = new Subscriptions({
      sourceOf: (listener, uri) => this.#resourceSource(listener, uri),
      governed: async ({ identity, closed }, source, uri, subscribe) => {
        const target = this.#subscribeTarget(source, uri, subscribe);
        const origin = originOfProgram(identity, { signal: closed });
        toRpcFailure(await deps.call(target, { uri }, origin), "modern");
      },
      isAllowed: (identity, source, uri) =>
        allowedTo(deps, identity)(this.#entryOf(source) ?? source, "resources", uri),
      scrub: (uri) => deps.scrubber.text(uri),
      allows: (identity) => deps.relays.allows(identityKey(identity)),
    });
    this.#lists = new ListCache(deps.run);
    this.#watch = new ListWatch((kind, view, identity) => {
      const items = listedItems(deps, kind, view, identity);
      return kind === "resources"
        ? [...items, ...listedItems(deps, "resourceTemplates", view, identity)]
        : items;
    });
  }

  /** Capabilities of a view. A server that is down at the moment is offered with all of them. */
  capabilities(view: View, identity: Identity, era: Era = "legacy"): JsonObject {
    const isUsed = ({ id }: FeatureSource) =>
      serverOfView(view) !== undefined || this.#deps.visibility.isUsable(identity, id);
    const servers = sourcesOf(this.#deps, view).filter(isUsed);
    const declared = declaredFor(
      servers.map(({ features }) => features.capabilities()),
      era,
      { mayListTasks: TaskRequests.mayList(identity) },
    );
    const own = this.#serverOf(view)?.features.capabilities() ?? {};
    return { ...offeredOf(own), ...this.#deps.scrubber.value(declared) };
  }

  /** Text for models about a view. */
  instructions(view: View, identity: Identity): string | undefined {
    if (serverOfView(view) === undefined)
      return this.#deps.scrubber.text(this.#deps.tools.instructions(identity));
    return this.#deps.scrubber.value(this.#serverOf(view)?.features.instructions());
  }

  /** The input schema of a tool that `identity` may use. */
  toolInputSchema(view: View, identity: Identity, name: string): JsonObject | undefined {
    const entry = this.#findTool(view, name);
    if (entry === undefined || !isListedFor(entry.tool, identity)) return undefined;
    return this.#deps.policy.allowsListing(identity, entry) ? entry.shownDefinition.inputSchema : undefined;
  }

  /** Answers a request of a client. @throws {CodedError} which becomes a JSON-RPC error */
  handle(request: ServiceRequest): Promise<JsonObject> {
    return request.method === "tools/call" ? this.#callTool(request) : this.#answer(request);
  }

  sessionOpened(session: ServerSession): void {
    this.sessions.add(session);
    this.#watch.add(session);
  }

  sessionRestored(session: ServerSession, subscriptions: readonly string[]): void {
    this.sessions.add(session);
    void this.#restore(session, subscriptions);
  }

  /** Continues a session of an earlier run when the lists of the sources are known, so that they are announced once. */
  async #restore(session: ServerSession, uris: readonly string[]): Promise<void> {
    const { view } = session;
    await this.#deps.untilListed({ identity: session.identity, session }, serverOfView(view));
    if (session.closed.aborted) return;
    this.#watch.addContinued(session, this.capabilities(view, session.identity));
    await this.#subscriptions.restore(session, uris);
  }

  sessionClosed(session: ServerSession): void {
    this.sessions.delete(session);
    this.#watch.remove(session);
    this.#subscriptions.end(session);
  }

  /** Adds a stream of notifications. @returns the part of its filter that is honored */
  async listen(listener: Listener): Promise<ListenFilter> {
    const { filter } = listener;
    TaskRequests.assertMayListen(listener);
    const honored: { -readonly [Key in keyof ListenFilter]: ListenFilter[Key] } = {};
    const kinds = (["tools", "prompts", "resources"] as const).filter((kind) => filter[`${kind}ListChanged`]);
    for (const kind of kinds) honored[`${kind}ListChanged`] = true;
    if (!listener.closed.aborted) {
      this.#watch.add(listener, kinds);
      listener.closed.addEventListener("abort", () => this.#watch.remove(listener), { once: true });
    }
    const allowed = (filter.resourceSubscriptions ?? []).filter((uri) => {
      const source = uri.length > uriMaxLength ? undefined : this.#resourceSource(listener, uri);
      return source !== undefined && allowedTo(this.#deps, listener.identity)(source, "resources", uri);
    });
    const uris = await this.#subscriptions.listen(listener, allowed);
    if (uris.length > 0) honored.resourceSubscriptions = uris;
    const taskIds = this.#taskRequests.listen(listener, serverOfView(listener.view));
    if (taskIds.length > 0) honored.taskIds = taskIds;
    return honored;
  }

  /** Notifies the clients whose list is another one after a change of the sources `sourceIds`. */
  changed(kind: "tools" | FeatureKind, sourceIds: ReadonlySet<string>): void {
    if (kind !== "tools") this.#changes[kind] += 1;
    const { visibility } = this.#deps;
    this.#watch.changed(kind, (view, identity) => {
      const id = serverOfView(view);
      if (id !== undefined) return sourceIds.has(id);
      return sourceIds.values().some((one) => visibility.mayReach(identity, one));
    });
  }

  /** Notifies the clients whose lists are other ones under other policies. */
  policyReplaced(): void {
    for (const kind of ["tools", "resources", "prompts"] as const) this.#watch.changed(kind, () => true);
  }

  /** Notifies nobody until the returned function is called, and watches resources where they are now. */
  reconfigured(): () => void {
    this.policyReplaced();
    this.#subscriptions.renew((source) => this.#entryOf(source) !== undefined);
    return this.#watch.hold();
  }

  /** A source with the facts about it now; undefined for one that has left. */
  #entryOf({ source }: FeatureSource): FeatureSource | undefined {
    return this.#deps.roster.featureSources.find((one) => one.source === source);
  }

  #answer(request: ServiceRequest): Promise<JsonObject> {
    switch (request.method) {
      case "tools/list":
        return this.#list(request, "tools");
      case "resources/list":
        return this.#list(request, "resources");
      case "resources/templates/list":
        return this.#list(request, "resourceTemplates");
      case "prompts/list":
        return this.#list(request, "prompts");
      case "resources/read":
        return this.#readResource(request);
      case "prompts/get":
        return this.#getPrompt(request);
      case "completion/complete":
        return this.#complete(request);
      case "resources/subscribe":
        return this.#subscribe(request);
      case "resources/unsubscribe":
        return this.#unsubscribe(request);
      default:
        return request.method.startsWith(taskMethodPrefix)
          ? this.#taskRequests.answer(request, serverOfView(request.view))
          : Promise.reject(methodNotFound(request.method));
    }
  }

  async #callTool(request: ServiceRequest): Promise<JsonObject> {
    const { params, view, identity } = request;
    const { name } = params;
    if (typeof name !== "string") throw paramsError('"name" must be a string');
    const found = this.#deps.index.listedFor(identity, this.#findTool(view, name));
    const entry = found instanceof Promise ? await found : found;
    const target =
      entry === undefined
        ? await this.#deps.lateTarget({
            identity,
            name,
            serverId: serverOfView(view),
            signal: request.signal,
          })
        : this.#deps.targets.forTool(entry, serverOfView(view) === undefined);
    const args = toArguments(params["arguments"]);
    const { policy, tasks } = this.#deps;
    const isListed = () => policy.allowsListing(identity, target.subject);
    if (args === undefined && isListed()) throw paramsError('"arguments" must be an object');
    const given = args ?? {};
    const rounds = this.#roundsOf(request, target, given);
    const origin = toOrigin(request, rounds);
    const called = () => (isListed() ? this.#taskRequests.calledTool(target) : undefined);
    const task = toTaskRequest(request, target.taskSupport, called);
    if (task === undefined) return await this.#madeCall(request, target, given, origin);
    return tasks.run(request, task, (more) => this.#madeCall(request, target, given, { ...origin, ...more }));
  }

  /** Calls a tool, and returns the result for its client. */
  async #madeCall(
    request: ServiceRequest,
    target: CallTarget,
    args: JsonObject,
    origin: CallOrigin,
  ): Promise<JsonObject> {
    const { identity, era, view, params } = request;
    const { call, policy, unknownTools } = this.#deps;
    const outcome = await call(target, args, origin);
    if (isConcealed(outcome, identity, target, policy))
      throw unknownTools.errorFor(identity, String(params["name"]), serverOfView(view));
    const result = toWireResult(forClient(outcome, identity, target), era);
    if (isInputRequired(result)) return this.#sealed(result, request, target, args, outcome);
    return serverOfView(view) === undefined ? cutResult(this.#deps, identity, target, args, result) : result;
  }

  /** The round of questions that a request belongs to; undefined where the client is asked while its call runs. */
  #roundsOf(
    { era, params, identity }: ServiceRequest,
    target: CallTarget,
    args: JsonObject,
  ): CallOrigin["rounds"] {
    if (era === "legacy") return undefined;
    const { inputResponses, requestState } = params;
    if (inputResponses === undefined && requestState === undefined) return firstRound;
    const rounds = this.#states.open(params, ownerOf(identity, target, args));
    if (typeof rounds !== "string") return rounds;
    throw paramsError(rounds, "call again without requestState and inputResponses");
  }

  /** Returns the questions of a call with their state, which only the next round of the same call can use. */
  #sealed(
    result: JsonObject,
    { identity }: ServiceRequest,
    target: CallTarget,
    args: JsonObject,
    outcome: CallOutcome,
  ): JsonObject {
    const isApproved = outcome.kind === "result" && outcome.isApproved === true;
    return this.#states.seal(result, ownerOf(identity, target, args), { callId: outcome.callId, isApproved });
  }

  async #readResource(request: ServiceRequest): Promise<JsonObject> {
    const asked = uriOf(request);
    const page = this.#pageOf(request.view, asked);
    const { uri } = page ?? { uri: asked };
    const source = page?.source ?? (await this.#found(request, () => this.#resourceSource(request, uri)));
    if (source === undefined) throw this.#missingResource(request, asked);
    const target = this.#deps.targets.forFeature(source, "resources", uri, "resources/read");
    const params = { ...withoutMeta(request.params), uri };
    const result = await this.#callFeature(request, target, params, () => resourceError(request, asked));
    return page === undefined ? result : withWireContents(result, source.id);
  }

  /** The page of an app that a URI of the endpoint of all servers names. */
  #pageOf(view: View, asked: string) {
    const named = serverOfView(view) === undefined ? fromWireUri(asked) : undefined;
    const source = named && sourcesOf(this.#deps, view).find(({ id }) => id === named.sourceId);
    return named === undefined || source === undefined ? undefined : { source, uri: named.uri };
  }

  async #getPrompt(request: ServiceRequest): Promise<JsonObject> {
    const { name } = request.params;
    const isPrefixed = serverOfView(request.view) === undefined;
    const find = () =>
      typeof name === "string"
        ? findPrompt(sourcesOf(this.#deps, request.view), name, isPrefixed)
        : undefined;
    const found = await this.#found(request, find);
    if (found === undefined) {
      const { view, identity } = request;
      const reason =
        typeof name === "string"
          ? reasonAgainstPrompt(
              sourcesOf(this.#deps, view),
              name,
              allowedTo(this.#deps, identity),
              isPrefixed,
            )
          : undefined;
      throw promptError(name, reason && this.#deps.scrubber.text(reason));
    }
    const target = this.#deps.targets.forFeature(found.source, "prompts", found.name, "prompts/get");
    return this.#callFeature(request, target, { ...withoutMeta(request.params), name: found.name }, () =>
      promptError(name),
    );
  }

  async #complete(request: ServiceRequest): Promise<JsonObject> {
    const isPrefixed = serverOfView(request.view) === undefined;
    const isAllowed = allowedTo(this.#deps, request.identity);
    const reference = referenceOf(request);
    const completed = completedOf(request);
    const found = await this.#found(request, () =>
      findReference(sourcesOf(this.#deps, request.view), reference, isAllowed, isPrefixed),
    );
    const unknown = () => paramsError('"ref" names no prompt or resource template');
    if (found === undefined) throw unknown();
    const { source, ref } = found;
    const complete = (kind: FeatureKind, name: string) => {
      const target = this.#deps.targets.forFeature(source, kind, name, "completion/complete");
      return this.#callFeature(request, target, { ref: { ...ref }, ...completed }, unknown);
    };
    if (ref.type === "ref/prompt") return complete("prompts", ref.name);
    const allows = (uri: string) => isAllowed(source, "resources", uri);
    // A call about a denied URI is denied, and recorded.
    const result = await complete("resources", deniedUri(ref.uri, completed, allows) ?? ref.uri);
    return allowedValues(result, ref.uri, completed, allows);
  }

  /** @param unknown makes the error for a name that does not exist, which is also that of a denied one */
  async #callFeature(
    request: ServiceRequest,
    target: CallTarget,
    args: JsonObject,
    unknown: () => GatewayError,
  ): Promise<JsonObject> {
    const rounds = askingMethods.has(target.method) ? this.#roundsOf(request, target, args) : undefined;
    const outcome = await this.#deps.call(target, args, toOrigin(request, rounds));
    const { identity } = request;
    if (isConcealed(outcome, identity, target, this.#deps.policy)) throw unknown();
    const result = toRpcFailure(forClient(outcome, identity, target), request.era);
    return isInputRequired(result) ? this.#sealed(result, request, target, args, outcome) : result;
  }

  async #subscribe(request: ServiceRequest): Promise<JsonObject> {
    const { session } = request;
    if (session === undefined) throw methodNotFound(request.method);
    const uri = uriOf(request);
    const source = await this.#found(request, () => this.#resourceSource(request, uri));
    if (source === undefined) throw this.#missingResource(request, uri);
    const add = (signal: AbortSignal) => this.#subscriptions.add(session, source, uri, signal);
    const target = this.#subscribeTarget(source, uri, add);
    return this.#callFeature(request, target, withoutMeta(request.params), () => resourceError(request, uri));
  }

  #subscribeTarget(source: FeatureSource, uri: string, subscribe: Subscribe): CallTarget {
    const execute: CallTarget["execute"] = async (_args, { signal }) => {
      await subscribe(signal);
      return {};
    };
    return this.#deps.targets.forFeatureAction(source, "resources", uri, "resources/subscribe", execute);
  }

  async #unsubscribe(request: ServiceRequest): Promise<JsonObject> {
    const { session } = request;
    if (session === undefined) throw methodNotFound(request.method);
    await this.#subscriptions.remove(session, uriOf(request));
    return {};
  }

  /** Finds a resource or prompt. If there is none, searches again after the lists of starting sources are known. */
  async #found<Found>(request: ServiceRequest, find: () => Found | undefined): Promise<Found | undefined> {
    const found = find();
    if (found !== undefined) return found;
    const waiting = this.#deps.untilListed(request, serverOfView(request.view));
    if (waiting === undefined) return undefined;
    await waiting;
    return find();
  }

  /** One page of the list `key` for the client of `request`. */
  async #list(request: ServiceRequest, key: ListKey): Promise<JsonObject> {
    const { view, identity, params, era } = request;
    const { index, policy, scrubber, pageSize, untilListed } = this.#deps;
    const waiting = untilListed(request, serverOfView(view));
    if (waiting !== undefined) await waiting;
    const { prompts, resources } = this.#changes;
    // Definitions of every kind decide which servers wait, and for whom `list_waiting_servers` is listed.
    const state =
      key === "tools" ? index.generation + prompts + resources : key === "prompts" ? prompts : resources;
    const toShown = (item: JsonObject) =>
      scrubber.definition(key === "tools" && era === "legacy" ? this.#legacyDefinitions.of(item) : item);
    // A secret that is learned and a policy that is replaced make every list stale: all numbers only grow.
    const isFor = key === "tools" && !showsApps(request.clientCapabilities) ? isForModels : isForAll;
    const list = this.#lists.get(
      `${key} ${view} ${era} ${isFor === isForAll} ${isOperator(identity)} ${rightsKey(identity)}`,
      state + scrubber.generation + policy.generation,
      () => listedItems(this.#deps, key, view, identity).filter(isFor).map(toShown),
    );
    if (key === "tools" && params["cursor"] === undefined) {
      this.#deps.tools.countList(list.items, identity, serverOfView(view));
    }
    const page = pageOf(list.items, params["cursor"], `${key} ${list.edition}`, pageSize);
    return page.nextCursor === undefined
      ? { [key]: page.items }
      : { [key]: page.items, nextCursor: page.nextCursor };
  }

  #findTool(view: View, name: string): IndexedTool | undefined {
    const id = serverOfView(view);
    return id === undefined ? this.#deps.index.find(name) : this.#deps.index.findIn(id, name);
  }

  #serverOf(view: View): FeatureSource | undefined {
    const id = serverOfView(view);
    return this.#deps.roster.featureSources.find((source) => source.id === id);
  }

  #missingResource(request: ServiceRequest, uri: string): GatewayError {
    const { view, identity } = request;
    const reason = reasonAgainstResource(sourcesOf(this.#deps, view), uri, allowedTo(this.#deps, identity));
    return resourceError(request, uri, reason && this.#deps.scrubber.text(reason));
  }

  /** The source that answers for `uri` to the client of `request`. */
  #resourceSource(
    request: Pick<ServiceRequest, "view" | "identity">,
    uri: string,
  ): FeatureSource | undefined {
    return findResource(sourcesOf(this.#deps, request.view), uri, allowedTo(this.#deps, request.identity));
  }
}
