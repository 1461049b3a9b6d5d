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

/** The secrets of one gateway. */
export class SecretCache {
  readonly #deps: SecretCacheDeps;
  readonly #secrets = new Map<() => Promise<string>, CachedSecret>();
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
    const read = () => secret.read();
    this.#secrets.set(read, secret);
    return read;
  }

  /** Forgets a reader that is no longer used, with its value. */
  release(read: () => Promise<string>): void {
    this.#secrets.delete(read);
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
        for (const secret of this.#secrets.values()) if (secret.storedName === name) secret.forget();
        onChange(name);
      });
      this.#isWatched = true;
      // A value that was read earlier may have changed since.
      for (const secret of this.#secrets.values()) if (secret.storedName !== undefined) secret.forget();
      return watch;
    } catch (error) {
      logger.warn(
        { reason: messageOf(error) },
        "secret store cannot be watched: secrets are read again and again",
      );
      return undefined;
    }
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
