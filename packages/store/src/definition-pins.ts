/**
 * The definitions that are accepted, by their digests: of tools, prompts, resources, templates and
 * instructions. A definition that is not accepted is held back: at first contact with a server that is
 * not trusted, and when it changed (a "rug pull"). The trust state of the server decides about both.
 *
 * Accepted definitions are pins in the home, which gateways of one home share. It decides
 * synchronously from memory, and it does not know which definitions a client may see.
 */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { isSameJson, type JsonObject } from "@toolcrib/json";
import type { TrustState } from "@toolcrib/policy";
import type { SecretScrubber } from "@toolcrib/redaction";
import { type Identity, type ToolId, toToolId } from "@toolcrib/tool";
import {
  type AcceptedDefinition,
  AcceptedDefinitions,
  nameMaxBytes,
  sourceMaxPins,
} from "./accepted-definitions.ts";
import type { Approver } from "./approval-store.ts";
import { toAuditClient } from "./audit-client.ts";
import type { AuditStore } from "./audit-store.ts";
import { digestOf, hasCanonicalForm } from "./definition-digest.ts";
import type { Pin, PinKind } from "./pin-store.ts";
import { PinWriter } from "./pin-writer.ts";
import type { PinMemory } from "./quarantine.ts";
import { recordOrLog } from "./record-or-log.ts";
import { StoreError } from "./store-error.ts";

/** The acceptance of the definitions of a source. */
export interface PinRules {
  /** A changed definition is accepted for `certified` and held back for the others. */
  readonly trustState: TrustState;
  /** The treatment of a definition without a pin: `pin` accepts it, `ask` holds it back until it is approved. */
  readonly firstContact: "pin" | "ask";
}

/** A definition, and the source that lists it. */
export interface ListedDefinition extends Pick<Pin, "kind" | "name"> {
  readonly sourceId: string;
  readonly definition: object;
}

/**
 * Returns the id of a definition in messages and events: of a tool its `ToolId`, of the others as in
 * `files:prompts/greet`, `files:resources/file:///a`, `files:resources` and `files:instructions`.
 */
function definitionId({ sourceId, kind, name }: Omit<ListedDefinition, "definition">): ToolId {
  return toToolId(sourceId, localNameOf(kind, name));
}

function localNameOf(kind: PinKind, name: string): string {
  if (kind === "prompt") return `prompts/${name}`;
  return kind === "resource" || kind === "resourceTemplate" ? `resources/${name}` : name;
}

/** Why a definition is held back. */
export interface HeldReason {
  /** Id of the definition in messages and events, such as `files:read` and `files:prompts/greet`. */
  readonly id: ToolId;
  readonly code: "TOOL_NOT_APPROVED" | "TOOL_DEFINITION_CHANGED";
  readonly reason: string;
  /** The digest of the accepted definition; absent where there is none. */
  readonly previousDigest: string | undefined;
}

/** A definition that waits for approval. */
export interface WaitingDefinition {
  readonly server: string;
  readonly kind: PinKind;
  /** Name of a tool; of other definitions the end of their id, such as `prompts/greet`. */
  readonly name: string;
  /** Identifies the definition: an approval names it, so that it applies to what was shown. */
  readonly digest: string;
  readonly definition: JsonObject;
  /** The accepted definition of one that changed; absent where it is too large to be kept. */
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
  /** Called when the pins of a source can no longer be read: `check` holds all of its definitions back from now on. */
  readonly onUnreadable?: () => void;
}

/** Bytes of one definition that is kept, as JSON. @limit server */
const definitionMaxBytes = 128 * 1024;
/** Bytes of the definitions of one source that are kept. @limit server */
const definitionsMaxBytes = 4 * 1024 * 1024;
const dayMs = 86_400_000;

/** The accepted definitions of a gateway. */
export class DefinitionPins {
  readonly #deps: DefinitionPinsDeps;
  readonly #writer: PinWriter;
  /** By source id. */
  readonly #accepted = new Map<string, AcceptedDefinitions>();
  /** Ids of the sources whose pins cannot be read. */
  readonly #unreadable: Set<string>;
  /** Settles after the last approval: what one cannot store, the next one must not find accepted. */
  #approving: Promise<unknown> = Promise.resolve();

  constructor(deps: DefinitionPinsDeps) {
    this.#deps = deps;
    this.#unreadable = new Set(deps.pins?.unreadable);
    this.#writer = new PinWriter({
      store: deps.pins?.store,
      logger: deps.logger,
      what: "accepted definitions",
      pinsFor: (sourceId, stored) => this.#pinsFor(sourceId, stored),
      onUnreadable: (sourceId, error) => this.#unreadableSince(sourceId, error),
    });
    for (const { sourceId, pins } of deps.pins?.remembered ?? []) this.#learn(sourceId, pins);
  }

  /**
   * Returns why a definition is held back; undefined for an accepted one. A definition that the rules accept is
   * accepted from now on. No I/O.
   */
  check(listed: ListedDefinition, rules: PinRules): HeldReason | undefined {
    const { sourceId, definition } = listed;
    const id = definitionId(listed);
    const command = `${this.#deps.approveCommand} ${sourceId}`;
    if (this.#unreadable.has(sourceId)) {
      return notApproved(
        id,
        `"${id}" is held back: the pins of the server "${sourceId}" cannot be read (see the log of the gateway); the operator has to restore their file, or to remove it and restart the gateway`,
      );
    }
    const known = this.#accepted.get(sourceId)?.get(listed);
    // Accepted without a question, when the server was trusted or could be: now the operator is to be asked.
    if (known?.state.kind === "pinned" && rules.firstContact === "ask") {
      return notApproved(id, waitingReason(id, command));
    }
    if (known !== undefined && isAccepted(known, definition)) {
      this.#seen(sourceId, known, definition);
      return undefined;
    }
    const isTaken = known === undefined ? rules.firstContact === "pin" : rules.trustState === "certified";
    if (isTaken) {
      const problem = this.#accept(listed);
      if (problem !== undefined) return notApproved(id, `"${id}" is held back: ${problem}`);
      if (known !== undefined) this.#recordChange(listed, known.digest);
      return undefined;
    }
    if (known === undefined) return notApproved(id, waitingReason(id, command));
    const reason = changedReason(id, command);
    return { id, code: "TOOL_DEFINITION_CHANGED", reason, previousDigest: known.digest };
  }

  /** Starts to store what `check` accepted. A failure is logged. */
  save(): void {
    this.#writer.save();
  }

  /** Describes a definition that is held back, without secrets. */
  describe(listed: ListedDefinition): WaitingDefinition {
    const { sourceId, kind, name, definition } = listed;
    const { scrubber } = this.#deps;
    const accepted = this.#accepted.get(sourceId)?.get(listed);
    // The same definition waits where nobody was asked about it yet.
    const known = accepted?.digest === digestOf(definition) ? undefined : accepted;
    return {
      server: sourceId,
      kind,
      name: scrubber.text(localNameOf(kind, name)),
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
   * @throws {StoreError} as `PinStore.put`, and `STORE_FULL` for a definition that cannot be remembered; nothing is
   *   accepted then.
   */
  approve(sourceId: string, listed: readonly ListedDefinition[], operator: Identity): Promise<void> {
    const approved = this.#approving.then(() => this.#approve(sourceId, listed, operator));
    this.#approving = approved.catch(() => undefined);
    return approved;
  }

  async #approve(sourceId: string, listed: readonly ListedDefinition[], operator: Identity): Promise<void> {
    const { issuer, subject } = operator;
    const before: (AcceptedDefinition | undefined)[] = [];
    const accepted: AcceptedDefinition[] = [];
    const ofSource = this.#ofSource(sourceId);
    try {
      for (const one of listed) {
        before.push(ofSource.get(one));
        const problem = this.#accept(one, { issuer, subject });
        if (problem !== undefined) {
          const shown = this.#shownId(one).slice(0, 200);
          throw new StoreError("STORE_FULL", `Cannot accept "${shown}": ${problem}`);
        }
        accepted.push(ofSource.get(one)!);
      }
      await this.#writer.saveNow(sourceId);
    } catch (error) {
      for (let at = accepted.length - 1; at >= 0; at -= 1) ofSource.undo(accepted[at]!, before[at]);
      throw error;
    }
    for (const [at, one] of listed.entries()) {
      const previousDigest = before[at]?.digest;
      recordOrLog(this.#deps, "definition.approved", {
        server: sourceId,
        kind: one.kind,
        tool: this.#shownId(one),
        digest: digestOf(one.definition),
        ...(previousDigest === undefined ? {} : { previousDigest }),
        approvedBy: toAuditClient(operator),
      });
    }
  }

  /**
   * Reads what other processes accepted for the sources, and records that were repaired.
   *
   * @returns whether anything changed. A record that cannot be read changes nothing, and neither does one that is
   *   missing: what could not be read is not taken for a first contact before the next start.
   */
  async refresh(sourceIds: Iterable<string>): Promise<boolean> {
    const store = this.#deps.pins?.store;
    let hasChanged = false;
    for (const sourceId of store === undefined ? [] : sourceIds) {
      const stored = await store?.get(sourceId).catch(() => undefined);
      if (stored === undefined) continue;
      const isRepaired = this.#unreadable.delete(sourceId);
      if (isRepaired) this.#deps.logger.info({ source: sourceId }, "pins can be read again");
      hasChanged = this.#learn(sourceId, stored.pins) || isRepaired || hasChanged;
    }
    return hasChanged;
  }

  /**
   * Reads the pins of sources that are about to be added, as a start does: what this process knew about an earlier source
   * of the id counts no more, and where they cannot be read, all definitions are held back.
   */
  async prepare(sourceIds: Iterable<string>): Promise<void> {
    const store = this.#deps.pins?.store;
    if (store === undefined) return;
    await this.stored();
    for (const sourceId of sourceIds) {
      try {
        const stored = await store.get(sourceId);
        this.#accepted.delete(sourceId);
        this.#unreadable.delete(sourceId);
        this.#learn(sourceId, stored?.pins ?? []);
      } catch (error) {
        this.#unreadable.add(sourceId);
        const what = "pins cannot be read; all definitions of the server are held back";
        this.#deps.logger.warn({ source: sourceId, reason: messageOf(error) }, what);
      }
    }
  }

  #unreadableSince(sourceId: string, { message, hint }: StoreError): void {
    if (this.#unreadable.has(sourceId)) return;
    this.#unreadable.add(sourceId);
    const what = "pins can no longer be read; all definitions of the server are held back";
    this.#deps.logger.warn({ source: sourceId, reason: message, hint }, what);
    this.#deps.onUnreadable?.();
  }

  /** Resolves when everything is stored, or cannot be. Never rejects. */
  async stored(): Promise<void> {
    await this.#writer.stored();
  }

  /** Takes over stored pins that count more than those of this process. @returns whether anything changed */
  #learn(sourceId: string, pins: readonly Pin[]): boolean {
    let hasChanged = false;
    const at = this.#deps.now();
    for (const { kind, name, digest, state, definition, firstSeenAt, lastSeenAt } of pins) {
      if (state.kind === "quarantined") continue;
      const ofSource = this.#ofSource(sourceId);
      const own = ofSource.get({ kind, name });
      const stored = { kind, name, digest, state, definition, firstSeenAt, lastSeenAt };
      if (own !== undefined && !isReplacedBy(own, stored)) continue;
      hasChanged = ofSource.set(stored, at) || hasChanged;
    }
    return hasChanged;
  }

  #ofSource(sourceId: string): AcceptedDefinitions {
    const ofSource = this.#accepted.get(sourceId) ?? new AcceptedDefinitions();
    this.#accepted.set(sourceId, ofSource);
    return ofSource;
  }

  #seen(sourceId: string, known: AcceptedDefinition, definition: object): void {
    // One object for both: what is kept costs no memory while nothing changes.
    known.definition = definition;
    const at = this.#deps.now();
    if (at - known.lastSeenAt < dayMs && at >= known.lastSeenAt) return;
    known.lastSeenAt = at;
    this.#writer.changed(sourceId);
  }

  /** @returns why it cannot be accepted */
  #accept({ sourceId, kind, name, definition }: ListedDefinition, approvedBy?: Approver): string | undefined {
    if (!hasCanonicalForm(definition)) return noCanonicalForm;
    const at = this.#deps.now();
    const state: AcceptedDefinition["state"] =
      approvedBy === undefined ? { kind: "pinned" } : { kind: "approved", approvedBy, approvedAt: at };
    const digest = digestOf(definition);
    const accepted = { kind, name, digest, state, definition, firstSeenAt: at, lastSeenAt: at };
    if (!this.#ofSource(sourceId).set(accepted, at)) return tooMuch;
    this.#writer.changed(sourceId);
    return undefined;
  }

  /** Returns the pins to store for a source. Of two accepted definitions of one name, the one that was accepted later counts. */
  #pinsFor(sourceId: string, stored: readonly Pin[]): readonly Pin[] {
    this.#learn(sourceId, stored);
    const { scrubber } = this.#deps;
    const pins: Pin[] = [];
    const names = new Set<string>();
    let left = definitionsMaxBytes;
    for (const { definition, name, ...rest } of this.#accepted.get(sourceId)?.values() ?? []) {
      const shownName = scrubber.text(name);
      const key = `${rest.kind} ${shownName}`;
      // Names that differ in secrets only have one pin: the others are first contacts after a restart.
      if (names.has(key)) continue;
      names.add(key);
      const shown = definition === undefined ? undefined : scrubber.definition(definition as JsonObject);
      const bytes = shown === undefined ? 0 : Buffer.byteLength(JSON.stringify(shown));
      const isKept = bytes <= Math.min(definitionMaxBytes, left);
      if (isKept) left -= bytes;
      pins.push({
        name: shownName,
        ...rest,
        ...(shown === undefined || !isKept ? {} : { definition: shown }),
      });
    }
    return [...stored.filter(({ state }) => state.kind === "quarantined"), ...pins];
  }

  #recordChange(listed: ListedDefinition, previousDigest: string): void {
    const { sourceId: server, kind, definition } = listed;
    const tool = this.#shownId(listed);
    this.#deps.logger.warn(
      { server, kind, tool },
      "definition changed and was accepted: its server is certified",
    );
    const digest = digestOf(definition);
    recordOrLog(this.#deps, "definition.changed", {
      server,
      kind,
      tool,
      digest,
      previousDigest,
      effect: "accepted",
    });
  }

  /** The id of a definition in records and messages, without secrets. */
  #shownId(listed: ListedDefinition): ToolId {
    return this.#deps.scrubber.text(definitionId(listed));
  }
}

/** Why definitions are not accepted although the rules accept them, or the operator does. */
const noCanonicalForm =
  "its definition has a number that no program can hold, such as 1e400, so that it cannot be compared later. The server has to be fixed";
const tooMuch = `the server lists more than can be remembered: ${sourceMaxPins} definitions, with names of ${nameMaxBytes} bytes each and 2 MiB together`;

/** Whether a definition is the accepted one. To compare them takes a tenth of the time of a digest. */
function isAccepted(known: AcceptedDefinition, definition: object): boolean {
  return isSameJson(known.definition, definition) || digestOf(definition) === known.digest;
}

/**
 * Whether a definition that is stored counts, and not the one that this process accepted. Of one definition, an approval
 * counts more than an acceptance without a question.
 */
function isReplacedBy(own: AcceptedDefinition, stored: AcceptedDefinition): boolean {
  if (own.digest === stored.digest) return own.state.kind === "pinned" && stored.state.kind === "approved";
  return acceptedAt(stored) > acceptedAt(own);
}

function acceptedAt({ state, firstSeenAt }: Pick<AcceptedDefinition, "state" | "firstSeenAt">): number {
  return state.kind === "approved" ? state.approvedAt : firstSeenAt;
}

function notApproved(id: ToolId, reason: string): HeldReason {
  return { id, code: "TOOL_NOT_APPROVED", reason, previousDigest: undefined };
}

function waitingReason(id: string, command: string): string {
  return `"${id}" waits for approval. The operator can see and approve it: ${command}`;
}

function changedReason(id: string, command: string): string {
  return `the definition of "${id}" changed after it was accepted. The operator can see and approve the change: ${command}`;
}
