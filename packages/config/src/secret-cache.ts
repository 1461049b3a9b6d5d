/**
 * The secrets of toolspecs in memory, so that a call needs no disk access. A
 * value is kept only as long as it is known to be current: a stored one until
 * the store reports a change, one of a file or keychain for a moment, one of
 * the environment for good. Values are given to the reader and the scrubber,
 * and to nothing else.
 */

import { CodedError } from "@toolcrib/diagnostics";
import type { SecretRef } from "./config-types.ts";
import type { SecretResolver } from "./secret-resolver.ts";

/** Dependencies of the cache. */
export interface SecretCacheDeps {
  readonly resolver: Pick<SecretResolver, "resolve">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Milliseconds for which a value is assumed to be current. */
const keptMs = { env: Number.POSITIVE_INFINITY, file: 2000, keychain: 60_000 } as const;
/** The same for stored secrets, while the store is not watched. */
const unwatchedMs = 2000;

/** Reads one secret. @throws {CodedError} with a `CONFIG_SECRET_…` code; never with a value. */
export type ReadSecret = () => Promise<string>;

/** The secrets of one gateway. */
export class SecretCache {
  readonly #deps: SecretCacheDeps;
  readonly #secrets: CachedSecret[] = [];
  #isWatched = false;

  constructor(deps: SecretCacheDeps) {
    this.#deps = deps;
  }

  /** Returns a reader of the secret that `ref`, in the file `fileName`, names. @param learn receives each value before the reader returns it */
  reader(ref: SecretRef, fileName: string, learn: (value: string) => void): ReadSecret {
    const storedName = ref.kind === "store" || ref.kind === "named" ? ref.name : undefined;
    const secret = new CachedSecret(storedName, this.#deps.now, async () => {
      const resolution = await this.#deps.resolver.resolve(ref, fileName);
      if (resolution.kind === "failed") {
        const { code, message, hint } = resolution;
        throw new CodedError(code, message, { hint });
      }
      const { value, from } = resolution;
      learn(value);
      return { value, keptMs: from === "store" ? this.#storedMs : keptMs[from] };
    });
    this.#secrets.push(secret);
    return () => secret.read();
  }

  /** Forgets the stored secret `name`, which was set or removed. */
  changed(name: string): void {
    for (const secret of this.#secrets) if (secret.storedName === name) secret.forget();
  }

  /** Keeps stored secrets until `changed` from now on: the store is watched. */
  watched(): void {
    this.#isWatched = true;
    // A value that was read earlier may have changed since.
    for (const secret of this.#secrets) if (secret.storedName !== undefined) secret.forget();
  }

  get #storedMs(): number {
    return this.#isWatched ? Number.POSITIVE_INFINITY : unwatchedMs;
  }
}

class CachedSecret {
  readonly storedName: string | undefined;
  readonly #now: () => number;
  readonly #resolve: () => Promise<{ readonly value: string; readonly keptMs: number }>;
  #kept: { readonly value: string; readonly until: number } | undefined;
  #reading: Promise<string> | undefined;
  /** Grows when a value that is kept or being read may be outdated. */
  #generation = 0;

  constructor(
    storedName: string | undefined,
    now: () => number,
    resolve: () => Promise<{ readonly value: string; readonly keptMs: number }>,
  ) {
    this.storedName = storedName;
    this.#now = now;
    this.#resolve = resolve;
  }

  read(): Promise<string> {
    if (this.#kept !== undefined && this.#now() < this.#kept.until) return Promise.resolve(this.#kept.value);
    if (this.#reading !== undefined) return this.#reading;
    const reading = this.#readFresh().finally(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    this.#reading = reading;
    return reading;
  }

  forget(): void {
    this.#generation += 1;
    this.#kept = undefined;
    this.#reading = undefined;
  }

  async #readFresh(): Promise<string> {
    const generation = this.#generation;
    const { value, keptMs: ms } = await this.#resolve();
    if (generation === this.#generation) this.#kept = { value, until: this.#now() + ms };
    return value;
  }
}
