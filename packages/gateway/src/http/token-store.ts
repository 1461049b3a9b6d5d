/**
 * Who may call: bearer tokens, one file each in `<home>/tokens`, and one from
 * the environment. Added, changed and removed files count within a second,
 * without a restart.
 *
 * It keeps digests and never a token, and never says which part of a wrong
 * token was right: tokens are found by their SHA-256, so the time of a look-up
 * tells nothing about the tokens that exist.
 */

import { hash } from "node:crypto";
import { mkdirSync, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { CodedError, type Logger, messageOf } from "@toolcrib/diagnostics";
import { type Identity, localIdentity } from "@toolcrib/tool";
import { GatewayError } from "../gateway-error.ts";
import {
  createTokenFile,
  isTokenName,
  makeToken,
  parseToken,
  type RandomBytes,
  readTokenFile,
  refuseExposed,
  tokenDirectory,
  unreadable,
} from "./token-file.ts";

/** Name of the token that is made when there is none. */
export const defaultTokenName = "default";
/** Name of the identity that the token of the environment stands for. */
export const environmentTokenName = "env";

/** Most token files. */
const filesMaxCount = 1000;
/** Milliseconds between two looks at the files. */
const lookIntervalMs = 1000;

/** What a token store needs from outside. */
export interface TokenStoreDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
  /** The token of the environment (`TOOLCRIB_TOKEN`). Empty and absent mean none. */
  readonly environmentToken?: string;
}

/** The valid tokens. */
export interface TokenStore {
  /** Who an `Authorization` header stands for; undefined when it holds no valid token. */
  readonly authenticate: (authorization: string | undefined) => Identity | undefined;
  /** Names of the valid tokens, sorted. */
  names(): readonly string[];
}

/**
 * Read all tokens below `home`, and make the one called `default` if it is missing.
 *
 * @throws {GatewayError} `TOKEN_FILE_EXPOSED`, `TOKEN_FILE_UNREADABLE`, `TOKEN_INVALID`, `TOKEN_TOO_MANY`:
 *   what is wrong with any token stops the start. Later, a token that went wrong is no longer accepted and logged.
 */
export function openTokenStore(home: string, deps: TokenStoreDeps): TokenStore {
  const { now, randomBytes, logger } = deps;
  const directory = tokenDirectory(home);
  const environmentToken = deps.environmentToken ?? "";
  const environmentDigest =
    environmentToken === "" ? undefined : digestOf(parseToken(environmentToken, "TOOLCRIB_TOKEN"));
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw unreadable(directory, cause);
  }
  refuseExposed(directory, statSync(directory), "700");
  const defaultPath = join(directory, defaultTokenName);
  createTokenFile(defaultPath, makeToken(randomBytes), randomBytes);

  let files: TokenFiles = lookAt(directory);
  let identities = read((_name, error) => {
    throw error;
  });
  let lookedAt = now();

  function read(onError: (name: string, error: unknown) => void): ReadonlyMap<string, Identity> {
    const found = new Map<string, Identity>();
    for (const name of files.names) {
      try {
        found.set(digestOf(readTokenFile(join(directory, name))), identityOf(name));
      } catch (error) {
        onError(name, error);
      }
    }
    if (environmentDigest !== undefined) found.set(environmentDigest, identityOf(environmentTokenName));
    return found;
  }

  function look(): void {
    lookedAt = now();
    let latest: TokenFiles = noFiles;
    try {
      latest = lookAt(directory);
    } catch (error) {
      // Without its folder no file can be vouched for.
      if (files !== noFiles) logger.error(errorFields(error), "no token file is accepted any more");
    }
    if (latest.signature === files.signature) return;
    files = latest;
    identities = read((name, error) => {
      logger.error({ ...errorFields(error), name }, "token is not accepted");
    });
    logger.info({ names: namesOf(identities) }, "tokens changed");
  }

  return {
    authenticate(authorization) {
      const age = now() - lookedAt;
      if (age >= lookIntervalMs || age < 0) look();
      if (authorization === undefined) return undefined;
      const token = /^bearer +([^\s]{1,512})$/i.exec(authorization)?.[1];
      return token === undefined ? undefined : identities.get(digestOf(token));
    },
    names: () => namesOf(identities),
  };
}

/** The token files of a folder, and a text that changes with any of them. */
interface TokenFiles {
  readonly names: readonly string[];
  readonly signature: string;
}

const noFiles: TokenFiles = { names: [], signature: "" };

function lookAt(directory: string): TokenFiles {
  refuseExposed(directory, statSync(directory), "700");
  const names: string[] = [];
  let signature = "";
  for (const name of readdirSync(directory).sort()) {
    // The name of the environment's token is taken; drafts and editors' files are no tokens.
    if (!isTokenName(name) || name === environmentTokenName || name.endsWith(".tmp")) continue;
    const status: Stats | undefined = statSync(join(directory, name), { throwIfNoEntry: false });
    if (status === undefined) continue;
    names.push(name);
    const { ino, size, mode, mtimeMs, ctimeMs } = status;
    signature += `${name}/${ino}/${size}/${mode}/${mtimeMs}/${ctimeMs}\n`;
  }
  if (names.length > filesMaxCount) {
    throw new GatewayError("TOKEN_TOO_MANY", `"${directory}" holds more than ${filesMaxCount} token files`, {
      hint: "remove the files of tokens that nobody uses",
    });
  }
  return { names, signature };
}

function digestOf(token: string): string {
  return hash("sha256", token, "base64");
}

function identityOf(name: string): Identity {
  return localIdentity("token", name);
}

function namesOf(identities: ReadonlyMap<string, Identity>): readonly string[] {
  return [...identities.values()].map(({ name }) => name).sort();
}

function errorFields(error: unknown): object {
  return error instanceof CodedError
    ? { code: error.code, reason: error.message, hint: error.hint }
    : { reason: messageOf(error) };
}
