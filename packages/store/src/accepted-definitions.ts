/**
 * The accepted definitions of one source, in memory and within its limits: what is accepted must fit
 * into the record of the source, or it would be a first contact again after a restart. Without I/O.
 */

import type { Pin, PinKind, PinState } from "./pin-store.ts";

/** An accepted definition. */
export interface AcceptedDefinition {
  readonly kind: PinKind;
  readonly name: string;
  readonly digest: string;
  readonly state: Exclude<PinState, { readonly kind: "quarantined" }>;
  /** As the source lists it while it is unchanged, else as it was stored. */
  definition: object | undefined;
  readonly firstSeenAt: number;
  lastSeenAt: number;
}

/** Accepted definitions of one source. @limit server */
export const sourceMaxPins = 12_000;
/** Bytes of one name, and of all names of one source, as JSON. */
export const nameMaxBytes = 8192;
const namesMaxBytes = 2 * 1024 * 1024;
const dayMs = 86_400_000;

/** The accepted definitions of one source. */
export class AcceptedDefinitions {
  readonly #byKey = new Map<string, AcceptedDefinition>();
  #namesBytes = 0;

  get({ kind, name }: Pick<Pin, "kind" | "name">): AcceptedDefinition | undefined {
    return this.#byKey.get(keyOf(kind, name));
  }

  values(): Iterable<AcceptedDefinition> {
    return this.#byKey.values();
  }

  /** Adds or replaces a definition. @returns whether there was space for it */
  set(accepted: AcceptedDefinition, at: number): boolean {
    const { kind, name } = accepted;
    const key = keyOf(kind, name);
    if (!this.#byKey.has(key)) {
      const nameBytes = bytesOf(name);
      if (nameBytes > nameMaxBytes || this.#namesBytes + nameBytes > namesMaxBytes) return false;
      if (this.#byKey.size >= sourceMaxPins && !this.#dropOldest(at)) return false;
      this.#namesBytes += nameBytes;
    }
    this.#byKey.set(key, accepted);
    return true;
  }

  /** Puts `before` back in the place of `accepted`; nothing where another one took that place since. */
  undo(accepted: AcceptedDefinition, before: AcceptedDefinition | undefined): void {
    const { kind, name } = accepted;
    const key = keyOf(kind, name);
    if (this.#byKey.get(key) !== accepted) return;
    if (before !== undefined) {
      this.#byKey.set(key, before);
      return;
    }
    this.#namesBytes -= bytesOf(name);
    this.#byKey.delete(key);
  }

  /** Drops the definition that was not listed for the longest time, for at least a day. */
  #dropOldest(at: number): boolean {
    let [oldest, oldestAt] = [undefined as AcceptedDefinition | undefined, at - dayMs];
    for (const one of this.#byKey.values()) {
      if (one.lastSeenAt < oldestAt) [oldest, oldestAt] = [one, one.lastSeenAt];
    }
    if (oldest === undefined) return false;
    this.#namesBytes -= bytesOf(oldest.name);
    return this.#byKey.delete(keyOf(oldest.kind, oldest.name));
  }
}

function keyOf(kind: PinKind, name: string): string {
  return `${kind} ${name}`;
}

function bytesOf(name: string): number {
  return Buffer.byteLength(JSON.stringify(name));
}
