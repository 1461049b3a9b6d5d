/**
 * Credentials of the HTTP transports: headers that a provider returns for each
 * request, so that a token can expire and be renewed while a connection is
 * open. Nothing here stores a credential or sends one to another origin.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import { abortable } from "@toolcrib/lifecycle";
import { McpError } from "../mcp-error.ts";

/** Header values by name. */
export interface HeaderRecord {
  readonly [name: string]: string;
}

/** The HTTP request that needs credentials. */
export interface CredentialRequest {
  readonly url: string;
  /** Aborts when the request is cancelled; a provider that does I/O passes it on. */
  readonly signal: AbortSignal;
}

/** The refusal of a request: HTTP 401 or 403. */
export interface CredentialRefusal {
  readonly status: number;
  /** The header `WWW-Authenticate`. */
  readonly challenge: string | readonly string[] | undefined;
  /** The credentials of the request; names in lower case. */
  readonly headers: HeaderRecord;
  readonly signal: AbortSignal;
}

/**
 * Returns the headers that authenticate one HTTP request. Called for every
 * request, reconnections included. Headers of the protocol replace headers of
 * the same name. A rejection fails the request with `MCP_CREDENTIALS_UNAVAILABLE`;
 * its message is shown only if it is a `CodedError`.
 */
export interface CredentialProvider {
  (request: CredentialRequest): HeaderRecord | Promise<HeaderRecord>;
  /**
   * Called when the server refuses the credentials of a request, which it has not processed then. Whether the request
   * is sent again, once, with the credentials that the provider returns now. A rejection is treated as one of the
   * provider. @default no request is sent again
   */
  refused?(refusal: CredentialRefusal): Promise<boolean>;
}

/** Returns a provider of fixed headers; secrets are already resolved. */
export function staticCredentials(headers: HeaderRecord): CredentialProvider {
  const fixed = lowerCased(headers);
  return () => fixed;
}

/**
 * Gets the credentials for `request` and passes them to `send`, with names in
 * lower case. `send` runs synchronously if the provider returns its headers synchronously.
 *
 * @param shownUrl the server's URL for error messages.
 */
export function withCredentials<Result>(
  provider: CredentialProvider | undefined,
  request: CredentialRequest,
  shownUrl: string,
  send: (headers: HeaderRecord) => Promise<Result>,
): Promise<Result> {
  let given: HeaderRecord | Promise<HeaderRecord> | undefined;
  try {
    given = provider?.(request);
  } catch (cause) {
    return Promise.reject(unavailable(shownUrl, cause));
  }
  if (given === undefined) return send({});
  if (!(given instanceof Promise)) return send(lowerCased(given));
  return settled(given, request, shownUrl).then((headers) => send(lowerCased(headers)));
}

/** Whether a request that was refused is sent again. @throws {McpError} `MCP_CREDENTIALS_UNAVAILABLE`; the reason of the signal */
export function mayRepeat(
  provider: CredentialProvider | undefined,
  refusal: CredentialRefusal,
  shownUrl: string,
): Promise<boolean> {
  return provider?.refused === undefined
    ? Promise.resolve(false)
    : settled(provider.refused(refusal), refusal, shownUrl);
}

function settled<Value>(
  given: Promise<Value>,
  { signal }: { readonly signal: AbortSignal },
  shownUrl: string,
): Promise<Value> {
  return abortable(given, signal).catch((cause: unknown) => {
    throw signal.aborted ? signal.reason : unavailable(shownUrl, cause);
  });
}

/** Lower-case names, so that headers of the protocol replace those of the provider. */
function lowerCased(headers: HeaderRecord): HeaderRecord {
  for (const name in headers) {
    if (name !== name.toLowerCase()) {
      return Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]));
    }
  }
  return headers;
}

function unavailable(shownUrl: string, cause: unknown): McpError {
  const detail = isCodedError(cause) ? `: ${cause.message}` : "";
  return new McpError(
    "MCP_CREDENTIALS_UNAVAILABLE",
    `Cannot get the credentials for the server at ${shownUrl}${detail}`,
    { cause, hint: isCodedError(cause) ? cause.hint : undefined },
  );
}
