/**
 * The secrets of sources in memory, so that a call needs no disk access. A
 * value is kept only as long as it is known to be current: a stored one until
 * the store reports a change, one of a file or keychain for a moment, one of
 * the environment for good. Values are given to the reader and the scrubber,
 * and to nothing else.
 */

import { CodedError, type Logger, messageOf } from "@toolcrib/diagnostics";
import { openSecretStore } from "./file-secret-store.ts";
import type { SecretRef } from "./secret-ref.ts";
import type { SecretSource } from "./secret-source.ts";

/** Reads secrets for the cache, as `SecretResolver` of the package `config` does. */
interface Resolver {
  /** Reads the secret that `ref` names; a relative path is relative to the folder of `fileName`. */
  resolve(
    ref: SecretRef,
    fileName: string,
  ): Promise<
    | { readonly kind: "value"; readonly value: string; readonly from: SecretSource["kind"] }
    | { readonly kind: "failed"; readonly code: string; readonly message: string; readonly hint: string }
  >;
}

/** The store to watch. */
interface WatchedStore {
  readonly home: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly randomBytes: (length: number) => Uint8Array;
  readonly logger: Logger;
}

/** Dependencies of the cache. */
interface SecretCacheDeps {
  readonly resolver: Resolver;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Milliseconds for which a value is assumed to be current. */
const keptMs = { env: Number.POSITIVE_INFINITY, file: 2000, keychain: 60_000 } as const;
/** The same for stored secrets, while the store is not watched. */
const unwatchedMs = 2000;

/** A secret, and the readers of it. */
interface SharedSecret {
  readonly key: string;
  readonly secret: CachedSecret;
  readersCount: number;
}

/** The secrets of one gateway. Readers of one secret share its value, and read it once. */
export class SecretCache {
  readonly #deps: SecretCacheDeps;
  readonly #shared = new Map<string, SharedSecret>();
  readonly #readers = new Map<() => Promise<string>, SharedSecret>();
  #isWatched = false;

  constructor(deps: SecretCacheDeps) {
    this.#deps = deps;
  }

  /**
   * Returns a reader of the secret that `ref`, in the file `fileName`, names. It throws a `CodedError` with a code of the
   * resolver, and never with a value.
   *
   * @param learn receives each value before the reader returns it
   */
  reader(ref: SecretRef, fileName: string, learn: (value: string) => void): () => Promise<string> {
    const key = JSON.stringify([ref, fileName]);
    const shared = this.#shared.get(key) ?? { key, secret: this.#secretOf(ref, fileName), readersCount: 0 };
    shared.readersCount += 1;
    this.#shared.set(key, shared);
    let learnedReading = 0;
    const read = async () => {
      const { value, reading } = await shared.secret.read();
      if (reading !== learnedReading) learn(value);
      learnedReading = reading;
      return value;
    };
    this.#readers.set(read, shared);
    return read;
  }

  /** Forgets a reader that is no longer used; with the last one of a secret, its value. */
  release(read: () => Promise<string>): void {
    const shared = this.#readers.get(read);
    if (shared === undefined) return;
    this.#readers.delete(read);
    shared.readersCount -= 1;
    if (shared.readersCount === 0) this.#shared.delete(shared.key);
  }

  /**
   * Watches the secret store of a home, and keeps stored secrets until it reports a change. A store that cannot be
   * watched is logged; its secrets are read again and again.
   *
   * @param onChange receives the name of each secret that was set or removed, after it was forgotten
   * @returns the watch, to dispose of; undefined where the store cannot be watched.
   */
  async watch(
    { home, env, randomBytes, logger }: WatchedStore,
    onChange: (name: string) => void,
  ): Promise<AsyncDisposable | undefined> {
    try {
      const store = await openSecretStore({ home, env }, { now: this.#deps.now, randomBytes });
      const watch = await store.watch(({ name }) => {
        for (const { secret } of this.#shared.values()) if (secret.storedName === name) secret.forget();
        onChange(name);
      });
      this.#isWatched = true;
      // A value that was read earlier may have changed since.
      for (const { secret } of this.#shared.values()) if (secret.storedName !== undefined) secret.forget();
      return watch;
    } catch (error) {
      logger.warn(
        { reason: messageOf(error) },
        "secret store cannot be watched: secrets are read again and again",
      );
      return undefined;
    }
  }

  #secretOf(ref: SecretRef, fileName: string): CachedSecret {
    const storedName = ref.kind === "store" || ref.kind === "named" ? ref.name : undefined;
    return new CachedSecret(storedName, this.#deps.now, async () => {
      const resolution = await this.#deps.resolver.resolve(ref, fileName);
      if (resolution.kind === "failed") {
        const { code, message, hint } = resolution;
        throw new CodedError(code, message, { hint });
      }
      const { value, from } = resolution;
      return { value, keptMs: from === "store" ? this.#storedMs : keptMs[from] };
    });
  }

  get #storedMs(): number {
    return this.#isWatched ? Number.POSITIVE_INFINITY : unwatchedMs;
  }
}

/** A value, and the number of its reading, from 1. */
interface ReadSecret {
  readonly value: string;
  readonly reading: number;
}

class CachedSecret {
  readonly storedName: string | undefined;
  readonly #now: () => number;
  readonly #resolve: () => Promise<{ readonly value: string; readonly keptMs: number }>;
  #kept: { readonly found: ReadSecret; readonly until: number } | undefined;
  #reading: Promise<ReadSecret> | undefined;
  #readings = 0;
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

  read(): Promise<ReadSecret> {
    if (this.#kept !== undefined && this.#now() < this.#kept.until) return Promise.resolve(this.#kept.found);
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

  async #readFresh(): Promise<ReadSecret> {
    const generation = this.#generation;
    const { value, keptMs: ms } = await this.#resolve();
    this.#readings += 1;
    const found = { value, reading: this.#readings };
    if (generation === this.#generation) this.#kept = { found, until: this.#now() + ms };
    return found;
  }
}
