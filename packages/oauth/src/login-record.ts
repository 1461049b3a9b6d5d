/**
 * A login as the secret store keeps it: the tokens of one resource, for the gateway or for one
 * identity, with the issuer that gave them and the client that they were given to. A record names
 * its issuer, and no part of it is ever sent to another one.
 */

import { hash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { waitForLock } from "@toolcrib/files";
import { isJsonObject, parseJson } from "@toolcrib/json";
import { type Identity, identityKey } from "@toolcrib/tool";
import { canonicalResource } from "./discovery.ts";
import { OAuthError } from "./oauth-error.ts";
import type { OAuthDeps, OAuthServer } from "./oauth-server.ts";

/** The authentication of a client at the authorization server. */
export type ClientMethod = "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt";

/** A client as an authorization server knows it. */
export interface KnownClient {
  readonly id: string;
  readonly method: ClientMethod;
  /** The secret of a client that was registered dynamically; that of another one is in the configuration. */
  readonly secret?: string;
}

/** The tokens of one login. */
export interface LoginRecord {
  readonly issuer: string;
  readonly resource: string;
  readonly client: KnownClient;
  /** Differs between two logins; a refresh keeps it. Absent for logins of earlier versions. */
  readonly loginId?: string;
  /** Absent after a login ended: the client is still known. */
  readonly accessToken?: string;
  readonly refreshToken?: string;
  /** Milliseconds since the epoch at which the access token was received. */
  readonly receivedAt: number;
  /** Milliseconds since the epoch; absent where the authorization server does not say. */
  readonly expiresAt?: number;
  /** Scopes that were given, or asked for where the answer names none. */
  readonly scopes: readonly string[];
  /** Scopes that the login asked for. */
  readonly askedScopes: readonly string[];
  /** Scopes that a call needed and this login does not have. */
  readonly wantedScopes?: readonly string[];
}

/** The state of a login, without its tokens. */
export interface LoginState {
  readonly kind: "logged in" | "login needed";
  readonly issuer: string | undefined;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch at which the access token ends, if that is known. */
  readonly expiresAt: number | undefined;
  /** Whether the login lasts longer than its access token. */
  readonly canRefresh: boolean;
  /** Scopes that a call needed and the login does not have. */
  readonly missingScopes: readonly string[];
}

/** Returns the state of a login. */
export function stateOf(record: LoginRecord | undefined, now: number): LoginState {
  const canRefresh = record?.refreshToken !== undefined;
  const isOver = record?.expiresAt !== undefined && record.expiresAt <= now && !canRefresh;
  const isIn = record?.accessToken !== undefined && !isOver;
  return {
    kind: isIn ? "logged in" : "login needed",
    issuer: record?.issuer,
    scopes: record?.scopes ?? [],
    expiresAt: record?.expiresAt,
    canRefresh,
    missingScopes: record?.wantedScopes ?? [],
  };
}

/** Longest wait for another process that refreshes the same login. */
const lockTimeoutMs = 30_000;

/** Returns the name of the secret that holds a login. */
export function loginSecretName(server: Pick<OAuthServer, "url">, identity: Identity | undefined): string {
  const owner = identity === undefined ? "" : identityKey(identity);
  return `oauth.${hash("sha256", `${canonicalResource(server.url)}\n${owner}`, "hex").slice(0, 40)}`;
}

/** Reads a login; undefined where there is none, or one that this version cannot read. Its tokens are known to redaction. */
export async function readLogin(
  name: string,
  deps: Pick<OAuthDeps, "store" | "learn">,
): Promise<LoginRecord | undefined> {
  const text = await deps.store.get(name);
  const record = text === undefined ? undefined : parseLogin(text);
  if (record !== undefined) learnRecord(record, deps);
  return record;
}

/** Whether a login is that of the authorization server and the client of the configuration, as far as it names them. */
export function isLoginFor(
  { issuer, clientId }: Pick<OAuthServer, "issuer" | "clientId">,
  record: LoginRecord,
): boolean {
  return (
    (issuer === undefined || issuer === record.issuer) &&
    (clientId === undefined || clientId === record.client.id)
  );
}

/** Stores a login. */
export async function writeLogin(
  name: string,
  record: LoginRecord,
  deps: Pick<OAuthDeps, "store" | "learn">,
): Promise<void> {
  learnRecord(record, deps);
  await deps.store.set(name, JSON.stringify({ version: 1, ...record }));
}

function learnRecord(
  { accessToken, refreshToken, client }: LoginRecord,
  { learn }: Pick<OAuthDeps, "learn">,
): void {
  for (const value of [accessToken, refreshToken, client.secret]) if (value !== undefined) learn(value);
}

/** Runs `work` while no other process changes the login `name`. @throws {OAuthError} `OAUTH_UNREACHABLE` */
export async function withLoginLock<Result>(
  name: string,
  { lockFolder }: Pick<OAuthDeps, "lockFolder">,
  work: () => Promise<Result>,
): Promise<Result> {
  await mkdir(lockFolder, { recursive: true, mode: 0o700 });
  using lock = await waitForLock(lockFolder, name, lockTimeoutMs);
  if (lock === undefined) {
    throw new OAuthError(
      "OAUTH_UNREACHABLE",
      `Another process has refreshed this login for ${lockTimeoutMs / 1000} s`,
      {
        hint: "try again",
      },
    );
  }
  return await work();
}

function parseLogin(text: string): LoginRecord | undefined {
  let value: unknown;
  try {
    value = parseJson(text, { maxLength: 128 * 1024, maxDepth: 8 });
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || value["version"] !== 1) return undefined;
  const { version: _version, ...record } = value;
  return record as unknown as LoginRecord;
}
