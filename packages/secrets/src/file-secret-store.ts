/**
 * The encrypted store of secrets in the home directory. Every read goes to the
 * disk, so a change by another process is visible to the next read. Changes are
 * made one at a time, under a lock that is released when its holder exits, and
 * replace whole files: a process that is killed leaves the old secret or the new
 * one.
 *
 * Never keeps a value in memory, never writes a value unencrypted, and never
 * creates a key while there are secrets that need the old one.
 */

import { mkdir } from "node:fs/promises";
import { isCodedError } from "@toolcrib/diagnostics";
import { FilesError, reasonOf, removeDrafts, removeFile, replaceFile, waitForLock } from "@toolcrib/files";
import type { SecretChange, SecretEntry, SecretStore } from "@toolcrib/store";
import { formatKeyFile, keyBytes, readKey, type SecretKeySettings } from "./key.ts";
import { checkFolders, listStoredNames, readPrivateFile, type StoreLayout, toStoreLayout } from "./layout.ts";
import { needKey, readStoredSecret } from "./read-secret.ts";
import { keyIdOf, nonceBytes, openSecret, sealedKeyId, sealedMaxBytes, sealSecret } from "./sealed-secret.ts";
import { checkSecretName, checkSecretValue, isSecretName } from "./secret-text.ts";
import { SecretsError } from "./secrets-error.ts";
import { watchSecrets } from "./watch-secrets.ts";

/** Maximum number of secrets of one store. */
const maxSecrets = 1000;
/** Longest wait for another process that changes the store. */
const lockTimeoutMs = 5000;

/** Dependencies of the store. */
export interface SecretStoreDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Cryptographically strong random bytes, such as `randomBytes` of node:crypto. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/**
 * Opens the store of a home. The first `set` creates the folder and the key.
 *
 * @throws {SecretsError} `SECRETS_EXPOSED` when other users can read or replace the store.
 */
export async function openSecretStore(
  settings: SecretKeySettings,
  deps: SecretStoreDeps,
): Promise<SecretStore> {
  const layout = toStoreLayout(settings.home);
  await checkFolders(layout);
  return new FileSecretStore(layout, settings, deps);
}

class FileSecretStore implements SecretStore {
  readonly #layout: StoreLayout;
  readonly #settings: SecretKeySettings;
  readonly #deps: SecretStoreDeps;
  readonly #watchers = new Set<AsyncDisposable>();

  constructor(layout: StoreLayout, settings: SecretKeySettings, deps: SecretStoreDeps) {
    this.#layout = layout;
    this.#settings = settings;
    this.#deps = deps;
  }

  get(name: string): Promise<string | undefined> {
    return readStoredSecret(name, this.#settings);
  }

  async set(name: string, value: string): Promise<"created" | "changed"> {
    checkSecretName(name);
    checkSecretValue(value);
    return await this.#change(async () => {
      const names = await listStoredNames(this.#layout);
      checkNewName(name, names);
      const key = await this.#keyForWriting(names);
      await this.#write(name, value, await this.#createdAtOf(name, key), key);
      return names.includes(name) ? "changed" : "created";
    });
  }

  async delete(name: string): Promise<boolean> {
    checkSecretName(name);
    const exists = async () => (await listStoredNames(this.#layout)).includes(name);
    if (!(await exists())) return false;
    return await this.#change(async () => {
      if (!(await exists())) return false;
      await removeFile(this.#layout.sealedPath(name));
      return true;
    });
  }

  async rename(from: string, to: string): Promise<void> {
    checkSecretName(from);
    checkSecretName(to);
    if (!(await listStoredNames(this.#layout)).includes(from)) throw notFound(from);
    await this.#change(async () => {
      const names = await listStoredNames(this.#layout);
      if (!names.includes(from)) throw notFound(from);
      if (names.includes(to)) throw exists(to);
      const others = names.filter((name) => name !== from);
      checkNewName(to, others);
      const key = await this.#keyForWriting(names);
      const line = await this.#readLine(from);
      if (line === undefined) throw notFound(from);
      const { value, createdAt } = openSecret(line, from, key);
      // The new file comes first: a process that is killed in between leaves both.
      await this.#write(to, value, createdAt, key);
      await removeFile(this.#layout.sealedPath(from));
    });
  }

  async list(): Promise<readonly SecretEntry[]> {
    if (!(await checkFolders(this.#layout))) return [];
    let reading: Promise<Buffer> | undefined;
    const key = () => (reading ??= needKey(this.#layout, this.#settings));
    const entries: SecretEntry[] = [];
    for (const name of await listStoredNames(this.#layout)) {
      const entry = await this.#entryOf(name, key);
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  async watch(listener: (change: SecretChange) => void): Promise<AsyncDisposable> {
    const watcher = await watchSecrets(this.#layout, listener);
    this.#watchers.add(watcher);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#watchers.delete(watcher);
        await watcher[Symbol.asyncDispose]();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const open = [...this.#watchers];
    this.#watchers.clear();
    await Promise.all(open.map((watcher) => watcher[Symbol.asyncDispose]()));
  }

  /** Runs `action` with the store locked. @throws {SecretsError} `SECRETS_UNWRITABLE`, `SECRETS_BUSY`, and as `action` */
  async #change<Result>(action: () => Promise<Result>): Promise<Result> {
    const { folder } = this.#layout;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await checkFolders(this.#layout);
      using _lock = await lock(folder);
      await removeDrafts(folder);
      return await action();
    } catch (cause) {
      if (isCodedError(cause) && !(cause instanceof FilesError)) throw cause;
      throw unwritable(folder, cause);
    }
  }

  #readLine(name: string): Promise<Buffer | undefined> {
    return readPrivateFile(this.#layout.sealedPath(name), sealedMaxBytes);
  }

  async #write(name: string, value: string, createdAt: number, key: Buffer): Promise<void> {
    const secret = { name, value, createdAt, updatedAt: this.#deps.now() };
    const line = sealSecret(secret, key, this.#deps.randomBytes(nonceBytes));
    await replaceFile(this.#deps, this.#layout.sealedPath(name), line);
  }

  /** Returns the one key of all secrets; creates it for an empty store. */
  async #keyForWriting(names: readonly string[]): Promise<Buffer> {
    const read = names.length === 0 ? readKey : needKey;
    const key = await read(this.#layout, this.#settings);
    if (key === undefined) {
      const created = Buffer.from(this.#deps.randomBytes(keyBytes));
      await replaceFile(this.#deps, this.#layout.keyPath, formatKeyFile(created));
      return created;
    }
    for (const name of names) await this.#checkSameKey(name, key);
    return key;
  }

  async #checkSameKey(name: string, key: Buffer): Promise<void> {
    let id: string;
    try {
      const line = await this.#readLine(name);
      if (line === undefined) return;
      id = sealedKeyId(line, name);
    } catch (error) {
      // The key of a damaged secret is unknown, and the other secrets must stay writable.
      if (isCodedError(error)) return;
      throw error;
    }
    if (id === keyIdOf(key)) return;
    throw new SecretsError(
      "SECRETS_KEY_WRONG",
      `Cannot use this key: secret ${JSON.stringify(name)} was encrypted with another key`,
      { hint: "restore the key that the secrets were set with; one store has one key" },
    );
  }

  async #createdAtOf(name: string, key: Buffer): Promise<number> {
    try {
      const line = await this.#readLine(name);
      return line === undefined ? this.#deps.now() : openSecret(line, name, key).createdAt;
    } catch (error) {
      // The existing secret is damaged and is about to be replaced.
      if (isCodedError(error)) return this.#deps.now();
      throw error;
    }
  }

  async #entryOf(name: string, key: () => Promise<Buffer>): Promise<SecretEntry | undefined> {
    try {
      checkSecretName(name);
      const line = await this.#readLine(name);
      if (line === undefined) return undefined;
      const { createdAt, updatedAt } = openSecret(line, name, await key());
      return { name, createdAt, updatedAt, problem: undefined };
    } catch (error) {
      if (!(error instanceof SecretsError)) throw error;
      return { name, createdAt: undefined, updatedAt: undefined, problem: error };
    }
  }
}

async function lock(folder: string): Promise<Disposable> {
  const held = await waitForLock(folder, "write", lockTimeoutMs);
  if (held !== undefined) return held;
  throw new SecretsError(
    "SECRETS_BUSY",
    `Cannot change the secret store: another process has locked it for ${lockTimeoutMs} ms`,
    { hint: "try again, or find the process that has the file write.lock open" },
  );
}

/** Refuses a name that differs from an existing one in case only: file systems and variables do not distinguish case. */
function checkNewName(name: string, names: readonly string[]): void {
  const twin = names.find((one) => one !== name && one.toLowerCase() === name.toLowerCase());
  if (twin !== undefined && isSecretName(twin)) throw exists(twin);
  if (names.includes(name) || names.length < maxSecrets) return;
  throw new SecretsError("SECRETS_FULL", `Cannot store another secret: the store has ${maxSecrets} secrets`, {
    hint: "remove some: toolcrib secret list, toolcrib secret rm NAME",
  });
}

function exists(name: string): SecretsError {
  return new SecretsError("SECRETS_EXISTS", `Cannot use this name: secret ${JSON.stringify(name)} exists`, {
    hint: "choose another name, or remove that secret first",
  });
}

function notFound(name: string): SecretsError {
  return new SecretsError(
    "SECRETS_NOT_FOUND",
    `Cannot find secret ${JSON.stringify(name)} in the secret store`,
    { hint: "see toolcrib secret list" },
  );
}

function unwritable(folder: string, error: unknown): SecretsError {
  const isChanged = error instanceof FilesError && error.content === "new";
  const reason = reasonOf(error instanceof FilesError ? error.cause : error);
  const shown = JSON.stringify(folder);
  return new SecretsError(
    "SECRETS_UNWRITABLE",
    isChanged
      ? `Changed the secret store ${shown}, but the disk did not confirm the change: ${reason}`
      : `Cannot change the secret store ${shown}: ${reason}`,
    {
      cause: error,
      hint: "give the user who runs Toolcrib write access to it, and check that the disk has free space",
    },
  );
}
