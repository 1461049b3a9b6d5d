/**
 * Logs in to an upstream server, and out of it. A login runs the authorization code grant with PKCE
 * and a redirect to this machine, or the device grant (RFC 8628); logging out revokes the tokens
 * (RFC 7009) and deletes them. The operator starts either, or the person at a client that was asked (web-logins.ts).
 */

import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "@toolcrib/diagnostics";
import type { Identity } from "@toolcrib/tool";
import type { AuthorizationServer } from "oauth4webapi";
import { type BearerChallenge, parseChallenge, scopesMaxCount } from "./challenge.ts";
import { type AuthenticatedClient, authenticateClient, findClient } from "./client-registration.ts";
import { type Discovered, discover, discoverIssuer } from "./discovery.ts";
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
import { openLoopbackRedirect } from "./loopback-redirect.ts";
import { OAuthError } from "./oauth-error.ts";
import type { OAuthFetch } from "./oauth-fetch.ts";
import type { OAuthDeps, OAuthServer } from "./oauth-server.ts";
import { oauthFetchFor } from "./server-fetch.ts";
import {
  loadLibrary,
  type OAuthLibrary,
  type ReceivedTokens,
  requestOptions,
  toTokenError,
  toTokens,
} from "./token-requests.ts";

/** The page that a person has to open. */
export type LoginPrompt =
  | { readonly kind: "browser"; readonly url: string }
  /** `url` contains the code where the authorization server offers that. */
  | { readonly kind: "device"; readonly url: string; readonly code: string };

/** Options of `login`. */
export interface LoginOptions {
  readonly method: "browser" | "device";
  /** The client that the login is for (`per: identity`). @default the gateway */
  readonly identity?: Identity | undefined;
  /** Scopes to ask for, besides those of the configuration. */
  readonly scopes?: readonly string[] | undefined;
  /** Shows the person what to open. */
  readonly show: (prompt: LoginPrompt) => void;
  readonly signal: AbortSignal;
}

/** The result of a login. */
export interface LoginResult {
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch at which the access token ends, if that is known. */
  readonly expiresAt: number | undefined;
  /** Whether the login lasts longer than its access token. */
  readonly canRefresh: boolean;
}

/** Longest wait for a person. */
const personTimeoutMs = 10 * 60_000;

/**
 * Logs in and stores the login.
 *
 * @throws {OAuthError} `OAUTH_DISCOVERY_FAILED`, `OAUTH_ADDRESS_REFUSED`, `OAUTH_CLIENT_REQUIRED`, `OAUTH_LOGIN_FAILED`,
 *   `OAUTH_UNREACHABLE`, `OAUTH_SETTING_INVALID`; the reason of the signal.
 */
export async function login(
  server: OAuthServer,
  deps: OAuthDeps,
  options: LoginOptions,
): Promise<LoginResult> {
  const { identity } = options;
  if (server.grant === "client_credentials") {
    throw new OAuthError(
      "OAUTH_LOGIN_FAILED",
      `"${server.id}" needs no login: its grant is client_credentials`,
      {
        hint: "to log in as a person, write transport.auth.grant: authorization_code",
      },
    );
  }
  const late = AbortSignal.timeout(personTimeoutMs);
  const signal = AbortSignal.any([options.signal, late]);
  try {
    const run = await startRun(server, deps, { identity, scopes: options.scopes, signal });
    const outcome =
      options.method === "device" ? await runDevice(run, options.show) : await runBrowser(run, options.show);
    return await keepLogin(run, identity, outcome);
  } catch (error) {
    if (late.aborted && !options.signal.aborted) {
      throw new OAuthError(
        "OAUTH_LOGIN_FAILED",
        `Nobody completed the login within ${personTimeoutMs / 60_000} minutes`,
        {
          hint: "try again",
        },
      );
    }
    throw error;
  }
}

/** Finds everything about the authorization server that a login needs. */
async function startRun(
  server: OAuthServer,
  deps: OAuthDeps,
  { identity, scopes, signal }: Pick<LoginOptions, "identity" | "scopes" | "signal">,
): Promise<LoginRun> {
  const fetch = oauthFetchFor(server, deps);
  const library = await loadLibrary();
  const challenge = await probe(server, fetch, signal);
  const { id: serverId, url, issuer } = server;
  const found = await discover({ serverId, url, issuer, challenge, scrub: deps.scrub, signal }, fetch);
  const before = await readLogin(loginSecretName(server, identity), deps);
  return { server, deps, fetch, library, found, signal, asked: askedScopes(server, found, scopes, before) };
}

/** Stores a login. */
async function keepLogin(
  { server, deps, library }: LoginRun,
  identity: Identity | undefined,
  { record, tokens }: LoginOutcome,
): Promise<LoginResult> {
  const name = loginSecretName(server, identity);
  const stored = { ...record, ...tokens, loginId: library.generateRandomState() };
  await withLoginLock(name, deps, () => writeLogin(name, stored, deps));
  return {
    issuer: stored.issuer,
    scopes: stored.scopes,
    expiresAt: tokens.expiresAt,
    canRefresh: tokens.refreshToken !== undefined,
  };
}

/** A login that waits for the browser of a person to return. */
export interface OpenedLogin {
  /** The page that the person opens. */
  readonly url: string;
  /** The value of `state` that the answer has to have. */
  readonly state: string;
  /** Stores the login that `answer` gives. For one answer. @throws {OAuthError} */
  finish(answer: URL, signal: AbortSignal): Promise<LoginResult>;
}

/** Opens a login whose answer arrives at `redirectUri`. @throws {OAuthError} as `login` */
export async function openLogin(
  server: OAuthServer,
  deps: OAuthDeps,
  {
    identity,
    redirectUri,
    signal,
  }: {
    readonly identity: Identity | undefined;
    readonly redirectUri: string;
    readonly signal: AbortSignal;
  },
): Promise<OpenedLogin> {
  const run = await startRun(server, deps, { identity, signal });
  const { url, state, finish } = await openAuthorization(run, redirectUri);
  return {
    url,
    state,
    finish: async (answer, until) => await keepLogin(run, identity, await finish(answer, until)),
  };
}

/** Parts of one login. */
interface LoginRun {
  readonly server: OAuthServer;
  readonly deps: OAuthDeps;
  readonly fetch: OAuthFetch;
  readonly library: OAuthLibrary;
  readonly found: Discovered;
  readonly asked: readonly string[];
  readonly signal: AbortSignal;
}

interface LoginOutcome {
  readonly record: Omit<LoginRecord, keyof ReceivedTokens>;
  readonly tokens: ReceivedTokens;
}

/** Asks the server without a token, for its challenge. A server that does not answer has none. */
async function probe(
  server: OAuthServer,
  fetch: OAuthFetch,
  signal: AbortSignal,
): Promise<BearerChallenge | undefined> {
  try {
    const response = await fetch(server.url, {
      method: "POST",
      headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
      signal,
    });
    return response.status === 401
      ? parseChallenge(response.headers.get("www-authenticate") ?? undefined)
      : undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}

/** Returns the scopes to ask for: those that are configured or needed, and those that the login had. */
function askedScopes(
  server: OAuthServer,
  { scopes: offered, server: as }: Discovered,
  added: readonly string[] = [],
  before: LoginRecord | undefined,
): readonly string[] {
  const kept = before?.issuer === as.issuer ? [...before.scopes, ...(before.wantedScopes ?? [])] : [];
  const asked = [...(server.scopes ?? offered), ...added, ...kept];
  // With it, a login outlasts its access token (MCP specification, section "Refresh Tokens").
  if (asked.length > 0 && as.scopes_supported?.includes("offline_access")) asked.push("offline_access");
  return [...new Set(asked)].slice(0, scopesMaxCount);
}

async function runBrowser(run: LoginRun, show: LoginOptions["show"]): Promise<LoginOutcome> {
  const { server, signal } = run;
  await using redirect = await openLoopbackRedirect(server.redirectPort ?? 0);
  const { url, state, finish } = await openAuthorization(run, redirect.redirectUri);
  show({ kind: "browser", url });
  return await finish(await redirect.answer(state, signal), signal);
}

/** Returns the page of the authorization server for one login, and what to do with its answer. */
async function openAuthorization(run: LoginRun, redirectUri: string) {
  const { library, found, asked, signal, fetch } = run;
  const as = found.server;
  const endpoint = browserUrl(run, as.authorization_endpoint, "authorization_endpoint");
  // OAuth 2.1 requires PKCE, and an authorization server that does not say so may ignore it.
  if (!as.code_challenge_methods_supported?.includes("S256")) {
    throw new OAuthError(
      "OAUTH_LOGIN_FAILED",
      `The authorization server ${as.issuer} does not support PKCE with S256`,
      {
        hint: "without it a login is not safe; use another authorization server, or client_credentials",
      },
    );
  }
  const request = {
    redirectUris: [redirectUri],
    grantTypes: ["authorization_code", "refresh_token"],
    signal,
  };
  const { known, client, auth } = await clientFor(run, request);
  const verifier = library.generateRandomCodeVerifier();
  const state = library.generateRandomState();
  endpoint.search = new URLSearchParams([
    ...endpoint.searchParams,
    ["response_type", "code"],
    ["client_id", client.client_id],
    ["redirect_uri", redirectUri],
    ["state", state],
    ["code_challenge", await library.calculatePKCECodeChallenge(verifier)],
    ["code_challenge_method", "S256"],
    ["resource", found.resource],
    ...(asked.length === 0 ? [] : [["scope", asked.join(" ")]]),
    // OpenID Connect gives offline access only after a consent.
    ...(asked.includes("offline_access") ? [["prompt", "consent"]] : []),
  ] as string[][]).toString();
  const finish = async (answer: URL, until: AbortSignal): Promise<LoginOutcome> => {
    try {
      // Checks `state` and `iss` before anything else of the answer is used (RFC 9207).
      const parameters = library.validateAuthResponse(as, client, answer, state);
      const response = await library.authorizationCodeGrantRequest(
        as,
        client,
        auth,
        parameters,
        redirectUri,
        verifier,
        {
          ...requestOptions(library, fetch, until),
          additionalParameters: { resource: found.resource },
        },
      );
      const received = await library.processAuthorizationCodeResponse(as, client, response);
      return outcomeOf(run, known, toTokens(received, asked, run.deps.now()));
    } catch (error) {
      const passing = [verifier, answer.searchParams.get("code") ?? ""];
      throw loginFailure({ ...run, deps: scrubbing(run.deps, passing) }, error);
    }
  };
  return { url: endpoint.href, state, finish };
}

/** Lets `scrub` also remove `values` that are secrets only for this login, and are not learned for all texts: a server can repeat them. */
function scrubbing(deps: OAuthDeps, values: readonly string[]): OAuthDeps {
  const found = values.filter((value) => value !== "");
  const remove = (text: string) =>
    found.reduce((left, value) => left.replaceAll(value, "[secret login]"), text);
  return { ...deps, scrub: (text) => deps.scrub(remove(text)) };
}

async function runDevice(run: LoginRun, show: LoginOptions["show"]): Promise<LoginOutcome> {
  const { library, found, asked, signal, fetch } = run;
  const as = found.server;
  if (as.device_authorization_endpoint === undefined) {
    throw new OAuthError(
      "OAUTH_LOGIN_FAILED",
      `The authorization server ${as.issuer} does not support logins with --device`,
      {
        hint: "log in with a browser, or with --no-browser on a machine that has one",
      },
    );
  }
  const request = { redirectUris: [], grantTypes: [deviceGrant, "refresh_token"], signal };
  const { known, client, auth } = await clientFor(run, request);
  const options = requestOptions(library, fetch, signal);
  try {
    const parameters = {
      resource: found.resource,
      ...(asked.length === 0 ? {} : { scope: asked.join(" ") }),
    };
    const opened = await library.deviceAuthorizationRequest(as, client, auth, parameters, options);
    const device = await library.processDeviceAuthorizationResponse(as, client, opened);
    const url = browserUrl(
      run,
      device.verification_uri_complete ?? device.verification_uri,
      "verification_uri",
    );
    show({ kind: "device", url: url.href, code: device.user_code.replace(/[^\x20-\x7e]/g, "").slice(0, 64) });
    const ended = AbortSignal.timeout(Math.min(device.expires_in * 1000, personTimeoutMs));
    let intervalMs = Math.min(Math.max(device.interval ?? 5, 1), 60) * 1000;
    for (;;) {
      await delay(intervalMs, undefined, { signal: AbortSignal.any([signal, ended]) });
      const response = await library.deviceCodeGrantRequest(as, client, auth, device.device_code, {
        ...options,
        additionalParameters: { resource: found.resource },
      });
      try {
        const received = await library.processDeviceCodeResponse(as, client, response);
        return outcomeOf(run, known, toTokens(received, asked, run.deps.now()));
      } catch (error) {
        const state = error instanceof library.ResponseBodyError ? error.error : undefined;
        if (state === "slow_down") intervalMs += 5000;
        else if (state !== "authorization_pending") throw error;
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error && error.name === "AbortError") {
      throw new OAuthError("OAUTH_LOGIN_FAILED", "The code of the login has expired", { hint: "try again" });
    }
    throw loginFailure(run, error);
  }
}

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

async function clientFor(run: LoginRun, request: Parameters<typeof findClient>[2]) {
  const { server, library, found, fetch, deps } = run;
  const known = await findClient(server, found.server, request, { library, fetch, scrub: deps.scrub });
  if (known.secret !== undefined) deps.learn(known.secret);
  return { known, ...(await authenticateClient(server, known, found.server.issuer, library, deps)) };
}

function outcomeOf(
  { found, asked }: LoginRun,
  client: LoginRecord["client"],
  tokens: ReceivedTokens,
): LoginOutcome {
  return {
    record: { issuer: found.server.issuer, resource: found.resource, client, askedScopes: asked },
    tokens,
  };
}

/** Returns a URL that is safe to open in a browser. @throws {OAuthError} `OAUTH_ADDRESS_REFUSED` */
function browserUrl({ found, server }: LoginRun, text: string | undefined, field: string): URL {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  const isOnLoopback =
    /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/.test(url?.hostname ?? "") &&
    new URL(server.url).protocol === "http:";
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isOnLoopback)) return url;
  throw new OAuthError(
    "OAUTH_ADDRESS_REFUSED",
    `${field} of the authorization server ${found.server.issuer} is no https URL`,
  );
}

function loginFailure({ library, server, found, deps }: LoginRun, error: unknown): unknown {
  return toTokenError(error, library, {
    code: "OAUTH_LOGIN_FAILED",
    what: `The login to "${server.id}" at ${found.server.issuer} failed`,
    hint: "try again; if it fails again, check the client and the scopes in transport.auth",
    scrub: deps.scrub,
  });
}

/** The result of `logout`. */
export interface LogoutResult {
  /** Whether there was a login. */
  readonly existed: boolean;
  /** Whether the authorization server confirmed that it revoked the tokens. */
  readonly isRevoked: boolean;
  /** Why it did not. */
  readonly problem?: string;
}

/** Revokes the tokens of a login and deletes it; it is deleted in any case. */
export async function logout(
  server: OAuthServer,
  deps: OAuthDeps,
  { identity, signal }: { readonly identity?: Identity | undefined; readonly signal: AbortSignal },
): Promise<LogoutResult> {
  const name = loginSecretName(server, identity);
  return await withLoginLock(name, deps, async () => {
    const record = await readLogin(name, deps);
    if (record === undefined) {
      // One that cannot be read is deleted too.
      return { existed: await deps.store.delete(name), isRevoked: false };
    }
    let problem: string | undefined;
    try {
      problem = await revoke(server, record, deps, signal);
    } catch (error) {
      problem = messageOf(error);
    }
    await deps.store.delete(name);
    return { existed: true, isRevoked: problem === undefined, ...(problem === undefined ? {} : { problem }) };
  });
}

/** Returns why the tokens were not revoked; undefined where they were. */
async function revoke(
  server: OAuthServer,
  record: LoginRecord,
  deps: OAuthDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const tokens = [
    { value: record.refreshToken, hint: "refresh_token" },
    { value: record.accessToken, hint: "access_token" },
  ];
  if (tokens.every(({ value }) => value === undefined)) return undefined;
  const fetch = oauthFetchFor(server, deps);
  const library = await loadLibrary();
  const as: AuthorizationServer = await discoverIssuer(record.issuer, fetch, {
    serverId: server.id,
    scrub: deps.scrub,
    signal,
  });
  if (as.revocation_endpoint === undefined)
    return `${as.issuer} revokes no tokens; they are valid until they expire`;
  const { client, auth }: AuthenticatedClient = await authenticateClient(
    server,
    record.client,
    record.issuer,
    library,
    deps,
  );
  try {
    for (const { value, hint } of tokens) {
      if (value === undefined) continue;
      const response = await library.revocationRequest(as, client, auth, value, {
        ...requestOptions(library, fetch, signal),
        additionalParameters: { token_type_hint: hint },
      });
      await library.processRevocationResponse(response);
    }
    return undefined;
  } catch (error) {
    throw toTokenError(error, library, {
      code: "OAUTH_TOKEN_FAILED",
      what: `${as.issuer} did not revoke the tokens`,
      hint: "revoke them there",
      scrub: deps.scrub,
    });
  }
}

/** Reads the state of a login from the store; asks nobody. @throws as `SecretStore.get` */
export async function readLoginState(
  server: Pick<OAuthServer, "url" | "issuer" | "clientId">,
  deps: Pick<OAuthDeps, "store" | "learn" | "now">,
  identity?: Identity,
): Promise<LoginState> {
  const record = await readLogin(loginSecretName(server, identity), deps);
  return stateOf(record !== undefined && isLoginFor(server, record) ? record : undefined, deps.now());
}
