/**
 * All sources of a gateway with the facts about each. The code that opens a
 * source adds it here; everything that needs to know about sources asks the
 * roster: status, readiness, logs, the resources and prompts of the endpoint.
 * It records each change of a configured source between ready and not ready, and
 * reports malformed resources and prompts, and those that are held back.
 *
 * It starts and disposes no source: that is up to the code that opened it.
 */

import {
  type HeldFeature,
  type HeldFeatures,
  holdFeatures,
  holdNothing,
  isNotApproved,
} from "@toolcrib/admission";
import { ListenerSet } from "@toolcrib/lifecycle";
import type { SecretScrubber } from "@toolcrib/redaction";
import type {
  AuditStore,
  DefinitionPins,
  Quarantine,
  QuarantinedDefinition,
  QuarantineFinding,
} from "@toolcrib/store";
import {
  checkFeatures,
  type Health,
  type SourceChange,
  type ToolId,
  type ToolSource,
  toToolId,
  type Unsubscribe,
} from "@toolcrib/tool";
import type { QuarantinedTool } from "./build-index.ts";
import { InventoryError } from "./inventory-error.ts";
import {
  arrangedByRank,
  type ConfiguredFacts,
  defaultFacts,
  insertByRank,
  type SourceDetails,
  type SourceFacts,
  type SourceGroup,
} from "./source-facts.ts";
import type { ToolIndex } from "./tool-index.ts";

/** One configured source as people see it. */
export interface SourceStatus extends SourceDetails {
  readonly id: string;
  /** The way to its tools, such as `stdio` or `toolspec`. */
  readonly transport: string;
  readonly health: Health;
  readonly labels: { readonly [key: string]: string };
  readonly tools: number;
  /** Number of its tools that wait for the operator's approval; absent for none. */
  readonly waitingTools?: number;
  /** Counts of what it offers besides tools; absent where it cannot offer any. */
  readonly resources?: number;
  readonly prompts?: number;
}

/** Adds to the health of a ready source how many of its tools and other definitions are not offered. */
function withHeld(
  health: Health,
  tools: readonly QuarantinedTool[],
  features: readonly HeldFeature[],
  command: string,
): Health {
  const isUnremarkable = tools.length === 0 && features.length === 0;
  if (isUnremarkable || health.state !== "ready" || health.reason !== undefined) return health;
  const waiting = tools.filter(isNotApproved).length;
  const quarantined = tools.length - waiting;
  const others = features.length;
  const held = [
    waiting === 0 ? [] : `${waiting} of its tools`,
    others === 0 ? [] : `${others} of its prompts, resources and instructions`,
  ];
  const parts = [
    waiting + others === 0
      ? []
      : `${held.flat().join(" and ")} ${waiting + others === 1 ? "waits" : "wait"} for approval (${command})`,
    quarantined === 0 ? [] : `${quarantined} of its tools ${quarantined === 1 ? "is" : "are"} quarantined`,
  ];
  return { ...health, reason: parts.flat().join(", ") };
}

function waitingIn(held: readonly QuarantinedTool[]): Pick<SourceStatus, "waitingTools"> {
  const waitingTools = held.filter(isNotApproved).length;
  return waitingTools === 0 ? {} : { waitingTools };
}

/** Statuses of configured sources, by the list that shows them. */
export type SourceStatuses = { readonly [Group in SourceGroup]: readonly SourceStatus[] };

/** A source in the roster. */
export interface RosterEntry {
  readonly id: string;
  readonly source: ToolSource;
  readonly facts: SourceFacts;
  /** Its resources and prompts without malformed entries and those that are held back; undefined where it cannot offer any. */
  readonly features: HeldFeatures | undefined;
}

/** A source that can offer resources and prompts. */
export interface FeatureSource extends RosterEntry {
  readonly features: HeldFeatures;
}

/** Dependencies of the roster. */
export interface SourceRosterDeps {
  readonly index: ToolIndex;
  readonly audit: Pick<AuditStore, "record">;
  readonly scrubber: SecretScrubber;
  readonly quarantine: Quarantine;
  readonly pins: Pick<DefinitionPins, "check">;
  /** The command by which the operator approves. */
  readonly approveCommand: string;
  /** Called when a source became ready. */
  readonly onReady: () => void;
  /** Called when the prompts, resources or instructions that are held back may have changed. */
  readonly onHeld: () => void;
}

interface Registered extends RosterEntry {
  readonly unsubscribe: Unsubscribe;
}

/** The sources of a gateway. */
export class SourceRoster {
  readonly #deps: SourceRosterDeps;
  readonly #listChanges = new ListenerSet<[kind: "resources" | "prompts", sourceId: string]>();
  #entries: readonly Registered[] = [];

  constructor(deps: SourceRosterDeps) {
    this.#deps = deps;
  }

  /** All sources in the order of their ranks. */
  get entries(): readonly RosterEntry[] {
    return this.#entries;
  }

  /** The sources that can offer resources and prompts, in the order of their ranks. */
  get featureSources(): readonly FeatureSource[] {
    return this.#entries.filter(hasFeatures);
  }

  /** Ids of the configured sources. Each has an endpoint of its own. */
  get configuredIds(): readonly string[] {
    return this.#entries.flatMap(({ id, facts }) => (facts.configured === undefined ? [] : [id]));
  }

  /** Adds `source`; its owner starts and disposes it. @param facts those that differ from `defaultFacts` */
  add(source: ToolSource, facts: Partial<SourceFacts> = {}): void {
    const entry = this.#entryFor(source, facts);
    this.#entries = insertByRank(this.#entries, entry);
    this.#recordHealth(entry);
    this.#reportFindings(entry);
    this.#deps.index.add(source, entry.facts);
  }

  /** Replaces the facts about `source`, which stays as it is. @param facts those that differ from `defaultFacts` */
  replaceFacts(source: ToolSource, facts: Partial<SourceFacts>): void {
    const known = this.#entries.find((one) => one.source === source);
    if (known === undefined) return;
    known.unsubscribe();
    const entry = this.#entryFor(source, facts);
    this.#entries = this.#entries.map((one) => (one === known ? entry : one));
    this.#deps.index.replaceFacts(source, entry.facts);
    this.#reportFindings(entry);
    this.#deps.index.reconsider();
    for (const kind of ["resources", "prompts"] as const) this.#listChanges.emit(kind, entry.id);
  }

  /** Puts the sources of each rank into the order of `ids`: of two names that could be confused, the first counts. */
  arrange(ids: readonly string[]): void {
    this.#entries = arrangedByRank(this.#entries, ids, ({ id }) => id);
    this.#deps.index.arrange(ids);
  }

  /** Removes `source` and its tools. */
  remove(source: ToolSource): void {
    const entry = this.#entries.find((one) => one.source === source);
    if (entry === undefined) return;
    entry.unsubscribe();
    this.#entries = this.#entries.filter((one) => one !== entry);
    this.#deps.index.remove(source);
    this.#deps.quarantine.remove(source.id);
    for (const kind of ["resources", "prompts"] as const) this.#listChanges.emit(kind, source.id);
  }

  #entryFor(source: ToolSource, facts: Partial<SourceFacts>): Registered {
    const { id } = source;
    const allFacts = { ...defaultFacts, namespace: id, ...facts };
    const entry: Registered = {
      id,
      source,
      facts: allFacts,
      features: this.#featuresOf(source, allFacts),
      unsubscribe: source.onChange((change) => this.#changed(entry, change)),
    };
    return entry;
  }

  #featuresOf({ id, features }: ToolSource, { pinning }: SourceFacts): HeldFeatures | undefined {
    if (features === undefined) return undefined;
    const checked = checkFeatures(id, features);
    return pinning === undefined ? holdNothing(checked) : holdFeatures(id, checked, this.#deps.pins, pinning);
  }

  /** The prompts, resources, templates and instructions that are held back. */
  held(): readonly HeldFeature[] {
    return this.featureSources.flatMap(({ features }) => features.held());
  }

  /** Decides again which of them are held back. */
  reconsider(): void {
    for (const entry of this.#entries) {
      const { features } = entry;
      const before = features?.held().length ?? 0;
      features?.reconsider();
      if (before === (features?.held().length ?? 0)) continue;
      this.#reportFindings(entry);
      for (const kind of ["resources", "prompts"] as const) this.#listChanges.emit(kind, entry.id);
    }
  }

  /** Calls `listener` when the resources or prompts of a source change. */
  onListChange(listener: (kind: "resources" | "prompts", sourceId: string) => void): Unsubscribe {
    return this.#listChanges.add(listener);
  }

  /** Statuses of the configured sources. */
  status(): SourceStatuses {
    const statuses: { [Group in SourceGroup]: SourceStatus[] } = { servers: [], toolspecs: [], packages: [] };
    const held = Map.groupBy(this.#deps.index.quarantined, ({ tool }) => tool.namespace);
    for (const { id, source, facts, features } of this.#entries) {
      const { configured, labels } = facts;
      if (configured === undefined) continue;
      const { serverInfo, ...details } = configured.details();
      statuses[configured.group].push({
        id,
        transport: configured.transport,
        health: withHeld(
          this.#healthOf(source),
          held.get(id) ?? [],
          features?.held() ?? [],
          `${this.#deps.approveCommand} ${id}`,
        ),
        labels,
        tools: this.#deps.index.countOf(id),
        ...waitingIn(held.get(id) ?? []),
        ...(features === undefined
          ? {}
          : { resources: features.resources().length, prompts: features.prompts().length }),
        ...details,
        ...(serverInfo === undefined ? {} : { serverInfo: this.#deps.scrubber.value(serverInfo) }),
      });
    }
    return statuses;
  }

  /** Counts the configured sources, those that made first contact, successful or not, and those that cannot be used. */
  readiness(): { readonly ready: number; readonly total: number; readonly unavailable: number } {
    const configured = this.#entries.filter(
      ({ facts, source }) => facts.configured !== undefined && source.health().state !== "disabled",
    );
    const ready = configured.filter(({ source }) => source.health().state !== "starting");
    const unavailable = configured.filter(({ source }) => source.health().state === "unavailable");
    return { ready: ready.length, total: configured.length, unavailable: unavailable.length };
  }

  /** Last lines of the log of a configured source. @throws {InventoryError} `SERVER_NOT_FOUND` */
  log(id: string, lineCount: number): readonly string[] {
    return (this.#configuredOf(id).log?.(lineCount) ?? []).map((line) => this.#deps.scrubber.text(line));
  }

  /** Resources, templates, prompts and instructions that are not offered because something is wrong, and why. */
  quarantined(): readonly QuarantineFinding[] {
    return this.featureSources.flatMap(findingsOf);
  }

  /** Servers that are not used until they are released, and why. */
  quarantinedServers(): readonly QuarantinedDefinition[] {
    return this.#entries.flatMap(({ id, source }) => {
      const { state, reason = "", since } = this.#healthOf(source);
      if (state !== "quarantined") return [];
      return [{ id: allOf(id), reason, since: new Date(since).toISOString() }];
    });
  }

  /**
   * Releases a server from quarantine.
   *
   * @returns whether it was quarantined.
   * @throws {InventoryError} `SERVER_NOT_FOUND`
   */
  async release(id: string): Promise<boolean> {
    return (await this.#configuredOf(id).release?.()) ?? false;
  }

  #configuredOf(id: string): ConfiguredFacts {
    const configured = this.#entries.find((entry) => entry.id === id)?.facts.configured;
    if (configured !== undefined) return configured;
    throw new InventoryError("SERVER_NOT_FOUND", `No tool server has the id "${id}"`, {
      hint: `the ids are ${this.configuredIds.join(", ")}`,
    });
  }

  #changed(entry: Registered, { kind }: SourceChange): void {
    if (kind === "health" && entry.source.health().state === "ready") {
      this.#deps.onReady();
      // Its instructions are known.
      this.#reportFindings(entry);
    }
    if (kind !== "resources" && kind !== "prompts") return;
    this.#reportFindings(entry);
    this.#listChanges.emit(kind, entry.id);
  }

  #healthOf(source: ToolSource): Health {
    const { reason, ...health } = source.health();
    return reason === undefined ? health : { ...health, reason: this.#deps.scrubber.text(reason) };
  }

  /** Records each change of a configured source between ready and not ready, and each quarantine. */
  #recordHealth({ id, source, facts }: RosterEntry): void {
    const { configured, containment } = facts;
    if (configured === undefined) return;
    const { audit } = this.#deps;
    let wasReady = false;
    source.onChange(({ kind }) => {
      if (kind !== "health") return;
      const { state, reason } = this.#healthOf(source);
      if (state === "quarantined") {
        const code = "UPSTREAM_QUARANTINED";
        audit.record("server.quarantined", { server: id, tool: allOf(id), reason: reason ?? "", code });
      }
      const isReady = state === "ready";
      if (isReady === wasReady) return;
      wasReady = isReady;
      if (isReady) {
        const { transport } = configured;
        const { protocolVersion } = configured.details();
        const toolCount = source.tools().length;
        audit.record("server.started", {
          server: id,
          transport,
          protocolVersion,
          toolCount,
          containment: containment(),
        });
      } else {
        audit.record("server.stopped", { server: id, reason: reason ?? "it was stopped" });
      }
    });
  }

  /** Reports the malformed resources and prompts of a source, and the definitions that changed. */
  #reportFindings(entry: Registered): void {
    if (!hasFeatures(entry)) return;
    this.#deps.quarantine.update(
      findingsOf(entry),
      (sourceId, kind) => sourceId === entry.id && kind !== "tool",
    );
    this.#deps.onHeld();
  }
}

/** The id that stands for everything that a server offers. */
function allOf(serverId: string): ToolId {
  return toToolId(serverId, "*");
}

function findingsOf({ id, features }: FeatureSource): readonly QuarantineFinding[] {
  const malformed = features.malformed().map((one) => ({ ...one, sourceId: id, server: id }));
  const changed = features.held().filter((held) => !isNotApproved(held));
  return [...malformed, ...changed.map((held) => ({ ...held, server: id }))];
}

function hasFeatures(entry: Registered): entry is Registered & FeatureSource {
  return entry.features !== undefined;
}
