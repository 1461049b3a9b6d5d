/**
 * The part of a gateway that neither listens nor starts anything: roster,
 * index, policy, governed call, MCP service. `startGateway` opens sources for
 * it and serves it over HTTP; an embedding program adds its own functions.
 */

import type { CallLimits, Pauses } from "@toolcrib/admission";
import {
  Approvals,
  CallJournals,
  createGuards,
  HeldDefinitions,
  holdBy,
  isNotApproved,
  LabelTracker,
  policyDigestOf,
  RelayLimit,
  type WaitingServer,
} from "@toolcrib/admission";
import { clientKeysOf } from "@toolcrib/config-changes";
import { ClientTools, LongResults, type MetaSource } from "@toolcrib/discovery";
import { Tasks } from "@toolcrib/extensions";
import type { IndexedTool } from "@toolcrib/inventory";
import {
  createGatewayPolicy,
  FirstContact,
  type GatewayPolicy,
  type ListingClient,
  ownFacts,
  type PolicyTargets,
  policyTargetsOf,
  SourceRoster,
  selectByKind,
  ToolIndex,
  toFinding,
  Visibility,
} from "@toolcrib/inventory";
import { type JsonObject, SchemaValidator } from "@toolcrib/json";
import { FairShare, InFlight } from "@toolcrib/lifecycle";
import {
  DefinitionPins,
  Quarantine,
  type QuarantinedDefinition,
  type QuarantineFinding,
} from "@toolcrib/store";
import {
  type CallContext,
  type Identity,
  localIdentity,
  ownNamespace,
  type Tool,
  type ToolResult,
} from "@toolcrib/tool";
import { ParkedCalls } from "@toolcrib/upstream";
import { CallLog } from "./call/call-log.ts";
import { originOfInner, originOfProgram } from "./call/call-origins.ts";
import type { CallOrigin, CallTarget } from "./call/call-target.ts";
import { CallTargets } from "./call/call-targets.ts";
import { executionRules } from "./call/execution-rules.ts";
import { governedCall } from "./call/governed-call.ts";
import type { GovernedCallDeps } from "./call/governed-call-deps.ts";
import { observedCall } from "./call/observed-call.ts";
import { resumeTasks } from "./call/resume-tasks.ts";
import type { CoreConfig, GatewayCoreDeps, LiveParts, Program } from "./core-config.ts";
import { type CoreSettings, callDepsOf, coreSettingsOf, hidingOf } from "./core-settings.ts";
import type { CallOptions, CallOutcome, DiscoveryStatus, ToolHit, ToolSummary } from "./gateway.ts";
import type { GatewayError } from "./gateway-error.ts";
import { createMetaSource, type SearchMeaning, toHit } from "./service/create-meta-source.ts";
import { GatewayService } from "./service/gateway-service.ts";
import { toInnerResult } from "./service/outcome-to-wire.ts";
import { UnknownTools } from "./service/unknown-tool.ts";
import { LateTools } from "./sources/late-tools.ts";
import { toSummary, withDeclared } from "./tool-summary.ts";

/** Greatest depth of inner calls. @limit client */
const maxCallDepth = 16;
/** Items on one page of an MCP list. @limit client */
const pageSize = 1000;

/** A gateway that serves no transport by itself. */
export class GatewayCore {
  readonly index: ToolIndex;
  readonly policy: GatewayPolicy;
  readonly roster: SourceRoster;
  readonly service: GatewayService;
  readonly visibility: Visibility;
  /** The tools that each client may use, finds and is listed. */
  readonly tools: ClientTools;
  /** Results that clients read in parts. */
  readonly results: LongResults;
  /** Definitions and calls that wait for the operator. */
  readonly approvals: Approvals;
  /** Pauses of the operator. */
  readonly pauses: Pauses;
  readonly #definitionPins: DefinitionPins;
  readonly #quarantine: Quarantine;
  /** Calls whose clients collect the results later. */
  readonly tasks: Tasks;
  /** Calls in flight. */
  readonly inFlight = new InFlight();
  readonly #deps: GatewayCoreDeps;
  readonly #targets: CallTargets;
  /** Dependencies of calls that begin now. A call keeps those with which it began. */
  #callDeps: GovernedCallDeps;
  #settings: CoreSettings;
  readonly #firstContact: FirstContact;
  readonly #lateTools: LateTools;
  readonly #unknownTools: UnknownTools;
  #metaSource: MetaSource | undefined;

  constructor(config: CoreConfig, deps: GatewayCoreDeps) {
    const { audit, logger, metrics, scrubber, now, newCallId } = deps;
    const selectBackend = deps.selectBackend ?? selectByKind;
    this.#deps = deps;
    const settings = coreSettingsOf(config, deps);
    this.#settings = settings;
    this.policy = createGatewayPolicy(config.policy);
    const { pins, callApprovals: calls, approveCommand = "toolcrib approve" } = deps;
    const onUnreadable = () => this.approvals.reconsider();
    const pinDeps = { audit, logger, scrubber, now, pins, approveCommand, onUnreadable };
    this.#definitionPins = new DefinitionPins(pinDeps);
    this.index = new ToolIndex({
      selectBackend,
      search: deps.search,
      scrubber,
      override: settings.override,
      hold: holdBy(this.#definitionPins),
      onQuarantine: () => this.#updateTools(),
    });
    const healthOf: ConstructorParameters<typeof Quarantine>[0]["healthOf"] = (sourceId) =>
      this.roster.entries.find(({ id }) => id === sourceId)?.source.health().state;
    this.#quarantine = new Quarantine({ audit, logger, scrubber, now, pins, healthOf });
    this.roster = new SourceRoster({
      index: this.index,
      audit,
      scrubber,
      quarantine: this.#quarantine,
      pins: this.#definitionPins,
      approveCommand,
      onReady: () => this.#updateAll(),
      onHeld: () => this.#updateWaiting(),
    });
    const held = new HeldDefinitions({
      index: this.index,
      features: this.roster,
      pins: this.#definitionPins,
      serverIds: () => this.roster.configuredIds,
    });
    const policyDigest = policyDigestOf(() => this.#settings.listsDigest, this.policy);
    const mayAllow = (identity: Identity, tool: string) => this.#mayAllow(identity, tool);
    const parts = { index: this.index, roster: this.roster, mayAllow };
    this.approvals = new Approvals({ held, calls, audit, logger, parts, policyDigest });
    const clientKeys = (name: string) => this.clientKeys(name);
    const guards = createGuards(config.guards, { ...deps, clientKeys });
    this.pauses = guards.pauses;
    this.visibility = new Visibility(this);
    const { index, policy, roster, visibility, inFlight } = this;
    const shown = { index, policy, roster, visibility, scrubber };
    const taughtFor = (identity: Identity) => deps.learning?.taughtFor(identity);
    this.tools = new ClientTools({ ...shown, listing: settings.listing, clientKeys, taughtFor });
    this.results = new LongResults(deps);
    const isFound = (identity: Identity, entry: IndexedTool) => this.tools.isFound(identity, entry);
    const unknownTools = new UnknownTools({ ...shown, isFound });
    this.#unknownTools = unknownTools;
    const { waived, overrides } = settings;
    this.#targets = new CallTargets({ selectBackend, index, unknownTools, waived, overrides });
    const hiding = hidingOf(config, scrubber, this.index);
    this.#callDeps = {
      policy: this.policy,
      validator: new SchemaValidator(),
      ...hiding,
      fingerprints: deps.fingerprints,
      log: new CallLog({ audit, metrics, logger }),
      now,
      newCallId,
      limits: {
        resultMaxBytes: config.serve.limits.resultMaxBytes,
        maxConcurrentCalls: config.serve.limits.maxConcurrentCalls,
        maxDepth: maxCallDepth,
      },
      inFlight: this.inFlight,
      relays: new RelayLimit(now),
      shares: new FairShare(config.serve.limits.maxConcurrentCalls),
      labels: deps.seenLabels === undefined ? undefined : new LabelTracker(deps.seenLabels, logger),
      approval: {
        approvals: calls,
        policyDigest,
        logger,
        approveCommand,
        elicitedClients: settings.elicitedClients,
        decide: (id, decision, client) => this.approvals.decideCall(id, decision, client, "elicitation"),
      },
      journals: new CallJournals(now),
      targetOf: (identity, name) => this.#innerTarget(identity, name),
      currentTarget: (id) => this.#targets.find(id),
      pauses: this.pauses,
      parked: ParkedCalls.ofInnerCalls(ownNamespace, now),
      callLimits: guards.callLimits,
      hooks: deps.hooks && { ...deps.hooks, ...hiding, rules: executionRules, pauses: this.pauses, logger },
    };
    this.#firstContact = new FirstContact({ roster, visibility, now }, settings.listWaitMs);
    this.#lateTools = new LateTools({
      index,
      policy,
      roster,
      firstContact: this.#firstContact,
      targets: this.#targets,
      unknownTools,
      inFlight,
      shares: this.#callDeps.shares,
      maxConcurrentCalls: config.serve.limits.maxConcurrentCalls,
      now,
    });
    this.tasks = new Tasks(deps, config.serve.limits);
    this.service = this.#createService();
    if (deps.hasMetaTools !== false) {
      this.#metaSource = this.#createMetaSource();
      this.roster.add(this.#metaSource, ownFacts);
    }
    this.index.onChange((sourceIds) => {
      this.#definitionPins.save();
      this.service.changed("tools", sourceIds);
    });
    this.roster.onListChange((kind, sourceId) => this.service.changed(kind, new Set([sourceId])));
  }

  /** Limits of calls; undefined where none is configured. */
  get callLimits(): CallLimits | undefined {
    return this.#callDeps.callLimits;
  }

  /** The keys of the identities that a configuration calls `name`. @param config by default, that in force */
  clientKeys(name: string, config: Pick<CoreConfig, "policy"> = this.#settings.config): readonly string[] {
    return clientKeysOf(config.policy, name);
  }

  /** Reads what was accepted of servers that are about to be added. */
  preparePins(serverIds: readonly string[]): Promise<void> {
    return this.#definitionPins.prepare(serverIds);
  }

  /** Returns what follows from a configuration alone, for `reconfigure`. Nothing of it is in force. */
  prepare(config: CoreConfig): CoreSettings {
    return coreSettingsOf(config, this.#deps);
  }

  /**
   * Puts another configuration in force, at once, for all calls that begin from now on. Calls in flight keep the guards,
   * hooks and labels with which they began.
   *
   * @param live what belongs to that configuration and was opened for it
   */
  reconfigure(settings: CoreSettings, live: LiveParts): void {
    const before = this.#settings;
    this.#callDeps = callDepsOf(this.#callDeps, settings, live, this.#deps.logger);
    this.#settings = settings;
    this.policy.replace(settings.lists, live.files);
    this.#targets.replace(settings);
    this.tools.listBy(settings.listing);
    this.#metaSource?.cutResults(this.tools.cutsResults);
    this.#firstContact.renew(settings.listWaitMs, this.service.sessions);
    this.pauses.reconsider();
    if (!before.overrides.isEmpty || !settings.overrides.isEmpty) this.index.overrideBy(settings.override);
  }

  /** Returns the costs of lists. @param identity their reader. @default the operator */
  discovery(identity: Identity = localIdentity("library", "library")): DiscoveryStatus {
    const { tools, results } = this;
    return Object.assign(tools.costs(identity), { cutTokens: results.cutTokens });
  }

  /** Number of tools, without Toolcrib's own. */
  get toolCount(): number {
    return this.index.tools.filter(({ facts }) => !facts.isOwn).length;
  }

  /** Number of Toolcrib's own tools. */
  get ownToolCount(): number {
    return this.index.tools.length - this.toolCount;
  }

  /** Definitions that are not offered, and why. @param identity without the tools that are not listed for it */
  quarantined(identity?: Identity): readonly QuarantinedDefinition[] {
    const definitions = this.#findings(identity).map((finding) => this.#quarantine.toStatus(finding));
    return [...this.roster.quarantinedServers(), ...definitions];
  }

  /** Whether the policy could allow `identity` the tool `id`. */
  #mayAllow(identity: Identity, id: string): boolean {
    const entry = this.index.find(id);
    return entry !== undefined && this.policy.mayAllow(identity, entry);
  }

  /** The servers with definitions that wait for approval, as far as `identity` may list them. */
  waitingFor(identity: Identity): readonly WaitingServer[] {
    return this.approvals.servers((held) => this.visibility.mayList(identity, held));
  }

  /** Drops the remembered findings about definitions that became valid or disappeared. Call when every source made first contact. */
  settle(): void {
    this.#quarantine.settle();
    this.#updateAll();
  }

  /** Everything that the policy decides about: tools, resources, templates, prompts. */
  policyTargets(): PolicyTargets {
    return policyTargetsOf(this.index, this.roster, this.#deps.scrubber);
  }

  /** Resolves when the findings are stored, or cannot be. Never rejects. */
  async stored(): Promise<void> {
    this.#definitionPins.save();
    await Promise.all([this.#quarantine.stored(), this.#definitionPins.stored()]);
  }

  /** The tools that `identity` may use. */
  listTools(identity: Identity): readonly ToolSummary[] {
    const { scrubber } = this.#deps;
    return this.tools.allowed(identity).map((entry) => scrubber.value(toSummary(entry)));
  }

  /** Searches among the tools that `identity` may find. @param explains whether the hits have the parts of their scores */
  search(
    identity: Identity,
    query: string,
    limit: number,
    explains = false,
    meaning?: SearchMeaning,
  ): readonly ToolHit[] {
    const found = this.tools.search(identity, query, limit, meaning);
    return found.map((one) => toHit(one, this.#deps.scrubber, explains));
  }

  /** Resolves to the meaning of a query; undefined where search goes by words alone. The name of a tool means that tool. */
  meaningOf(identity: Identity, query: string): Promise<SearchMeaning | undefined> | undefined {
    const isName = this.find(identity, query.trim()) !== undefined;
    return isName ? undefined : this.#deps.embeddings?.meaningOf(identity, query);
  }

  /** Finds a tool that `identity` may use, by `ToolId` or wire name. */
  find(identity: Identity, name: string): IndexedTool | undefined {
    return this.tools.find(identity, name);
  }

  /** Returns a tool that `identity` may use, with the definition that clients are shown, without secrets. */
  describe(identity: Identity, name: string): Tool | undefined {
    const entry = this.find(identity, name);
    if (entry === undefined) return undefined;
    const { tool, shownDefinition } = entry;
    const definition = this.#deps.scrubber.value(withDeclared(shownDefinition, entry));
    return definition === tool.definition ? tool : { ...tool, definition };
  }

  /** Returns the error for a tool that is not offered to `identity`. */
  explain(identity: Identity, name: string): GatewayError {
    return this.#unknownTools.errorFor(identity, name);
  }

  /** Returns why a tool or source of this name is not offered to `identity`; undefined for an unknown name. */
  reasonFor(identity: Identity, name: string): string | undefined {
    return this.#unknownTools.reasonFor(identity, name);
  }

  /** Follows the tasks of earlier runs. Call when the sources are open. */
  resumeTasks(): void {
    resumeTasks({ ...this, calls: this.#callDeps, targets: this.#targets, lateTools: this.#lateTools });
  }

  /** Calls a tool for a program or a person on this machine. */
  async call(
    identity: Identity,
    name: string,
    args: JsonObject,
    options: CallOptions = {},
  ): Promise<CallOutcome> {
    const found = this.index.listedFor(identity, this.index.find(name));
    const entry = found instanceof Promise ? await found : found;
    const origin = originOfProgram(identity, options);
    if (entry !== undefined) return this.#run(this.#targets.forTool(entry), args, origin);
    try {
      return await this.#run(await this.#lateTarget(identity, name, options.signal), args, origin);
    } catch (error) {
      return { kind: "failed", callId: this.#deps.newCallId(), error: error as GatewayError };
    }
  }

  /** Makes an inner call of the call `context`. @throws {CodedError} when the tool does not exist, or is denied or failed */
  async callInner(
    context: CallContext,
    name: string,
    args: JsonObject,
    isDirect = false,
  ): Promise<ToolResult> {
    const target =
      this.#targets.find(name) ?? (await this.#lateTarget(context.identity, name, context.signal));
    const outcome = await this.#run(target, args, originOfInner(context, isDirect));
    return toInnerResult(outcome, context.identity, target);
  }

  /**
   * Waits until the lists of the sources are known: once for each client and for `serve.list_wait_seconds`, and
   * within the time limit of a call for the sources that its program names. Undefined when there is nothing to wait for.
   */
  untilListed(client: ListingClient, program?: Program): Promise<unknown> | undefined {
    return program === undefined
      ? this.#firstContact.untilListed(client)
      : this.#firstContact.untilListedFor(client, program, this.#deps.now());
  }

  /** Whether clients other than `clients`, by their `identityKey`, have calls in flight. */
  hasOtherCalls(clients: Iterable<string>): boolean {
    const { shares } = this.#callDeps;
    let others = shares.count;
    for (const client of clients) others -= shares.countOf(client);
    return others > 0;
  }

  /** Waits for the server of an unknown tool while it starts. @throws {GatewayError} `TOOL_NOT_FOUND` */
  #lateTarget(identity: Identity, name: string, signal: AbortSignal | undefined): Promise<CallTarget> {
    return this.#lateTools.target({ identity, name, serverId: undefined, signal });
  }

  /** The target of an inner call that a client's chain makes; undefined for a tool that does not exist for it. */
  #innerTarget(identity: Identity, name: string): CallTarget | undefined {
    const entry = this.find(identity, name);
    return entry?.facts.isCallableByComposites === true ? this.#targets.forTool(entry) : undefined;
  }

  #run(target: CallTarget, args: JsonObject, origin: CallOrigin): Promise<CallOutcome> {
    const outcome = governedCall(this.#callDeps, target, args, origin);
    const { learning } = this.#deps;
    return learning?.isObserving === true ? observedCall(learning, outcome, target, origin) : outcome;
  }

  #createService(): GatewayService {
    const { serverInfo, scrubber, now, randomBytes } = this.#deps;
    return new GatewayService({
      serverInfo,
      now,
      randomBytes,
      index: this.index,
      policy: this.policy,
      visibility: this.visibility,
      roster: this.roster,
      tools: this.tools,
      results: this.results,
      validator: this.#callDeps.validator,
      untilListed: (client, serverId) => this.#firstContact.untilListed(client, serverId),
      lateTarget: (request) => this.#lateTools.target(request),
      unknownTools: this.#unknownTools,
      targets: this.#targets,
      tasks: this.tasks,
      pauses: this.pauses,
      call: (target, args, origin) => this.#run(target, args, origin),
      relays: this.#callDeps.relays,
      scrubber,
      pageSize,
      run: now().toString(36),
    });
  }

  #createMetaSource(): MetaSource {
    const { scrubber, now, learning, approveCommand = "toolcrib approve" } = this.#deps;
    return createMetaSource({
      ...{ index: this.index, tools: this.tools, unknownTools: this.#unknownTools, results: this.results },
      ...{ scrubber, now, learning, approveCommand },
      callInner: (...call) => this.callInner(...call),
      meaningOf: (identity, query) => this.meaningOf(identity, query),
      untilListed: (context) => this.untilListed(context)?.then(() => context.recheck?.()),
      waiting: (identity) => this.waitingFor(identity),
    });
  }

  #findings(identity?: Identity): readonly QuarantineFinding[] {
    const mayList: Visibility["mayList"] = (...args) => this.visibility.mayList(...args);
    const isShown = (one: Parameters<typeof mayList>[1]) => identity === undefined || mayList(identity, one);
    const tools = this.index.quarantined.filter((held) => !isNotApproved(held) && isShown(held));
    return [...tools.map(toFinding), ...this.roster.quarantined().filter(isShown)];
  }

  #updateTools(): void {
    const findings = this.index.quarantined.filter((held) => !isNotApproved(held)).map(toFinding);
    this.#quarantine.update(findings, (_sourceId, kind) => kind === "tool");
    this.#updateWaiting();
  }

  #updateWaiting(): void {
    // The index is being built, or the source is being added.
    queueMicrotask(() => {
      this.#definitionPins.save();
      this.#metaSource?.setWaiting(this.approvals.servers());
    });
  }

  #updateAll(): void {
    if (!this.#quarantine.isEmpty) this.#quarantine.update(this.#findings(), () => true);
  }
}
