/**
 * Checks the access tokens of clients of the gateway: JWTs by the keys of their issuer (RFC 7519, RFC
 * 9068), opaque tokens by introspection (RFC 7662). A token counts for the issuers and audiences of
 * the configuration only. What is not certainly valid is not accepted, and no token is kept: results
 * are kept for a short time by its digest.
 */

import { hash } from "node:crypto";
import { cutText, type Logger, messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, parseJson } from "@toolcrib/json";
import type { Identity } from "@toolcrib/tool";
import type { JWTVerifyGetKey } from "jose";
import type { AuthorizationServer } from "oauth4webapi";
import { type ClaimRules, identityFrom } from "./claims.ts";
import { clientSecretBasic } from "./client-registration.ts";
import { discoverIssuer } from "./discovery.ts";
import { createOAuthFetch, type OAuthFetch } from "./oauth-fetch.ts";
import { loadLibrary, requestOptions } from "./token-requests.ts";

/** One issuer whose tokens are accepted (`serve.auth.jwt`). */
export interface TokenIssuer {
  readonly issuer: string;
  /** A token needs one of them as its audience. */
  readonly audiences: readonly string[];
  /** @default that of the metadata of the issuer */
  readonly jwksUri: string | undefined;
  readonly algorithms: readonly string[];
  readonly clockSkewSeconds: number;
  /** Scopes that every request needs. */
  readonly scopes: readonly string[];
  readonly claims: ClaimRules;
  /** The check of opaque tokens. @default they are not accepted */
  readonly introspection:
    | {
        /** @default that of the metadata of the issuer */
        readonly url: string | undefined;
        readonly clientId: string;
        readonly clientSecret: () => Promise<string>;
      }
    | undefined;
}

/** Dependencies of the check. */
export interface ClientTokensDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
  /** Gets the secrets of introspection, for redaction. */
  readonly learn: (value: string) => void;
  /** Replaces them in texts of issuers, before these are cut. */
  readonly scrub: (text: string) => string;
  readonly internalRanges: readonly string[];
  /** PEM certificates that are trusted in addition to the default ones. */
  readonly ca?: string | undefined;
}

/** The result of a check: a caller, the scopes that a valid token does not have, or undefined for an invalid token. */
export type ClientVerdict = Identity | { readonly missingScopes: readonly string[] } | undefined;

/** Milliseconds for which the result of a JWT is kept, and that of an introspection, valid or not. */
const jwtKeptMs = 60_000;
const introspectedKeptMs = 15_000;
/** Valid tokens whose result is kept, and as many that are not valid, apart from them: anyone can send those. */
const maxKept = 4096;
/** Opaque tokens without a known result that an issuer may refuse one after the other; later ones are not sent to it. @limit client */
const maxRefusals = 200;
/** Milliseconds after which one more of them may be refused. */
const refusalIntervalMs = 100;
/** Tokens that are checked at a time at one issuer, JWTs and opaque ones each; further ones are refused. @limit client */
const maxChecks = 64;
/** Longest token in characters. @limit client */
const tokenMaxLength = 12_288;
/** Milliseconds for one check. @limit client */
const checkTimeoutMs = 10_000;
/** Milliseconds between two log records about tokens that could not be checked. */
const logIntervalMs = 10_000;
/** Milliseconds for which metadata of an issuer is kept. */
const metadataKeptMs = 3_600_000;
/** Milliseconds between two readings of metadata because a key is unknown, or because they cannot be read. */
const metadataPauseMs = 60_000;

/** The tokens of the configured issuers. Nothing is loaded before the first token. */
export class ClientTokens {
  readonly #issuers: ReadonlyMap<string, IssuerCheck>;
  readonly #introspecting: IssuerCheck | undefined;
  readonly #deps: ClientTokensDeps;
  readonly #valid = new Map<string, CheckedToken>();
  readonly #invalid = new Map<string, CheckedToken>();
  readonly #checking = new Map<string, Promise<ClientVerdict>>();
  /** When the token that gave an identity ends. */
  readonly #ends = new WeakMap<Identity, number>();
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(issuers: readonly TokenIssuer[], deps: ClientTokensDeps) {
    this.#deps = deps;
    const refused = (issuer: string, reason: string) => this.#log(`${issuer}: ${reason}`, "is not accepted");
    this.#issuers = new Map(issuers.map((one) => [one.issuer, new IssuerCheck(one, deps, refused)]));
    this.#introspecting = [...this.#issuers.values()].find(({ canIntrospect }) => canIntrospect);
  }

  /** Checks an `Authorization` header. Answers at once where the result is known. Never rejects. */
  check(authorization: string | undefined): ClientVerdict | Promise<ClientVerdict> {
    const token = /^bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(authorization ?? "")?.[1];
    if (token === undefined || token.length > tokenMaxLength) return undefined;
    const key = hash("sha256", token, "base64");
    const valid = this.#valid.get(key);
    const kept = valid ?? this.#invalid.get(key);
    if (kept !== undefined && this.#deps.now() < kept.until) return kept.verdict;
    const running = this.#checking.get(key);
    if (running !== undefined) return running;
    const named = issuerOf(token);
    const issuer = named === undefined ? this.#introspecting : this.#issuers.get(named);
    if (issuer === undefined) {
      if (named !== undefined) this.#log("its issuer is none of serve.auth", "is not accepted");
      return undefined;
    }
    // Anyone can send tokens that name a slow issuer, so each issuer has places of its own.
    const counted = named === undefined ? issuer.introspections : issuer.verifications;
    if (counted.count >= maxChecks) return undefined;
    // A token that was valid may be asked about again, whatever others send.
    const isUnknown = named === undefined && valid === undefined;
    if (isUnknown && !issuer.refusals.hasRoom(this.#deps.now())) {
      this.#log(
        `${issuer.name} refused too many opaque tokens; unknown ones have to wait`,
        "cannot be checked",
      );
      return undefined;
    }
    counted.count += 1;
    const check = () => (named === undefined ? issuer.introspect(token) : issuer.verify(token));
    const checking = this.#checkNow(check, key).finally(() => {
      counted.count -= 1;
      this.#checking.delete(key);
    });
    this.#checking.set(key, checking);
    return checking;
  }

  /**
   * Returns when the token that gave an identity ends, in milliseconds since the epoch.
   *
   * @returns undefined for an identity that is not from here, and for a token whose issuer names no end
   */
  readonly endOf = (identity: Identity): number | undefined => this.#ends.get(identity);

  async #checkNow(check: () => Promise<CheckedToken | undefined>, key: string): Promise<ClientVerdict> {
    try {
      const checked = await check();
      const { verdict, endsAt } = checked ?? {};
      if (verdict !== undefined && !("missingScopes" in verdict) && endsAt !== undefined)
        this.#ends.set(verdict, endsAt);
      this.#keep(key, checked);
      return checked?.verdict;
    } catch (error) {
      // A valid token may be refused because its issuer cannot be reached, which the operator has to know.
      this.#log(messageOf(error), "cannot be checked");
      return undefined;
    }
  }

  /** Logs what is the operator's to know and not the client's, at most once in a time. The reason contains no token. */
  #log(reason: string, what: "cannot be checked" | "is not accepted"): void {
    const { logger, now, scrub } = this.#deps;
    if (now() - this.#loggedAt < logIntervalMs) return;
    this.#loggedAt = now();
    logger.warn({ reason: cutText(reason, 300, scrub) }, `token of a client ${what}`);
  }

  #keep(key: string, checked: CheckedToken | undefined): void {
    this.#valid.delete(key);
    if (checked === undefined || checked.until <= this.#deps.now()) return;
    const kept = checked.verdict === undefined ? this.#invalid : this.#valid;
    kept.delete(key);
    kept.set(key, checked);
    if (kept.size > maxKept) kept.delete(kept.keys().next().value as string);
  }

  /** Reads the metadata and keys of each issuer. @returns the problems, by issuer; none where all is well */
  async problems(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    await Promise.all(
      [...this.#issuers].map(async ([name, issuer]) => {
        try {
          await issuer.reach(signal);
        } catch (error) {
          found.set(name, messageOf(error));
        }
      }),
    );
    return found;
  }
}

/** Counts refusals of unknown tokens: a number at once, and one more after each interval. */
class Refusals {
  #count = 0;
  #countedAt = 0;

  hasRoom(now: number): boolean {
    const forgiven = Math.floor((now - this.#countedAt) / refusalIntervalMs);
    if (forgiven > 0) {
      this.#count = Math.max(0, this.#count - forgiven);
      this.#countedAt = now;
    }
    return this.#count < maxRefusals;
  }

  add(): void {
    this.#count += 1;
  }
}

/** A verdict, and how long it may be kept. */
interface CheckedToken {
  readonly verdict: ClientVerdict;
  readonly until: number;
  /** When the token itself ends, with the skew of clocks that is allowed. @default not known */
  readonly endsAt?: number;
}

/** Checks the tokens of one issuer. */
class IssuerCheck {
  /** Checks that are running. */
  readonly verifications = { count: 0 };
  readonly introspections = { count: 0 };
  readonly refusals = new Refusals();
  readonly #issuer: TokenIssuer;
  readonly #deps: ClientTokensDeps;
  readonly #fetch: OAuthFetch;
  #keys: { readonly url: string; readonly get: JWTVerifyGetKey } | undefined;
  #metadata: { readonly value: AuthorizationServer; readonly readAt: number } | undefined;
  #readingMetadata: Promise<AuthorizationServer> | undefined;
  #metadataFailedAt = Number.NEGATIVE_INFINITY;

  readonly #refused: (issuer: string, reason: string) => void;

  /** @param refused is called with the reason why a JWT does not count */
  constructor(
    issuer: TokenIssuer,
    deps: ClientTokensDeps,
    refused: (issuer: string, reason: string) => void,
  ) {
    this.#issuer = issuer;
    this.#deps = deps;
    this.#refused = refused;
    const named = [issuer.issuer, issuer.jwksUri, issuer.introspection?.url];
    this.#fetch = createOAuthFetch({
      trustedUrls: named.filter((url) => url !== undefined),
      internalRanges: deps.internalRanges,
      ca: deps.ca === undefined ? [] : [deps.ca],
    });
  }

  get name(): string {
    return this.#issuer.issuer;
  }

  get canIntrospect(): boolean {
    return this.#issuer.introspection !== undefined;
  }

  /** Verifies a JWT. @throws where its keys cannot be read */
  async verify(token: string): Promise<CheckedToken | undefined> {
    const { issuer, audiences, algorithms, clockSkewSeconds } = this.#issuer;
    const jose = await import("jose");
    const { now } = this.#deps;
    const verified = async () =>
      await jose.jwtVerify(token, await this.#keySet(jose), {
        issuer,
        audience: [...audiences],
        algorithms: [...algorithms],
        clockTolerance: clockSkewSeconds,
        requiredClaims: ["sub", "exp"],
        currentDate: new Date(now()),
      });
    let claims: JsonObject;
    try {
      const { payload, protectedHeader } = await verified().catch(async (error: unknown) => {
        const isKeyUnknown = error instanceof jose.errors.JWKSNoMatchingKey;
        if (!isKeyUnknown || !(await this.#hasMoved())) throw error;
        return await verified();
      });
      const { typ } = protectedHeader;
      if (typ !== undefined && !tokenTypes.includes(typ.toLowerCase())) return undefined;
      claims = payload as JsonObject;
    } catch (error) {
      // What is wrong with the token is the client's matter; what is wrong with the keys is not.
      const isAboutToken = error instanceof jose.errors.JOSEError && !keyErrors.includes(error.code);
      if (!isAboutToken) throw error;
      this.#refused(issuer, error.message);
      return undefined;
    }
    const endsAt = (Number(claims["exp"]) + clockSkewSeconds) * 1000;
    return { verdict: this.#verdictOf(claims), until: Math.min(now() + jwtKeptMs, endsAt), endsAt };
  }

  /** Asks the issuer about an opaque token. @throws where it cannot be asked */
  async introspect(token: string): Promise<CheckedToken | undefined> {
    const { issuer, introspection, audiences, clockSkewSeconds } = this.#issuer;
    if (introspection === undefined) return undefined;
    const { now, learn } = this.#deps;
    const library = await loadLibrary();
    const signal = AbortSignal.timeout(checkTimeoutMs);
    const { url } = introspection;
    const as = url === undefined ? await this.#readMetadata(signal) : { issuer, introspection_endpoint: url };
    const secret = await introspection.clientSecret();
    learn(secret);
    const client = { client_id: introspection.clientId };
    const auth = clientSecretBasic(secret);
    const response = await library.introspectionRequest(
      as,
      client,
      auth,
      token,
      requestOptions(library, this.#fetch, signal),
    );
    const answer = (await library.processIntrospectionResponse(as, client, response)) as JsonObject;
    const until = now() + introspectedKeptMs;
    const { active, iss, exp, aud, token_use: use } = answer;
    const named = Array.isArray(aud) ? aud : [aud];
    const isEnded = typeof exp === "number" && (exp + clockSkewSeconds) * 1000 <= now();
    const isForThis = named.some((one) => typeof one === "string" && audiences.includes(one));
    const isOfIssuer = iss === undefined || iss === issuer;
    if (active !== true || isEnded || !isForThis || !isOfIssuer || use === "refresh_token") {
      this.refusals.add();
      return { verdict: undefined, until };
    }
    // A client that acts for nobody has no subject of its own everywhere.
    const subject = answer["sub"] ?? answer["client_id"];
    const endsAt = typeof exp === "number" ? (exp + clockSkewSeconds) * 1000 : until;
    const verdict = this.#verdictOf({ ...answer, sub: subject ?? null });
    return { verdict, until: Math.min(until, endsAt), ...(typeof exp === "number" ? { endsAt } : {}) };
  }

  #verdictOf(claims: JsonObject): ClientVerdict {
    const { scopes, issuer, claims: rules } = this.#issuer;
    // A token that is bound to a key of the client says nothing without that key, which is not checked here.
    if (claims["cnf"] !== undefined) return undefined;
    const given = scopesIn(claims);
    const missingScopes = scopes.filter((scope) => !given.includes(scope));
    if (missingScopes.length > 0) return { missingScopes };
    return identityFrom(issuer, claims, rules);
  }

  /** Reads what tokens of this issuer are checked with. @throws where that is not possible */
  async reach(stop: AbortSignal): Promise<void> {
    const { jwksUri, introspection } = this.#issuer;
    const signal = AbortSignal.any([stop, AbortSignal.timeout(checkTimeoutMs)]);
    const metadata = jwksUri === undefined ? await this.#readMetadata(signal) : undefined;
    const keys = jwksUri ?? metadata?.jwks_uri;
    if (keys === undefined && introspection !== undefined) return;
    if (keys === undefined) throw new Error(noKeys(this.name));
    const response = await this.#fetch(keys, { headers: { accept: "application/json" }, signal });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${keys} answered HTTP ${response.status}`);
    const value = parseJson(text, { maxDepth: 16 });
    if (!isJsonObject(value) || !Array.isArray(value["keys"]))
      throw new Error(`There are no keys at ${keys}`);
  }

  async #keySet(jose: typeof import("jose")): Promise<JWTVerifyGetKey> {
    const { jwksUri } = this.#issuer;
    const url = jwksUri ?? (await this.#readMetadata(AbortSignal.timeout(checkTimeoutMs))).jwks_uri;
    if (url === undefined) throw new Error(noKeys(this.name));
    if (this.#keys?.url === url) return this.#keys.get;
    const get = jose.createRemoteJWKSet(new URL(url), {
      // A token with an unknown key makes the keys be read again, at most once in this time.
      cooldownDuration: 30_000,
      cacheMaxAge: 600_000,
      timeoutDuration: checkTimeoutMs,
      [jose.customFetch]: (to, options) => this.#fetch(to, options),
    });
    this.#keys = { url, get };
    return get;
  }

  /** Whether the metadata now name another place of the keys than those that are known. Reads them at most once a minute. */
  async #hasMoved(): Promise<boolean> {
    const known = this.#metadata;
    if (known === undefined || this.#deps.now() - known.readAt < metadataPauseMs) return false;
    this.#metadata = { ...known, readAt: Number.NEGATIVE_INFINITY };
    const { jwks_uri: uri } = await this.#readMetadata(AbortSignal.timeout(checkTimeoutMs));
    return uri !== known.value.jwks_uri;
  }

  /** Returns the metadata, those that were read before where they cannot be read again. */
  async #readMetadata(signal: AbortSignal): Promise<AuthorizationServer> {
    const { now } = this.#deps;
    const known = this.#metadata;
    const isFresh = known !== undefined && now() - known.readAt < metadataKeptMs;
    if (known !== undefined && (isFresh || now() - this.#metadataFailedAt < metadataPauseMs))
      return known.value;
    const { issuer } = this.#issuer;
    this.#readingMetadata ??= discoverIssuer(issuer, this.#fetch, {
      serverId: issuer,
      scrub: this.#deps.scrub,
      signal,
    }).finally(() => {
      this.#readingMetadata = undefined;
    });
    try {
      const value = await this.#readingMetadata;
      this.#metadata = { value, readAt: now() };
      return value;
    } catch (error) {
      if (known === undefined) throw error;
      this.#metadataFailedAt = now();
      return known.value;
    }
  }
}

function noKeys(issuer: string): string {
  return `The metadata of ${issuer} names no keys (jwks_uri)`;
}

/** Codes of errors about the keys of an issuer. */
const keyErrors: readonly string[] = ["ERR_JOSE_GENERIC", "ERR_JWKS_INVALID", "ERR_JWKS_TIMEOUT"];

/** Types of JWTs that are access tokens; an access token of an earlier kind has none, or `JWT`. */
const tokenTypes: readonly string[] = ["at+jwt", "application/at+jwt", "jwt"];

/** Returns the issuer that a JWT claims to have, unverified; undefined for another token. */
function issuerOf(token: string): string | undefined {
  const parts = token.split(".");
  if (parts.length !== 3) return undefined;
  try {
    const claims = parseJson(Buffer.from(parts[1] as string, "base64url").toString("utf8"), { maxDepth: 16 });
    const issuer = isJsonObject(claims) ? claims["iss"] : undefined;
    return typeof issuer === "string" ? issuer : "";
  } catch {
    return undefined;
  }
}

/** Returns the scopes of a token: `scope` as a text (RFC 9068), or a list of them (`scp`). */
function scopesIn({ scope, scp }: JsonObject): readonly string[] {
  const given = scope ?? scp;
  if (typeof given === "string") return given.split(" ");
  return Array.isArray(given) ? given.filter((one) => typeof one === "string") : [];
}
