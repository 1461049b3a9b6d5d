/**
 * The definitions that are not offered, and since when. A finding is reported once for
 * each definition, in the log and in the audit trail: pins in the home remember it
 * across restarts. The pin of a definition that became valid or disappeared is dropped.
 *
 * It decides nothing: the index and the checks of features do. Updates never wait for
 * the store, and its failures affect no list.
 */

import type { Logger } from "@toolcrib/diagnostics";
import type { SecretScrubber } from "@toolcrib/redaction";
import type { Health, ToolId } from "@toolcrib/tool";
import type { AuditStore } from "./audit-store.ts";
import { digestOf } from "./definition-digest.ts";
import type { Pin, PinKind, PinStore, SourcePins } from "./pin-store.ts";
import { PinWriter } from "./pin-writer.ts";
import { recordOrLog } from "./record-or-log.ts";

/** A definition that is not offered, and why. */
export interface QuarantineFinding {
  /** Id of the source that lists the definition. */
  readonly sourceId: string;
  /** The source as the log and the audit trail show it. */
  readonly server: string;
  readonly kind: PinKind;
  /** Name of the definition, by which it is recognized. */
  readonly name: string;
  readonly id: ToolId;
  readonly code: string;
  /** Path of the first member that breaks a rule; absent for another reason. */
  readonly member?: string | undefined;
  readonly reason: string;
  readonly definition: object;
  /** The digest of the definition that was accepted before this one; absent if none was. */
  readonly previousDigest?: string | undefined;
}

/** A definition that is not offered, for a status. */
export interface QuarantinedDefinition {
  readonly id: ToolId;
  readonly reason: string;
  /** When the gateway first listed this definition, in ISO 8601. Survives restarts. */
  readonly since: string;
}

/** A store of pins, with its pins at start. */
export interface PinMemory {
  readonly store: PinStore;
  readonly remembered: readonly SourcePins[];
  /** Ids of sources whose pins cannot be read. @default none */
  readonly unreadable?: ReadonlySet<string>;
}

/** Dependencies of `Quarantine`. */
export interface QuarantineDeps {
  readonly audit: Pick<AuditStore, "record">;
  readonly logger: Logger;
  readonly scrubber: SecretScrubber;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** @default findings are forgotten with the process */
  readonly pins?: PinMemory | undefined;
  /** Returns the health of a source; `undefined` for a source that does not exist. */
  readonly healthOf: (sourceId: string) => Health["state"] | undefined;
}

/** Stored pins of one source; the findings about others are reported again after a restart. */
const sourceMaxPins = 2000;
/** Bytes of them as JSON: the accepted definitions of the source must fit into the same record. */
const sourceMaxBytes = 2 * 1024 * 1024;
/** Characters of each text in a pin. */
const textMaxLength = 1000;
const dayMs = 86_400_000;
/** Milliseconds after which the pins of a source that does not exist are dropped. */
const unknownSourceMaxAgeMs = 30 * dayMs;

/** The quarantined definitions of a gateway. */
export class Quarantine {
  readonly #deps: QuarantineDeps;
  /** By source id, then by `keyOf`. */
  readonly #pins = new Map<string, Map<string, Pin>>();
  readonly #writer: PinWriter;
  /** Whether every source made first contact; earlier, a missing definition can still appear. */
  #isSettled: boolean;

  constructor(deps: QuarantineDeps) {
    this.#deps = deps;
    this.#isSettled = deps.pins === undefined;
    this.#writer = new PinWriter({
      store: deps.pins?.store,
      logger: deps.logger,
      what: "quarantined definitions",
      pinsFor: (sourceId, stored) => this.#pinsFor(sourceId, stored),
    });
    for (const { sourceId, pins } of deps.pins?.remembered ?? []) {
      const quarantined = pins.filter(isQuarantined);
      if (quarantined.length === 0) continue;
      this.#pins.set(sourceId, new Map(quarantined.map((pin) => [keyOf(pin), pin])));
    }
  }

  /** Whether there are no pins. */
  get isEmpty(): boolean {
    return this.#pins.size === 0;
  }

  /**
   * Reports the findings that are new, and drops the pins without a finding.
   *
   * @param findings all findings about the definitions for which `isConcerned` returns true.
   */
  update(
    findings: readonly QuarantineFinding[],
    isConcerned: (sourceId: string, kind: PinKind) => boolean,
  ): void {
    if (findings.length === 0 && this.isEmpty) return;
    const seen = new Set<string>();
    for (const finding of findings) {
      const key = `${finding.sourceId} ${this.#keyOf(finding)}`;
      // Of two definitions with one name, the first counts.
      if (!seen.has(key)) this.#see(finding);
      seen.add(key);
    }
    for (const [sourceId, pins] of this.#pins) {
      for (const [key, { kind, lastSeenAt }] of pins) {
        if (seen.has(`${sourceId} ${key}`)) continue;
        const health = this.#deps.healthOf(sourceId);
        // The lists of a source that is not ready may be incomplete.
        const isGone =
          health === undefined
            ? this.#deps.now() - lastSeenAt > unknownSourceMaxAgeMs
            : health === "ready" && isConcerned(sourceId, kind);
        if (isGone && this.#isSettled) this.#drop(sourceId, pins, key);
      }
    }
    this.#writer.save();
  }

  /** From now on, pins without a finding are dropped: every source made first contact. */
  settle(): void {
    this.#isSettled = true;
  }

  /** Drops the pins of a source that was removed. */
  remove(sourceId: string): void {
    const pins = this.#pins.get(sourceId);
    for (const key of pins?.keys() ?? []) this.#drop(sourceId, pins as Map<string, Pin>, key);
    this.#writer.save();
  }

  /** Returns a finding for a status. */
  toStatus(finding: QuarantineFinding): QuarantinedDefinition {
    const { sourceId, id, reason } = finding;
    const firstSeenAt = this.#pins.get(sourceId)?.get(this.#keyOf(finding))?.firstSeenAt;
    const since = new Date(firstSeenAt ?? this.#deps.now()).toISOString();
    const { scrubber } = this.#deps;
    return { id: scrubber.text(id), reason: scrubber.text(reason), since };
  }

  /** Resolves when all pins are stored, or cannot be. Never rejects. */
  async stored(): Promise<void> {
    await this.#writer.stored();
  }

  #keyOf({ kind, name }: Pick<QuarantineFinding, "kind" | "name">): string {
    return keyOf({ kind, name: this.#shorten(name) });
  }

  /** Returns a text for a pin, without secrets. */
  #shorten(text: string): string {
    return this.#deps.scrubber.text(text).slice(0, textMaxLength);
  }

  #see(finding: QuarantineFinding): void {
    const { sourceId, kind, code, member } = finding;
    const { now } = this.#deps;
    const pins = this.#pins.get(sourceId) ?? new Map<string, Pin>();
    this.#pins.set(sourceId, pins);
    const key = this.#keyOf(finding);
    const known = pins.get(key);
    const digest = digestOf(finding.definition);
    const isSame = known?.digest === digest && isQuarantined(known) && known.state.code === code;
    const at = now();
    if (isSame && at - known.lastSeenAt < dayMs && at >= known.lastSeenAt) return;
    const reason = this.#shorten(finding.reason);
    const shownMember = member === undefined ? {} : { member: this.#shorten(member) };
    pins.set(key, {
      kind,
      name: this.#shorten(finding.name),
      digest,
      state: { kind: "quarantined", code, ...shownMember, reason },
      firstSeenAt: isSame ? known.firstSeenAt : at,
      lastSeenAt: at,
    });
    this.#writer.changed(sourceId);
    if (!isSame) this.#report(finding);
  }

  #drop(sourceId: string, pins: Map<string, Pin>, key: string): void {
    pins.delete(key);
    if (pins.size === 0) this.#pins.delete(sourceId);
    this.#writer.changed(sourceId);
  }

  #report({ server, kind, id, code, reason, definition, previousDigest }: QuarantineFinding): void {
    const { logger, scrubber } = this.#deps;
    const shown = scrubber.text(reason);
    const tool = scrubber.text(id);
    if (previousDigest === undefined) {
      recordOrLog(this.#deps, "server.quarantined", { server, tool, reason: shown, code });
    } else {
      const digest = digestOf(definition);
      const change = { server, kind, tool, digest, previousDigest, effect: "quarantined" } as const;
      recordOrLog(this.#deps, "definition.changed", change);
    }
    logger.warn({ server, tool, code, reason: shown }, "definition is quarantined");
  }

  /** Returns the pins to store for a source, with the times of another gateway that saw a definition earlier. */
  #pinsFor(sourceId: string, stored: readonly Pin[]): readonly Pin[] {
    const own = this.#pins.get(sourceId) ?? new Map<string, Pin>();
    // Pins in another state belong to another part of Toolcrib.
    const others = stored.filter((pin) => !isQuarantined(pin));
    for (const earlier of stored.filter(isQuarantined)) {
      const pin = own.get(keyOf(earlier));
      if (pin?.digest !== earlier.digest || pin.firstSeenAt <= earlier.firstSeenAt) continue;
      own.set(keyOf(earlier), { ...pin, firstSeenAt: earlier.firstSeenAt });
    }
    return [...withinLimits(own.values()), ...others];
  }
}

function withinLimits(pins: Iterable<Pin>): Pin[] {
  const kept: Pin[] = [];
  let left = sourceMaxBytes;
  for (const pin of pins) {
    left -= Buffer.byteLength(JSON.stringify(pin));
    if (left < 0 || kept.length === sourceMaxPins) break;
    kept.push(pin);
  }
  return kept;
}

type QuarantinedPin = Pin & { readonly state: { readonly kind: "quarantined" } };

function isQuarantined(pin: Pin): pin is QuarantinedPin {
  return pin.state.kind === "quarantined";
}

function keyOf({ kind, name }: Pick<Pin, "kind" | "name">): string {
  return `${kind} ${name}`;
}
