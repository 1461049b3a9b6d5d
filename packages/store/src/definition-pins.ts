/**
 * The definitions of tools that are accepted, by their digests. A tool whose definition is not
 * accepted is held back: at first contact with a server that is not trusted, and when a definition
 * changed (a "rug pull"). The trust state of the server decides about both.
 *
 * Accepted definitions are pins in the home, which gateways of one home share. It decides
 * synchronously from memory, and it does not know which tools a client may use.
 */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { isSameJson, type JsonObject } from "@toolcrib/json";
import type { TrustState } from "@toolcrib/policy";
import type { SecretScrubber } from "@toolcrib/redaction";
import { type Identity, toToolId } from "@toolcrib/tool";
import type { Approver } from "./approval-store.ts";
import { toAuditClient } from "./audit-client.ts";
import type { AuditStore } from "./audit-store.ts";
import { digestOf } from "./definition-digest.ts";
import type { Pin, PinState } from "./pin-store.ts";
import { PinWriter } from "./pin-writer.ts";
import type { PinMemory } from "./quarantine.ts";

/** How the definitions of a source are accepted. */
export interface PinRules {
  /** A changed definition is accepted for `certified` and held back for the others. */
  readonly trustState: TrustState;
  /** What happens to a definition without a pin: `pin` accepts it, `ask` holds it back until it is approved. */
  readonly firstContact: "pin" | "ask";
}

/** A definition of a tool, and the source that lists it. */
export interface ListedDefinition {
  readonly sourceId: string;
  readonly name: string;
  readonly definition: object;
}

/** Why a definition is held back. */
export interface HeldReason {
  readonly code: "TOOL_NOT_APPROVED" | "TOOL_DEFINITION_CHANGED";
  readonly reason: string;
  /** The digest of the accepted definition; absent for a tool without one. */
  readonly previousDigest: string | undefined;
}

/** A definition that waits for approval. */
export interface WaitingDefinition {
  readonly server: string;
  readonly tool: string;
  /** Identifies the definition: an approval names it, so that it applies to what was shown. */
  readonly digest: string;
  readonly definition: JsonObject;
  /** The accepted definition, of a tool whose definition changed; absent where it is too large to be kept. */
  readonly previous?: JsonObject;
  readonly isChanged: boolean;
}

/** Dependencies of `DefinitionPins`. */
export interface DefinitionPinsDeps {
  readonly audit: Pick<AuditStore, "record">;
  readonly logger: Logger;
  readonly scrubber: SecretScrubber;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** @default accepted definitions are forgotten with the process */
  readonly pins?: PinMemory | undefined;
  /** The command by which the operator approves, such as `toolcrib approve`. */
  readonly approveCommand: string;
}

/** Accepted definitions of one source. */
const sourceMaxPins = 12_000;
/** Characters of one definition that is kept. */
const definitionMaxLength = 128 * 1024;
/** Characters of the definitions of one source that are kept. */
const definitionsMaxLength = 4 * 1024 * 1024;
const dayMs = 86_400_000;

/** An accepted definition. */
interface Accepted {
  readonly digest: string;
  readonly state: Exclude<PinState, { readonly kind: "quarantined" }>;
  /** As the source lists it while it is unchanged, else as it was stored. */
  definition: object | undefined;
  readonly firstSeenAt: number;
  lastSeenAt: number;
}

/** The accepted definitions of a gateway. */
export class DefinitionPins {
  readonly #deps: DefinitionPinsDeps;
  readonly #writer: PinWriter;
  /** By source id, then by name. */
  readonly #accepted = new Map<string, Map<string, Accepted>>();
  readonly #unreadable: ReadonlySet<string>;

  constructor(deps: DefinitionPinsDeps) {
    this.#deps = deps;
    this.#unreadable = deps.pins?.unreadable ?? new Set();
    this.#writer = new PinWriter({
      store: deps.pins?.store,
      logger: deps.logger,
      what: "accepted definitions",
      pinsFor: (sourceId, stored) => this.#pinsFor(sourceId, stored),
    });
    for (const { sourceId, pins } of deps.pins?.remembered ?? []) this.#learn(sourceId, pins);
  }

  /**
   * Returns why a definition is held back; undefined for an accepted one. A definition that the rules accept is
   * accepted from now on. No I/O.
   */
  check(listed: ListedDefinition, rules: PinRules): HeldReason | undefined {
    const { sourceId, name, definition } = listed;
    const id = toToolId(sourceId, name);
    const command = `${this.#deps.approveCommand} ${sourceId}`;
    if (this.#unreadable.has(sourceId)) {
      const reason = `"${id}" is held back: the pins of the server "${sourceId}" cannot be read (see the log)`;
      return { code: "TOOL_NOT_APPROVED", reason, previousDigest: undefined };
    }
    const known = this.#accepted.get(sourceId)?.get(name);
    if (known !== undefined && isAccepted(known, definition)) {
      this.#seen(sourceId, known, definition);
      return undefined;
    }
    if (known === undefined) {
      if (rules.firstContact === "pin" && this.#accept(listed)) return undefined;
      return { code: "TOOL_NOT_APPROVED", reason: waitingReason(id, command), previousDigest: undefined };
    }
    if (rules.trustState === "certified") {
      this.#accept(listed);
      this.#recordChange(sourceId, id, digestOf(definition), known.digest);
      return undefined;
    }
    return {
      code: "TOOL_DEFINITION_CHANGED",
      reason: changedReason(id, command),
      previousDigest: known.digest,
    };
  }

  /** Starts to store what `check` accepted. A failure is logged. */
  save(): void {
    this.#writer.save();
  }

  /** Describes a definition that is held back, without secrets. */
  describe({ sourceId, name, definition }: ListedDefinition): WaitingDefinition {
    const { scrubber } = this.#deps;
    const known = this.#accepted.get(sourceId)?.get(name);
    return {
      server: sourceId,
      tool: scrubber.text(name),
      digest: digestOf(definition),
      definition: scrubber.value(definition as JsonObject),
      ...(known?.definition === undefined
        ? {}
        : { previous: scrubber.value(known.definition as JsonObject) }),
      isChanged: known !== undefined,
    };
  }

  /**
   * Accepts definitions of one source for the operator. When it resolves, they are stored.
   *
   * @throws {StoreError} as `PinStore.put`; nothing is accepted then.
   */
  async approve(sourceId: string, listed: readonly ListedDefinition[], operator: Identity): Promise<void> {
    const { issuer, subject } = operator;
    const before = new Map(this.#accepted.get(sourceId));
    for (const one of listed) this.#accept(one, { issuer, subject });
    try {
      await this.#writer.saveNow(sourceId);
    } catch (error) {
      this.#accepted.set(sourceId, before);
      throw error;
    }
    for (const { name, definition } of listed) {
      const previousDigest = before.get(name)?.digest;
      this.#record("definition.approved", {
        server: sourceId,
        tool: toToolId(sourceId, name),
        digest: digestOf(definition),
        ...(previousDigest === undefined ? {} : { previousDigest }),
        approvedBy: toAuditClient(operator),
      });
    }
  }

  /**
   * Reads what other processes accepted for the sources.
   *
   * @returns whether anything changed. A record that cannot be read changes nothing.
   */
  async refresh(sourceIds: Iterable<string>): Promise<boolean> {
    const store = this.#deps.pins?.store;
    let hasChanged = false;
    for (const sourceId of store === undefined ? [] : sourceIds) {
      const stored = await store?.get(sourceId).catch(() => undefined);
      hasChanged = this.#learn(sourceId, stored?.pins ?? []) || hasChanged;
    }
    return hasChanged;
  }

  /** Resolves when everything is stored, or cannot be. Never rejects. */
  async stored(): Promise<void> {
    await this.#writer.stored();
  }

  /** Takes over stored pins, except those of definitions that this process accepted later. @returns whether anything changed */
  #learn(sourceId: string, pins: readonly Pin[]): boolean {
    let hasChanged = false;
    for (const { name, digest, state, definition, firstSeenAt, lastSeenAt } of pins.filter(isAcceptedTool)) {
      if (state.kind === "quarantined") continue;
      const own = this.#accepted.get(sourceId)?.get(name);
      const stored = { digest, state, definition, firstSeenAt, lastSeenAt };
      if (own !== undefined && (own.digest === digest || acceptedAt(own) >= acceptedAt(stored))) continue;
      this.#put(sourceId, name, stored);
      hasChanged = true;
    }
    return hasChanged;
  }

  #put(sourceId: string, name: string, accepted: Accepted): void {
    const ofSource = this.#accepted.get(sourceId) ?? new Map<string, Accepted>();
    this.#accepted.set(sourceId, ofSource);
    ofSource.set(name, accepted);
  }

  #seen(sourceId: string, known: Accepted, definition: object): void {
    // One object for both: what is kept costs no memory while nothing changes.
    known.definition = definition;
    const at = this.#deps.now();
    if (at - known.lastSeenAt < dayMs && at >= known.lastSeenAt) return;
    known.lastSeenAt = at;
    this.#writer.changed(sourceId);
  }

  /** @returns whether there was space for it */
  #accept({ sourceId, name, definition }: ListedDefinition, approvedBy?: Approver): boolean {
    const at = this.#deps.now();
    if (!this.#makeSpace(sourceId, name, at)) return false;
    const state: Accepted["state"] =
      approvedBy === undefined ? { kind: "pinned" } : { kind: "approved", approvedBy, approvedAt: at };
    const digest = digestOf(definition);
    this.#put(sourceId, name, { digest, state, definition, firstSeenAt: at, lastSeenAt: at });
    this.#writer.changed(sourceId);
    return true;
  }

  /** Drops the pin that was not listed for the longest time, for at least a day, where a source has too many. */
  #makeSpace(sourceId: string, name: string, at: number): boolean {
    const ofSource = this.#accepted.get(sourceId);
    if (ofSource === undefined || ofSource.size < sourceMaxPins || ofSource.has(name)) return true;
    let [oldest, oldestAt] = ["", at - dayMs];
    for (const [other, { lastSeenAt }] of ofSource)
      if (lastSeenAt < oldestAt) [oldest, oldestAt] = [other, lastSeenAt];
    return ofSource.delete(oldest);
  }

  /** Returns the pins to store for a source. Of two accepted definitions of a tool, the one that was accepted later counts. */
  #pinsFor(sourceId: string, stored: readonly Pin[]): readonly Pin[] {
    this.#learn(sourceId, stored);
    const { scrubber } = this.#deps;
    const pins: Pin[] = [];
    let left = definitionsMaxLength;
    for (const [name, { definition, ...rest }] of this.#accepted.get(sourceId) ?? []) {
      const shown = definition === undefined ? undefined : scrubber.value(definition as JsonObject);
      const length = shown === undefined ? 0 : JSON.stringify(shown).length;
      const isKept = length <= Math.min(definitionMaxLength, left);
      if (isKept) left -= length;
      pins.push({
        kind: "tool",
        name: scrubber.text(name),
        ...rest,
        ...(shown === undefined || !isKept ? {} : { definition: shown }),
      });
    }
    return [...stored.filter((pin) => !isAcceptedTool(pin)), ...pins];
  }

  #recordChange(server: string, tool: string, digest: string, previousDigest: string): void {
    this.#deps.logger.warn({ server, tool }, "definition changed and was accepted: its server is certified");
    this.#record("definition.changed", { server, tool, digest, previousDigest, effect: "accepted" });
  }

  #record(...[type, data]: Parameters<AuditStore["record"]>): void {
    try {
      this.#deps.audit.record(type, data);
    } catch (error) {
      this.#deps.logger.error({ type, reason: messageOf(error) }, "audit record could not be written");
    }
  }
}

/** Whether a definition is the accepted one. To compare them takes a tenth of the time of a digest. */
function isAccepted(known: Accepted, definition: object): boolean {
  const isSame =
    known.definition !== undefined && isSameJson(known.definition as JsonObject, definition as JsonObject);
  return isSame || digestOf(definition) === known.digest;
}

function isAcceptedTool({ kind, state }: Pin): boolean {
  return kind === "tool" && state.kind !== "quarantined";
}

function acceptedAt({ state, firstSeenAt }: Pick<Accepted, "state" | "firstSeenAt">): number {
  return state.kind === "approved" ? state.approvedAt : firstSeenAt;
}

function waitingReason(id: string, command: string): string {
  return `"${id}" waits for approval. The operator can see and approve it: ${command}`;
}

function changedReason(id: string, command: string): string {
  return `the definition of "${id}" changed after it was accepted. The operator can see and approve the change: ${command}`;
}
