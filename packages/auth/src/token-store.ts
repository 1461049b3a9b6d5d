/**
 * Authenticates clients by bearer token: one file per token in `<home>/tokens`,
 * and one token from the environment. Added, changed and removed files take
 * effect within a second, without a restart.
 *
 * The store keeps digests, never a token. It never reveals how much of a wrong
 * token is correct: tokens are looked up by their SHA-256 digest, so the duration of
 * a lookup depends on no existing token.
 */

import { hash } from "node:crypto";
import { readdirSync, type Stats, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CodedError, type Logger, messageOf } from "@toolcrib/diagnostics";
import { type Identity, issuerName, localIdentity } from "@toolcrib/tool";
import { AuthError } from "./auth-error.ts";
import {
  createTokenFile,
  environmentTokenName,
  isTokenName,
  parseToken,
  type RandomBytes,
  readTokenFile,
  refuseExposed,
  tokenDirectory,
  unreadable,
} from "./token-file.ts";

/** Name of the token that `openTokenStore` creates if it is missing, for the clients of the gateway. */
export const defaultTokenName = "default";

/** Maximum number of token files. @limit operator */
const filesMaxCount = 1000;
/** Milliseconds between two scans of the folder. */
const scanIntervalMs = 1000;

/** Dependencies of a token store. */
export interface TokenStoreDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
  /** Value of the environment variable `TOOLCRIB_TOKEN`. Empty and absent mean no token. */
  readonly environmentToken?: string;
  /**
   * Whether the store only says which tokens were revoked, for a gateway without an HTTP server. It creates nothing, throws
   * nothing, reads the folder when it is asked first, and does not judge the token of an environment. @default false
   */
  readonly isObserver?: boolean;
  /** Reports that a file has another token than before: it was replaced while the store was open. @default not reported */
  readonly onReplaced?: (name: string) => void;
}

/**
 * Reads all tokens below `home`, and creates the one called `default` if it is missing.
 *
 * @throws {AuthError} `TOKEN_FILE_EXPOSED`, `TOKEN_FILE_UNREADABLE`, `TOKEN_INVALID`, `TOKEN_TOO_MANY`:
 *   one invalid token is enough. A token that becomes invalid later is logged and no longer accepted.
 */
export async function openTokenStore(home: string, deps: TokenStoreDeps): Promise<TokenStore> {
  const directory = tokenDirectory(home);
  const { environmentToken = "", randomBytes, isObserver = false } = deps;
  if (isObserver) return new TokenStore(directory, undefined, deps);
  const environmentDigest =
    environmentToken === "" ? undefined : digestOf(parseToken(environmentToken, "TOOLCRIB_TOKEN"));
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unreadable(directory, cause);
  }
  refuseExposed(directory, statSync(directory), "700");
  await createTokenFile(join(directory, defaultTokenName), randomBytes);
  return new TokenStore(directory, environmentDigest, deps);
}

/** The valid tokens. */
export class TokenStore {
  readonly #directory: string;
  readonly #environmentDigest: string | undefined;
  readonly #now: () => number;
  readonly #logger: Logger;
  readonly #isObserver: boolean;
  #files: TokenFiles = noFiles;
  /** By the digest of the token. */
  #identities: ReadonlyMap<string, Identity> = new Map();
  /** The credentials and names of the identities. */
  #credentials: ReadonlySet<string> = new Set();
  readonly #onReplaced: TokenStoreDeps["onReplaced"];
  /** Digests by the names of the files; those of files that could not be read since are kept. */
  #digests: ReadonlyMap<string, string> = new Map();
  /** Names of the files that could not be read. */
  #unread: ReadonlySet<string> = new Set();
  /** Time of the last scan of the folder. */
  #scannedAt = Number.NEGATIVE_INFINITY;

  /** Use `openTokenStore`. */
  constructor(
    directory: string,
    environmentDigest: string | undefined,
    {
      now,
      logger,
      isObserver = false,
      onReplaced,
    }: Pick<TokenStoreDeps, "now" | "logger" | "isObserver" | "onReplaced">,
  ) {
    this.#directory = directory;
    this.#environmentDigest = environmentDigest;
    this.#now = now;
    this.#logger = logger;
    this.#isObserver = isObserver;
    this.#onReplaced = onReplaced;
    if (isObserver) return;
    this.#files = scan(directory);
    this.#identities = this.#read((_name, error) => {
      throw error;
    });
    this.#scannedAt = now();
  }

  /** Returns the identity for an `Authorization` header; `undefined` unless it holds a valid token. */
  authenticate(authorization: string | undefined): Identity | undefined {
    this.#rescanIfDue();
    if (authorization === undefined) return undefined;
    const token = /^bearer +([^\s]{1,512})$/i.exec(authorization)?.[1];
    return token === undefined ? undefined : this.#identities.get(digestOf(token));
  }

  /**
   * Whether `identity` was authenticated by a token that was revoked or replaced since. Tokens that cannot be read at the
   * moment were not.
   */
  isRevoked(identity: Identity): boolean {
    const { subject, credential } = identity;
    if (issuerName(identity) !== "token") return false;
    if (this.#isObserver && subject === environmentTokenName) return false;
    this.#rescanIfDue();
    if (this.#files === noFiles || this.#unread.has(subject)) return false;
    return credential === undefined || !this.#credentials.has(`${credential} ${subject}`);
  }

  /** Names of the valid tokens, sorted. */
  names(): readonly string[] {
    return [...this.#identities.values()].map(({ name }) => name).sort();
  }

  #rescanIfDue(): void {
    const age = this.#now() - this.#scannedAt;
    if (age >= scanIntervalMs || age < 0) this.#rescan();
  }

  #rescan(): void {
    this.#scannedAt = this.#now();
    let latest: TokenFiles = noFiles;
    try {
      latest = scan(this.#directory);
    } catch (error) {
      // Without a trusted folder, no file in it can be trusted.
      if (this.#files !== noFiles) {
        this.#logger.error(errorFields(error), "no token file is accepted any more");
      }
    }
    if (latest.signature === this.#files.signature) return;
    this.#files = latest;
    this.#identities = this.#read((name, error) => {
      this.#logger.error({ ...errorFields(error), name }, "token is not accepted");
    });
    this.#logger.info({ names: this.names() }, "tokens changed");
  }

  /** Keeps the digests of the files, and reports those that are others than before. */
  #compare(read: ReadonlyMap<string, string>, unread: ReadonlySet<string>): void {
    const before = this.#digests;
    this.#digests = new Map([...[...before].filter(([name]) => unread.has(name)), ...read]);
    for (const [name, digest] of read) if ((before.get(name) ?? digest) !== digest) this.#onReplaced?.(name);
  }

  #read(onError: (name: string, error: unknown) => void): ReadonlyMap<string, Identity> {
    const found = new Map<string, Identity>();
    const unread = new Set<string>();
    const read = new Map<string, string>();
    const add = (digest: string, name: string) => found.set(digest, identityOf(name, digest));
    for (const name of this.#files.names) {
      try {
        const digest = digestOf(readTokenFile(join(this.#directory, name)));
        read.set(name, digest);
        add(digest, name);
      } catch (error) {
        unread.add(name);
        onError(name, error);
      }
    }
    if (this.#environmentDigest !== undefined) add(this.#environmentDigest, environmentTokenName);
    this.#compare(read, unread);
    this.#unread = unread;
    this.#credentials = new Set(
      [...found.values()].map(({ credential, subject }) => `${credential} ${subject}`),
    );
    return found;
  }
}

/** The token files of a folder, and a fingerprint that changes when any of them changes. */
interface TokenFiles {
  readonly names: readonly string[];
  readonly signature: string;
}

const noFiles: TokenFiles = { names: [], signature: "" };

function scan(directory: string): TokenFiles {
  refuseExposed(directory, statSync(directory), "700");
  const names: string[] = [];
  let signature = "";
  for (const name of readdirSync(directory).sort()) {
    if (!isTokenName(name)) continue;
    const status: Stats | undefined = statSync(join(directory, name), { throwIfNoEntry: false });
    if (status === undefined) continue;
    names.push(name);
    const { ino, size, mode, mtimeMs, ctimeMs } = status;
    signature += `${name}/${ino}/${size}/${mode}/${mtimeMs}/${ctimeMs}\n`;
  }
  if (names.length > filesMaxCount) {
    throw new AuthError("TOKEN_TOO_MANY", `"${directory}" holds more than ${filesMaxCount} token files`, {
      hint: "remove the files of unused tokens",
    });
  }
  return { names, signature };
}

function digestOf(token: string): string {
  return hash("sha256", token, "base64");
}

/** A part of a digest of the digest distinguishes tokens of one name, and says nothing about the token itself. */
function identityOf(name: string, digest: string): Identity {
  return { ...localIdentity("token", name), credential: digestOf(`credential ${digest}`).slice(0, 16) };
}

function errorFields(error: unknown): object {
  return error instanceof CodedError
    ? { code: error.code, reason: error.message, hint: error.hint }
    : { reason: messageOf(error) };
}
