/**
 * The access tokens for one upstream server, as headers of its requests. A token is refreshed
 * shortly before it expires, once for all requests that wait for it, and under a lock that other
 * processes respect; a token that the server refuses is refreshed once. Whatever needs a person
 * fails with an error that names the command.
 *
 * Nothing is loaded or read before the first request.
 */

import type { Identity } from "@toolcrib/tool";
import type { AuthorizationServer } from "oauth4webapi";
import { type BearerChallenge, parseChallenge, scopesMaxCount } from "./challenge.ts";
import { tokenRequester } from "./client-registration.ts";
import { discoverIssuer } from "./discovery.ts";
import {
  isLoginFor,
  type LoginRecord,
  type LoginState,
  loginSecretName,
  readLogin,
  stateOf,
  withLoginLock,
  writeLogin,
} from "./login-record.ts";
import { OAuthError } from "./oauth-error.ts";
import type { OAuthFetch } from "./oauth-fetch.ts";
import type { OAuthDeps, OAuthServer } from "./oauth-server.ts";
import { OwnTokens } from "./own-tokens.ts";
import { oauthFetchFor } from "./server-fetch.ts";
import { loadLibrary, refreshTokens } from "./token-requests.ts";

/** A refusal of a request that carried a token. */
export interface TokenRefusal {
  /** 401 or 403. */
  readonly status: number;
  /** The header `WWW-Authenticate`. */
  readonly challenge: string | readonly string[] | undefined;
  /** The headers that authenticated the request. */
  readonly headers: { readonly [name: string]: string };
  readonly signal: AbortSignal;
}

/** Returns the headers of a request, and is notified of refusals. Has the form of a credential provider of `mcp`. */
export interface TokenCredentials {
  (request: { readonly signal: AbortSignal }): Promise<{ readonly authorization: string }>;
  /** Whether the request can be sent again, with other credentials. @throws {OAuthError} where a person or the operator has to act */
  refused(refusal: TokenRefusal): Promise<boolean>;
}

/** The part that a login is missing. */
export type MissingLogin = "access" | "scopes";

/** The tokens of one grant. */
export interface TokenHolder {
  /** The client whose login it is; undefined for that of the gateway. */
  readonly owner: Identity | undefined;
  /** @throws {OAuthError} */
  current(signal: AbortSignal): Promise<string>;
  /** @throws {OAuthError} */
  refused(
    token: string,
    challenge: BearerChallenge | undefined,
    status: number,
    signal: AbortSignal,
  ): Promise<boolean>;
  /** Reads what is stored again. @returns whether another login than before is in use, one where it was missing, or none */
  changed(): Promise<boolean>;
  /** The part that the last failed request was missing: a login, or scopes of it that another one may give. */
  readonly missing: MissingLogin | undefined;
  /** The state that is known now, without reading anything. */
  state(): LoginState | undefined;
}

/** A login that was read again. */
export interface LoginChange {
  /** The client whose login it is; undefined for that of the gateway. */
  readonly owner: Identity | undefined;
  /** Whether it is another login than before, or the first one after requests failed, and not a refresh. */
  readonly isReplaced: boolean;
}

/** Identities whose tokens are kept in memory; those of the least recently used are read again. */
const maxHolders = 1000;

/** The access tokens for one server. */
export class AccessTokens {
  readonly #server: OAuthServer;
  readonly #deps: OAuthDeps;
  readonly #fetch: OAuthFetch;
  /** By the name of the secret, the one that was used last at the end. */
  readonly #holders = new Map<string, TokenHolder>();

  constructor(server: OAuthServer, deps: OAuthDeps) {
    this.#server = server;
    this.#deps = deps;
    this.#fetch = oauthFetchFor(server, deps);
  }

  /** Returns the credentials of requests for `identity`; without one, those of the gateway. */
  credentialsFor(identity: Identity | undefined): TokenCredentials {
    const owner = this.#server.per === "identity" ? identity : undefined;
    const get = async ({ signal }: { readonly signal: AbortSignal }) => ({
      authorization: `Bearer ${await this.#holder(owner).current(signal)}`,
    });
    return Object.assign(get, {
      refused: ({ status, challenge, headers, signal }: TokenRefusal) => {
        const token = /^Bearer (.+)$/.exec(headers["authorization"] ?? "")?.[1];
        if (token === undefined) return Promise.resolve(false);
        return this.#holder(owner).refused(token, parseChallenge(challenge), status, signal);
      },
    });
  }

  /**
   * Reads the login that the secret `name` holds again.
   *
   * @returns whose login it is, and whether what was opened with an earlier login belongs to it no longer; undefined for
   *   a secret that is no login of this server that was used
   */
  async changed(name: string): Promise<LoginChange | undefined> {
    const holder = this.#holders.get(name);
    return holder === undefined ? undefined : { owner: holder.owner, isReplaced: await holder.changed() };
  }

  /** Returns what the last failed request for `identity` was missing that a login would give. */
  missingFor(identity: Identity): MissingLogin | undefined {
    const owner = this.#server.per === "identity" ? identity : undefined;
    return this.#holders.get(loginSecretName(this.#server, owner))?.missing;
  }

  /** Returns the state of the gateway's own login, as far as its requests know it. */
  state(): LoginState | undefined {
    return this.#holders.get(loginSecretName(this.#server, undefined))?.state();
  }

  #holder(identity: Identity | undefined): TokenHolder {
    const name = loginSecretName(this.#server, identity);
    let holder = this.#holders.get(name);
    if (holder === undefined) {
      const parts = { name, identity, server: this.#server, deps: this.#deps, fetch: this.#fetch };
      holder = this.#server.grant === "client_credentials" ? new OwnTokens(parts) : new LoginTokens(parts);
    } else this.#holders.delete(name);
    this.#holders.set(name, holder);
    if (this.#holders.size > maxHolders) this.#holders.delete(this.#holders.keys().next().value as string);
    return holder;
  }
}

/** Dependencies of the tokens of one login. */
export interface HolderParts {
  /** The name of the secret. */
  readonly name: string;
  readonly identity: Identity | undefined;
  readonly server: OAuthServer;
  readonly deps: OAuthDeps;
  readonly fetch: OAuthFetch;
}

/** Milliseconds before its end from which on a token is refreshed; a fifth of its life, if that is less. */
const earlyMs = 60_000;
/** Milliseconds in which a token that the server refuses is refreshed at most once. */
const refusalPauseMs = 30_000;
/** Milliseconds for which metadata is kept. */
const metadataKeptMs = 3_600_000;
/** Milliseconds for one refresh, whatever the limits of the requests that wait for it. */
const refreshTimeoutMs = 60_000;

class LoginTokens implements TokenHolder {
  readonly #parts: HolderParts;
  #record: LoginRecord | undefined;
  #reading: Promise<LoginRecord | undefined> | undefined;
  #refreshing: Promise<LoginRecord> | undefined;
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** The login whose token was used first since the last replacement. */
  #usedLogin: string | undefined;
  #missing: MissingLogin | undefined;
  #metadata: { readonly as: AuthorizationServer; readonly until: number } | undefined;

  constructor(parts: HolderParts) {
    this.#parts = parts;
  }

  get owner(): Identity | undefined {
    return this.#parts.identity;
  }

  get missing(): MissingLogin | undefined {
    return this.#missing;
  }

  async current(signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const record = await this.#read();
    const { accessToken, refreshToken } = record ?? {};
    if (record === undefined || accessToken === undefined)
      throw this.#loginRequired("nobody is logged in to");
    this.#usedLogin ??= loginIdOf(record);
    if (!isDue(record, this.#parts.deps.now())) return accessToken;
    const isExpired = record.expiresAt !== undefined && record.expiresAt <= this.#parts.deps.now();
    if (refreshToken === undefined) {
      if (!isExpired) return accessToken;
      throw this.#loginRequired("the login has ended at");
    }
    try {
      return (await this.#refresh(accessToken)).accessToken as string;
    } catch (error) {
      // Until its end, the token is still good.
      if (isExpired || (error instanceof OAuthError && error.code === "OAUTH_LOGIN_REQUIRED")) throw error;
      return accessToken;
    }
  }

  async refused(token: string, challenge: BearerChallenge | undefined, status: number): Promise<boolean> {
    if (status === 403)
      return (
        challenge?.error === "insufficient_scope" && (await this.#needScopes(token, challenge.scopes ?? []))
      );
    const record = await this.#read();
    if (record?.accessToken === undefined) throw this.#loginRequired("nobody is logged in to");
    // Another request got a new token meanwhile.
    if (record.accessToken !== token) return true;
    const { refreshToken } = record;
    if (refreshToken !== undefined && this.#refreshing !== undefined) {
      await this.#refresh(token);
      return true;
    }
    const now = this.#parts.deps.now();
    if (refreshToken === undefined || now - this.#refusedAt < refusalPauseMs) {
      if (await this.#isReplaced(token)) return true;
      throw this.#loginRequired("the access token was refused by");
    }
    this.#refusedAt = now;
    await this.#refresh(token);
    return true;
  }

  async changed(): Promise<boolean> {
    const wasMissing = this.#missing !== undefined;
    this.#record = undefined;
    this.#reading = undefined;
    this.#missing = undefined;
    // A login that cannot be read is none.
    const record = await this.#read().catch(() => undefined);
    const used = this.#usedLogin;
    const isSame = record?.accessToken !== undefined && loginIdOf(record) === used;
    if (isSame && !wasMissing) return false;
    this.#refusedAt = Number.NEGATIVE_INFINITY;
    this.#usedLogin = undefined;
    return wasMissing || used !== undefined;
  }

  state(): LoginState | undefined {
    return this.#record === undefined ? undefined : stateOf(this.#record, this.#parts.deps.now());
  }

  #read(): Promise<LoginRecord | undefined> {
    if (this.#record !== undefined) return Promise.resolve(this.#record);
    if (this.#reading !== undefined) return this.#reading;
    const reading = this.#stored()
      .then((record) => {
        if (this.#reading === reading) this.#record = record;
        return record;
      })
      .finally(() => {
        if (this.#reading === reading) this.#reading = undefined;
      });
    this.#reading = reading;
    return reading;
  }

  /** Reads the login. One of an earlier configuration, with another issuer or client, is none. */
  async #stored(): Promise<LoginRecord | undefined> {
    const { name, deps, server } = this.#parts;
    const record = await readLogin(name, deps);
    return record !== undefined && isLoginFor(server, record) ? record : undefined;
  }

  /** Replaces the access token `old`, once for all requests that wait for it. */
  #refresh(old: string): Promise<LoginRecord> {
    this.#refreshing ??= this.#refreshLocked(old).finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  #refreshLocked(old: string): Promise<LoginRecord> {
    const { name, deps } = this.#parts;
    return withLoginLock(name, deps, async () => {
      const stored = await this.#stored();
      const { accessToken, refreshToken } = stored ?? {};
      if (stored === undefined || accessToken === undefined)
        throw this.#loginRequired("nobody is logged in to");
      // Another process was faster.
      if (accessToken !== old && !isDue(stored, deps.now())) return this.#keep(stored);
      if (refreshToken === undefined) throw this.#loginRequired("the login has ended at");
      const library = await loadLibrary();
      const signal = AbortSignal.timeout(refreshTimeoutMs);
      const as = await this.#metadataOf(stored.issuer, signal);
      const { client: known, resource } = stored;
      const requester = await tokenRequester(this.#parts, { known, as, resource, library, signal });
      try {
        const tokens = await refreshTokens(requester, refreshToken, stored.scopes);
        const { expiresAt: _expiresAt, ...rest } = stored;
        const record: LoginRecord = { ...rest, ...tokens };
        await writeLogin(name, record, deps);
        return this.#keep(record);
      } catch (error) {
        if (!(error instanceof OAuthError) || error.code !== "OAUTH_LOGIN_REQUIRED") throw error;
        const { accessToken: _access, refreshToken: _refresh, ...ended } = stored;
        await writeLogin(name, ended, deps);
        this.#keep(ended);
        throw this.#loginRequired("the login has ended at", error.message);
      }
    });
  }

  #keep(record: LoginRecord): LoginRecord {
    this.#record = record;
    this.#reading = undefined;
    if (this.#missing === "access" && record.accessToken !== undefined) this.#missing = undefined;
    return record;
  }

  async #metadataOf(issuer: string, signal: AbortSignal): Promise<AuthorizationServer> {
    const { server, deps, fetch } = this.#parts;
    const now = deps.now();
    if (this.#metadata?.as.issuer === issuer && now < this.#metadata.until) return this.#metadata.as;
    const as = await discoverIssuer(issuer, fetch, { serverId: server.id, scrub: deps.scrub, signal });
    this.#metadata = { as, until: now + metadataKeptMs };
    return as;
  }

  /** Reads the login again, which another process can have replaced a moment ago. @returns whether it has another token now */
  async #isReplaced(token: string): Promise<boolean> {
    const stored = await this.#stored();
    if (stored?.accessToken === undefined || stored.accessToken === token) return false;
    this.#keep(stored);
    return true;
  }

  /**
   * Remembers the scopes that a call with `token` needs, for the next login.
   *
   * @returns true where another process has logged in with these scopes meanwhile
   * @throws {OAuthError} `OAUTH_LOGIN_REQUIRED`
   */
  async #needScopes(token: string, needed: readonly string[]): Promise<boolean> {
    const { name, deps, server } = this.#parts;
    const isWide = ({ accessToken, scopes }: LoginRecord) =>
      accessToken !== undefined && accessToken !== token && needed.every((scope) => scopes.includes(scope));
    const record = await withLoginLock(name, deps, async () => {
      const stored = await this.#stored();
      if (stored === undefined) throw this.#loginRequired("nobody is logged in to");
      const missing = needed.filter((scope) => !stored.scopes.includes(scope));
      const wanted = [...new Set([...(stored.wantedScopes ?? []), ...missing])].slice(0, scopesMaxCount);
      if (wanted.length === (stored.wantedScopes ?? []).length) return stored;
      const changed = { ...stored, wantedScopes: wanted };
      await writeLogin(name, changed, deps);
      return changed;
    });
    this.#keep(record);
    if (isWide(record)) return true;
    const shown = needed.join(" ");
    // The last login asked for all of them: another one would end in the same way.
    if (needed.every((scope) => record.askedScopes.includes(scope))) {
      throw new OAuthError(
        "OAUTH_LOGIN_REQUIRED",
        `"${server.id}" needs more than this login has${shown === "" ? "" : `: the scopes ${JSON.stringify(shown)}`}, which were asked for and are not enough`,
        { hint: "ask the administrator of its authorization server for them" },
      );
    }
    throw this.#loginRequired(
      `the scopes ${JSON.stringify(shown)} are missing in the login to`,
      undefined,
      "scopes",
    );
  }

  #loginRequired(state: string, detail?: string, missing: MissingLogin = "access"): OAuthError {
    this.#missing = missing;
    const { server, deps, identity } = this.#parts;
    const whose = identity === undefined ? "" : ` as "${identity.name}"`;
    const command = deps.loginCommand(server.id, identity);
    const reason = detail === undefined ? "" : `: ${detail}`;
    return new OAuthError(
      "OAUTH_LOGIN_REQUIRED",
      `A login is needed: ${state} "${server.id}"${whose}${reason}`,
      {
        hint: `run ${command}`,
      },
    );
  }
}

function loginIdOf({ loginId, issuer, client }: LoginRecord): string {
  return loginId ?? `${issuer} ${client.id}`;
}

/** Whether an access token has ended or will end soon. */
function isDue({ receivedAt, expiresAt }: LoginRecord, now: number): boolean {
  if (expiresAt === undefined) return false;
  return now >= expiresAt - Math.min(earlyMs, (expiresAt - receivedAt) / 5);
}
