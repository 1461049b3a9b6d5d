/**
 * Requests to a token endpoint, and their answers as records. The library checks the form of each
 * answer; the code here bounds what is kept, and turns failures into errors without credentials.
 */

import { cutText } from "@toolcrib/diagnostics";
import type { AuthorizationServer, TokenEndpointResponse } from "oauth4webapi";
import { parseScopes } from "./challenge.ts";
import type { AuthenticatedClient } from "./client-registration.ts";
import type { OAuthCode } from "./codes.ts";
import { OAuthError } from "./oauth-error.ts";
import type { OAuthFetch } from "./oauth-fetch.ts";

/** The library, which is loaded with the first use of OAuth. */
export type OAuthLibrary = typeof import("oauth4webapi");

/** Loads the library. */
export function loadLibrary(): Promise<OAuthLibrary> {
  return import("oauth4webapi");
}

/** Returns the options of a request of the library. Which URLs are allowed is the decision of `fetch`. */
export function requestOptions(library: OAuthLibrary, fetch: OAuthFetch, signal: AbortSignal) {
  return { [library.customFetch]: fetch, [library.allowInsecureRequests]: true, signal } as const;
}

/** The tokens of an answer. */
export interface ReceivedTokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly receivedAt: number;
  readonly expiresAt?: number;
  readonly scopes: readonly string[];
}

/** The requester of tokens at one authorization server. */
export interface TokenRequester extends AuthenticatedClient {
  readonly library: OAuthLibrary;
  readonly fetch: OAuthFetch;
  readonly as: AuthorizationServer;
  /** The value of `resource`. */
  readonly resource: string;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** As in `OAuthDeps`. */
  readonly scrub: (text: string) => string;
}

/** Requests new tokens with a refresh token. @throws {OAuthError} `OAUTH_TOKEN_FAILED`; `OAUTH_LOGIN_REQUIRED` where the login has ended */
export async function refreshTokens(
  requester: TokenRequester,
  refreshToken: string,
  scopes: readonly string[],
): Promise<ReceivedTokens> {
  const { library, as, client, auth, resource, now, scrub } = requester;
  try {
    const response = await library.refreshTokenGrantRequest(as, client, auth, refreshToken, {
      ...optionsOf(requester),
      additionalParameters: { resource },
    });
    const answer = await library.processRefreshTokenResponse(as, client, response);
    return toTokens({ ...answer, refresh_token: answer.refresh_token ?? refreshToken }, scopes, now());
  } catch (error) {
    const ended = error instanceof library.ResponseBodyError && endings.includes(error.error);
    throw toTokenError(error, library, {
      code: ended ? "OAUTH_LOGIN_REQUIRED" : "OAUTH_TOKEN_FAILED",
      what: `The authorization server ${as.issuer} did not refresh the access token`,
      hint: ended ? "log in again" : "try again",
      scrub,
    });
  }
}

/** Errors after which a refresh token is of no use. */
const endings: readonly string[] = [
  "invalid_grant",
  "invalid_client",
  "unauthorized_client",
  "invalid_target",
  "invalid_scope",
];

/** Requests a token with client credentials. @throws {OAuthError} `OAUTH_TOKEN_FAILED` */
export async function requestOwnToken(
  requester: TokenRequester,
  scopes: readonly string[],
): Promise<ReceivedTokens> {
  const { library, as, client, auth, resource, now, scrub } = requester;
  try {
    const parameters = { resource, ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }) };
    const response = await library.clientCredentialsGrantRequest(
      as,
      client,
      auth,
      parameters,
      optionsOf(requester),
    );
    return toTokens(await library.processClientCredentialsResponse(as, client, response), scopes, now());
  } catch (error) {
    throw toTokenError(error, library, {
      code: "OAUTH_TOKEN_FAILED",
      what: `The authorization server ${as.issuer} gave no access token`,
      hint: "check transport.auth: client_id, client_secret or private_key, and scopes",
      scrub,
    });
  }
}

function optionsOf({ library, fetch, signal }: TokenRequester) {
  return requestOptions(library, fetch, signal);
}

/** Longest token in characters: a header carries it. @limit server */
const tokenMaxLength = 16_384;
/** Longest life of an access token that is believed: ten years. */
const lifeMaxSeconds = 10 * 366 * 86_400;

/** Checks an answer of a token endpoint. @param asked scopes that were asked for. @throws {OAuthError} `OAUTH_TOKEN_FAILED` */
export function toTokens(
  answer: TokenEndpointResponse,
  asked: readonly string[],
  now: number,
): ReceivedTokens {
  const {
    access_token: accessToken,
    refresh_token: refreshToken,
    expires_in: seconds,
    scope,
    token_type: type,
  } = answer;
  if (type.toLowerCase() !== "bearer") {
    const shown = type.length > 40 ? "unknown" : JSON.stringify(type);
    throw unusable(`its type is ${shown}, not Bearer`);
  }
  if (!/^[\x21-\x7e]+$/.test(accessToken) || accessToken.length > tokenMaxLength) {
    throw unusable("it cannot be sent in a header");
  }
  const keepsRefresh =
    typeof refreshToken === "string" && refreshToken !== "" && refreshToken.length <= tokenMaxLength;
  const lives = typeof seconds === "number" && seconds >= 0 ? Math.min(seconds, lifeMaxSeconds) : undefined;
  return {
    accessToken,
    ...(keepsRefresh ? { refreshToken } : {}),
    receivedAt: now,
    ...(lives === undefined ? {} : { expiresAt: now + lives * 1000 }),
    scopes: scope === undefined ? asked : parseScopes(scope),
  };
}

function unusable(reason: string): OAuthError {
  return new OAuthError(
    "OAUTH_TOKEN_FAILED",
    `The authorization server gave an access token that cannot be used: ${reason}`,
  );
}

/** The error of a failed request, by its purpose. */
interface TokenFailure {
  readonly code: OAuthCode;
  readonly what: string;
  readonly hint: string;
  /** As in `OAuthDeps`. */
  readonly scrub: (text: string) => string;
}

/** Converts an error of the library. Only the code and the description of an OAuth error are kept, without control characters. */
export function toTokenError(
  error: unknown,
  library: OAuthLibrary,
  { code, what, hint, scrub }: TokenFailure,
): unknown {
  if (error instanceof OAuthError) return error;
  if (error instanceof library.ResponseBodyError || error instanceof library.AuthorizationResponseError) {
    const description =
      error.error_description === undefined ? "" : ` (${shownText(error.error_description, scrub)})`;
    return new OAuthError(code, `${what}: ${shownText(error.error, scrub)}${description}`, { hint });
  }
  if (error instanceof library.WWWAuthenticateChallengeError) {
    return new OAuthError(code, `${what}: it refused the client (HTTP ${error.status})`, { hint });
  }
  if (
    error instanceof library.OperationProcessingError ||
    error instanceof library.UnsupportedOperationError
  ) {
    return new OAuthError(code, `${what}: ${shownText(error.message, scrub)}`, { hint });
  }
  return error;
}

/** Longest text of a server in a message, in characters. */
const shownMaxLength = 200;

/** Returns a text of a server on one line, without the secrets that `scrub` knows: those are removed before the text is cut. */
export function shownText(text: string, scrub: (text: string) => string): string {
  const shown = cutText(text, shownMaxLength, scrub);
  const line = scrub(shown).replace(/[^\x20-\x7e]+/g, " ");
  return text.length > shownMaxLength ? `${line}…` : line;
}
