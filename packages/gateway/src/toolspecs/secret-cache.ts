/**
 * The secrets of toolspecs, kept in memory so that a call costs no look at the
 * disk, and only as long as they hold: a stored one until the store says that
 * it changed, one of a file or keychain for a moment, one of the environment
 * for good. Values go to whoever reads and to the scrubber, and nowhere else.
 */

import type { SecretRef } from "@toolcrib/config";
import { GatewayError } from "../gateway-error.ts";
import type { SecretResolver } from "../secrets/secret-resolver.ts";

/** What the cache needs. */
export interface SecretCacheDeps {
  readonly resolver: Pick<SecretResolver, "resolve">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Milliseconds for which a value is taken to be what its place still holds. */
const keptMs = { env: Number.POSITIVE_INFINITY, file: 2000, keychain: 60_000 } as const;
/** The same for stored ones, where nobody tells of changes. */
const unwatchedMs = 2000;

/** Reads one secret. @throws {GatewayError} with a `CONFIG_SECRET_…` code; never with a value. */
export type ReadSecret = () => Promise<string>;

/** The cache. */
export interface SecretCache {
  /** A reader of the secret that `ref`, of the file `fileName`, names; `learn` is told each value before it is given out. */
  reader(ref: SecretRef, fileName: string, learn: (value: string) => void): ReadSecret;
  /** The stored secret `name` was set or removed. */
  changed(name: string): void;
  /** Stored secrets are watched from now on: they hold until `changed`. */
  watched(): void;
}

interface Slot {
  readonly storedName: string | undefined;
  kept: { readonly value: string; readonly until: number } | undefined;
  reading: Promise<string> | undefined;
  /** Grows when what is kept, or being read, may be old. */
  era: number;
}

/** Create a cache that holds nothing yet. */
export function createSecretCache({ resolver, now }: SecretCacheDeps): SecretCache {
  const slots: Slot[] = [];
  let isWatched = false;

  function forget(slot: Slot): void {
    slot.era += 1;
    slot.kept = undefined;
    slot.reading = undefined;
  }

  return {
    reader(ref, fileName, learn) {
      const isStored = ref.kind === "store" || ref.kind === "named";
      const slot: Slot = {
        storedName: isStored ? ref.name : undefined,
        kept: undefined,
        reading: undefined,
        era: 0,
      };
      slots.push(slot);

      async function resolve(): Promise<string> {
        const { era } = slot;
        const resolution = await resolver.resolve(ref, fileName);
        if (resolution.kind === "failed") {
          const { code, message, hint } = resolution;
          throw new GatewayError(code, message, { hint });
        }
        const { value, from } = resolution;
        learn(value);
        const holdsMs =
          from === "store" ? (isWatched ? Number.POSITIVE_INFINITY : unwatchedMs) : keptMs[from];
        if (era === slot.era) slot.kept = { value, until: now() + holdsMs };
        return value;
      }

      return () => {
        if (slot.kept !== undefined && now() < slot.kept.until) return Promise.resolve(slot.kept.value);
        if (slot.reading !== undefined) return slot.reading;
        const reading = resolve().finally(() => {
          if (slot.reading === reading) slot.reading = undefined;
        });
        slot.reading = reading;
        return reading;
      };
    },
    changed(name) {
      for (const slot of slots) if (slot.storedName === name) forget(slot);
    },
    watched() {
      isWatched = true;
      // What was read before may have changed since.
      for (const slot of slots) if (slot.storedName !== undefined) forget(slot);
    },
  };
}
