/**
 * Access tokens that the gateway gets for itself (client credentials, RFC 6749, section 4.4). They
 * are kept in memory only. Where the server asks for more scopes, they are asked for too, a few times.
 */

import type { HolderParts, TokenHolder } from "./access-tokens.ts";
import { type BearerChallenge, scopesMaxCount } from "./challenge.ts";
import { findClient, tokenRequester } from "./client-registration.ts";
import { type Discovered, discover } from "./discovery.ts";
import type { LoginState } from "./login-record.ts";
import { OAuthError } from "./oauth-error.ts";
import { loadLibrary, type ReceivedTokens, requestOwnToken } from "./token-requests.ts";

/** Milliseconds for one token with its discovery, whatever the limits of the requests that wait for it. */
const requestTimeoutMs = 60_000;
/** Milliseconds for which the authorization server is remembered. */
const discoveredKeptMs = 3_600_000;
/** Times that more scopes are asked for. */
const maxStepUps = 3;
/** Milliseconds after which a token without a stated end is replaced. */
const unknownLifeMs = 300_000;
const earlyMs = 60_000;
/** Milliseconds in which a token that the server refuses is replaced at most once. */
const refusalPauseMs = 30_000;

export class OwnTokens implements TokenHolder {
  readonly #parts: HolderParts;
  #tokens: ReceivedTokens | undefined;
  #requesting: Promise<ReceivedTokens> | undefined;
  #discovered: { readonly value: Discovered; readonly until: number } | undefined;
  /** Scopes beyond those of the configuration that calls needed. */
  #added: readonly string[] = [];
  #stepUps = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: HolderParts) {
    this.#parts = parts;
  }

  async current(signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const tokens = this.#tokens;
    if (tokens !== undefined && !isDue(tokens, this.#parts.deps.now())) return tokens.accessToken;
    return (await this.#request()).accessToken;
  }

  async refused(token: string, challenge: BearerChallenge | undefined, status: number): Promise<boolean> {
    if (this.#tokens !== undefined && this.#tokens.accessToken !== token) return true;
    if (status === 403) return challenge?.error === "insufficient_scope" && (await this.#stepUp(challenge));
    if (this.#requesting !== undefined) {
      await this.#requesting;
      return true;
    }
    const now = this.#parts.deps.now();
    if (now - this.#refusedAt < refusalPauseMs) throw this.#refusedError();
    this.#refusedAt = now;
    this.#discovered = undefined;
    await this.#request(challenge);
    return true;
  }

  get owner(): undefined {
    return undefined;
  }

  /** No person can give what is missing. */
  get missing(): undefined {
    return undefined;
  }

  async changed(): Promise<boolean> {
    this.#tokens = undefined;
    return false;
  }

  state(): LoginState | undefined {
    const tokens = this.#tokens;
    if (tokens === undefined) return undefined;
    return {
      kind: "logged in",
      issuer: this.#discovered?.value.server.issuer,
      scopes: tokens.scopes,
      expiresAt: tokens.expiresAt,
      canRefresh: true,
      missingScopes: [],
    };
  }

  async #stepUp({ scopes = [] }: BearerChallenge): Promise<boolean> {
    const known = new Set([
      ...this.#added,
      ...(this.#parts.server.scopes ?? []),
      ...(this.#tokens?.scopes ?? []),
    ]);
    const missing = scopes.filter((scope) => !known.has(scope));
    if (missing.length === 0 || this.#stepUps >= maxStepUps) throw this.#refusedError(scopes);
    this.#stepUps += 1;
    this.#added = [...this.#added, ...missing].slice(0, scopesMaxCount);
    await this.#request();
    return true;
  }

  #request(challenge?: BearerChallenge): Promise<ReceivedTokens> {
    this.#requesting ??= this.#requestNow(challenge).finally(() => {
      this.#requesting = undefined;
    });
    return this.#requesting;
  }

  async #requestNow(challenge: BearerChallenge | undefined): Promise<ReceivedTokens> {
    const { server, deps, fetch } = this.#parts;
    const library = await loadLibrary();
    const signal = AbortSignal.timeout(requestTimeoutMs);
    const { resource, server: as, scopes: offered } = await this.#discover(challenge, signal);
    const request = { redirectUris: [], grantTypes: ["client_credentials"], signal };
    const known = await findClient(server, as, request, { library, fetch, scrub: deps.scrub });
    const requester = await tokenRequester(this.#parts, { known, as, resource, library, signal });
    const scopes = [...new Set([...(server.scopes ?? offered), ...this.#added])];
    const tokens = await requestOwnToken(requester, scopes);
    deps.learn(tokens.accessToken);
    this.#tokens = tokens;
    return tokens;
  }

  async #discover(challenge: BearerChallenge | undefined, signal: AbortSignal): Promise<Discovered> {
    const { server, deps, fetch } = this.#parts;
    if (this.#discovered !== undefined && deps.now() < this.#discovered.until) return this.#discovered.value;
    const { id: serverId, url, issuer } = server;
    const value = await discover(
      { serverId, url, issuer, challenge, scrub: this.#parts.deps.scrub, signal },
      fetch,
    );
    this.#discovered = { value, until: deps.now() + discoveredKeptMs };
    return value;
  }

  #refusedError(scopes?: readonly string[]): OAuthError {
    const { id } = this.#parts.server;
    const reason = scopes === undefined ? "" : `: it needs the scopes ${JSON.stringify(scopes.join(" "))}`;
    return new OAuthError("OAUTH_TOKEN_FAILED", `"${id}" refuses the access token of the gateway${reason}`, {
      hint: "check transport.auth: client_id and scopes, and what the authorization server grants this client",
    });
  }
}

function isDue({ receivedAt, expiresAt = receivedAt + unknownLifeMs }: ReceivedTokens, now: number): boolean {
  return now >= expiresAt - Math.min(earlyMs, (expiresAt - receivedAt) / 5);
}
