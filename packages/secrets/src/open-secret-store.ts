/**
 * The encrypted store of secrets of a home. Every read goes to the disk, so a
 * secret that another process changed is the next one that is read. Changes are
 * made one at a time, under a lock that dies with its holder, by replacing whole
 * files: a process that is killed leaves the old secret or the new one.
 *
 * Never keeps a value in memory, never writes one in plain, and makes no new key
 * while there are secrets that need the old one.
 */

import { mkdir } from "node:fs/promises";
import { isCodedError } from "@toolcrib/diagnostics";
import { FilesError, removeDrafts, removeFile, replaceFile, waitForLock } from "@toolcrib/files";
import { explainFileFailure } from "./file-failure.ts";
import { formatKeyFile, keyBytes, readKey, type SecretKeySettings } from "./key.ts";
import { checkFolders, listStoredNames, readPrivateFile, toStoreLayout } from "./layout.ts";
import { needKey, readStoredSecret } from "./read-secret.ts";
import { keyIdOf, nonceBytes, openSecret, sealedKeyId, sealedMaxBytes, sealSecret } from "./sealed-secret.ts";
import { checkSecretName, checkSecretValue, isSecretName } from "./secret-text.ts";
import { SecretsError } from "./secrets-error.ts";
import { type SecretChange, watchSecrets } from "./watch-secrets.ts";

/** Most secrets of one store. */
const maxSecrets = 1000;
/** Longest wait for another process that changes the store. */
const lockTimeoutMs = 5000;

/** What the store takes from the world. */
export interface SecretStoreDeps {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Random bytes fit for cryptography (`randomBytes` of node:crypto). */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** A stored secret without its value. */
export interface SecretEntry {
  readonly name: string;
  /** Milliseconds since the epoch; `undefined` where the secret cannot be opened. */
  readonly createdAt: number | undefined;
  readonly updatedAt: number | undefined;
  /** Why it cannot be opened. */
  readonly problem: SecretsError | undefined;
}

/** The secrets of one home. */
export interface SecretStore extends AsyncDisposable {
  /**
   * The value of `name`, or `undefined` where there is none.
   *
   * @throws {SecretsError} for a name that cannot be, a key that does not fit, a file that was tampered with or is open to others.
   */
  get(name: string): Promise<string | undefined>;
  /**
   * Keep `value` under `name`, in the place of the one that is there; also of one that cannot be opened because it is damaged.
   *
   * @throws {SecretsError} as `get`; `SECRETS_VALUE_INVALID`; `SECRETS_EXISTS` for a name that differs in case only.
   */
  set(name: string, value: string): Promise<"created" | "changed">;
  /** Remove `name`; needs no key. @returns whether it was there. */
  delete(name: string): Promise<boolean>;
  /**
   * Give a secret another name; its value and the time of its creation stay.
   *
   * @throws {SecretsError} `SECRETS_NOT_FOUND`, `SECRETS_EXISTS`; as `get`.
   */
  rename(from: string, to: string): Promise<void>;
  /** Every secret by name. One that cannot be opened is listed with its problem. */
  list(): Promise<readonly SecretEntry[]>;
  /**
   * Be told of secrets that any process sets or removes, until disposed. Resolves when the watching has begun.
   */
  watch(listener: (change: SecretChange) => void): Promise<AsyncDisposable>;
}

/**
 * Open the store of a home. The folder and the key are made at the first `set`.
 *
 * @throws {SecretsError} `SECRETS_EXPOSED` when other users could have read or exchanged it.
 */
export async function openSecretStore(
  settings: SecretKeySettings,
  deps: SecretStoreDeps,
): Promise<SecretStore> {
  const layout = toStoreLayout(settings.home);
  const watchers = new Set<AsyncDisposable>();
  await checkFolders(layout);

  async function change<Result>(action: () => Promise<Result>): Promise<Result> {
    try {
      await mkdir(layout.folder, { recursive: true, mode: 0o700 });
      await checkFolders(layout);
      using _lock = await lock(layout.folder);
      await removeDrafts(layout.folder);
      return await action();
    } catch (cause) {
      if (isCodedError(cause) && !(cause instanceof FilesError)) throw cause;
      const isChanged = cause instanceof FilesError && cause.content === "new";
      const problem = explainFileFailure(cause instanceof FilesError ? cause.cause : cause);
      throw new SecretsError(
        "SECRETS_UNWRITABLE",
        isChanged
          ? `Changed the secret store ${JSON.stringify(layout.folder)}, but the disk did not confirm the change: ${problem}`
          : `Cannot change the secret store ${JSON.stringify(layout.folder)}: ${problem}`,
        { cause, hint: "give the user who runs Toolcrib write access to it, and look for room on the disk" },
      );
    }
  }

  const readLine = (name: string) => readPrivateFile(layout.sealedPath(name), sealedMaxBytes);

  /** The key that all secrets have; makes one for a store that has none. */
  async function keyForWriting(names: readonly string[]): Promise<Buffer> {
    const key = names.length === 0 ? await readKey(layout, settings) : await needKey(layout, settings);
    if (key === undefined) {
      const made = Buffer.from(deps.randomBytes(keyBytes));
      await replaceFile(deps, layout.keyPath, formatKeyFile(made));
      return made;
    }
    for (const name of names) await checkSameKey(name, key);
    return key;
  }

  async function checkSameKey(name: string, key: Buffer): Promise<void> {
    let id: string;
    try {
      const line = await readLine(name);
      if (line === undefined) return;
      id = sealedKeyId(line, name);
    } catch (error) {
      // A damaged secret tells nothing of its key, and must not keep the others from being changed.
      if (isCodedError(error)) return;
      throw error;
    }
    if (id === keyIdOf(key)) return;
    throw new SecretsError(
      "SECRETS_KEY_WRONG",
      `Cannot use this key: secret ${JSON.stringify(name)} was encrypted with another`,
      { hint: "give back the key that the secrets were set with; one store has one key" },
    );
  }

  async function write(name: string, value: string, createdAt: number, key: Buffer): Promise<void> {
    const secret = { name, value, createdAt, updatedAt: deps.clock() };
    const line = sealSecret(secret, key, deps.randomBytes(nonceBytes));
    await replaceFile(deps, layout.sealedPath(name), line);
  }

  async function createdAtOf(name: string, key: Buffer): Promise<number> {
    try {
      const line = await readLine(name);
      return line === undefined ? deps.clock() : openSecret(line, name, key).createdAt;
    } catch (error) {
      // It was damaged, and is about to be replaced.
      if (isCodedError(error)) return deps.clock();
      throw error;
    }
  }

  async function entryOf(name: string, key: () => Promise<Buffer>): Promise<SecretEntry | undefined> {
    try {
      checkSecretName(name);
      const line = await readLine(name);
      if (line === undefined) return undefined;
      const { createdAt, updatedAt } = openSecret(line, name, await key());
      return { name, createdAt, updatedAt, problem: undefined };
    } catch (error) {
      if (!(error instanceof SecretsError)) throw error;
      return { name, createdAt: undefined, updatedAt: undefined, problem: error };
    }
  }

  return {
    get: (name) => readStoredSecret(name, settings),
    async set(name, value) {
      checkSecretName(name);
      checkSecretValue(value);
      return await change(async () => {
        const names = await listStoredNames(layout);
        checkNew(name, names);
        const key = await keyForWriting(names);
        const isNew = !names.includes(name);
        await write(name, value, await createdAtOf(name, key), key);
        return isNew ? "created" : "changed";
      });
    },
    async delete(name) {
      checkSecretName(name);
      if (!(await listStoredNames(layout)).includes(name)) return false;
      return await change(async () => {
        if (!(await listStoredNames(layout)).includes(name)) return false;
        await removeFile(layout.sealedPath(name));
        return true;
      });
    },
    async rename(from, to) {
      checkSecretName(from);
      checkSecretName(to);
      if (!(await listStoredNames(layout)).includes(from)) throw notFound(from);
      await change(async () => {
        const names = await listStoredNames(layout);
        if (!names.includes(from)) throw notFound(from);
        if (names.includes(to)) throw exists(to);
        checkNew(
          to,
          names.filter((name) => name !== from),
        );
        const key = await keyForWriting(names);
        const line = await readLine(from);
        if (line === undefined) throw notFound(from);
        const { value, createdAt } = openSecret(line, from, key);
        // The new one first: a process that is killed between leaves both.
        await write(to, value, createdAt, key);
        await removeFile(layout.sealedPath(from));
      });
    },
    async list() {
      if (!(await checkFolders(layout))) return [];
      const names = await listStoredNames(layout);
      let reading: Promise<Buffer> | undefined;
      const key = () => (reading ??= needKey(layout, settings));
      const entries: SecretEntry[] = [];
      for (const name of names) {
        const entry = await entryOf(name, key);
        if (entry !== undefined) entries.push(entry);
      }
      return entries;
    },
    async watch(listener) {
      const watcher = await watchSecrets(layout, listener);
      watchers.add(watcher);
      return {
        async [Symbol.asyncDispose]() {
          watchers.delete(watcher);
          await watcher[Symbol.asyncDispose]();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      const open = [...watchers];
      watchers.clear();
      await Promise.all(open.map((watcher) => watcher[Symbol.asyncDispose]()));
    },
  };
}

async function lock(folder: string): Promise<Disposable> {
  const held = await waitForLock(folder, "write", lockTimeoutMs);
  if (held !== undefined) return held;
  throw new SecretsError(
    "SECRETS_BUSY",
    "Cannot change the secret store: another process has been at it for too long",
    {
      hint: "try again, or look which process has the file write.lock open",
    },
  );
}

/** That `name` may stand beside `names`: file systems and variables do not tell upper from lower case. */
function checkNew(name: string, names: readonly string[]): void {
  const twin = names.find((one) => one !== name && one.toLowerCase() === name.toLowerCase());
  if (twin !== undefined && isSecretName(twin)) throw exists(twin);
  if (names.includes(name) || names.length < maxSecrets) return;
  throw new SecretsError("SECRETS_FULL", `Cannot keep another secret: there are ${maxSecrets} of them`, {
    hint: "remove some: toolcrib secret list, toolcrib secret rm NAME",
  });
}

function exists(name: string): SecretsError {
  return new SecretsError(
    "SECRETS_EXISTS",
    `Cannot use this name: there is a secret ${JSON.stringify(name)}`,
    {
      hint: "choose another name, or remove that secret first",
    },
  );
}

function notFound(name: string): SecretsError {
  return new SecretsError(
    "SECRETS_NOT_FOUND",
    `Cannot find secret ${JSON.stringify(name)} in the secret store`,
    {
      hint: "see toolcrib secret list",
    },
  );
}
