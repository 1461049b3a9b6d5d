/**
 * The client that Toolcrib is at an authorization server, in the order of the MCP specification:
 * registered before, a client id metadata document, dynamic registration (RFC 7591). A client belongs
 * to the issuer that it was registered at and is never used at another one.
 */

import { createPrivateKey, type KeyObject } from "node:crypto";
import { isJsonObject, parseJson } from "@toolcrib/json";
import type { AuthorizationServer, Client, ClientAuth } from "oauth4webapi";
import type { ClientMethod, KnownClient } from "./login-record.ts";
import { OAuthError } from "./oauth-error.ts";
import type { OAuthFetch } from "./oauth-fetch.ts";
import type { OAuthDeps, OAuthServer } from "./oauth-server.ts";
import { type OAuthLibrary, requestOptions, type TokenRequester, toTokenError } from "./token-requests.ts";

/** The requirements of a new client. */
export interface RegistrationRequest {
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  readonly signal: AbortSignal;
}

/** Dependencies of a registration. */
interface Registrar {
  readonly library: OAuthLibrary;
  readonly fetch: OAuthFetch;
  /** As in `OAuthDeps`. */
  readonly scrub: (text: string) => string;
}

/**
 * Returns the client for `as`, and registers one if none is known.
 *
 * @throws {OAuthError} `OAUTH_CLIENT_REQUIRED`; `OAUTH_LOGIN_FAILED` where the registration is refused.
 */
export async function findClient(
  server: OAuthServer,
  as: AuthorizationServer,
  request: RegistrationRequest,
  registrar: Registrar,
): Promise<KnownClient> {
  const { clientId, clientMetadataUrl } = server;
  if (clientId !== undefined) return { id: clientId, method: methodOf(server, as) };
  if (clientMetadataUrl !== undefined && as["client_id_metadata_document_supported"] === true) {
    return { id: clientMetadataUrl, method: server.privateKey === undefined ? "none" : "private_key_jwt" };
  }
  if (as.registration_endpoint === undefined) {
    throw new OAuthError(
      "OAUTH_CLIENT_REQUIRED",
      `The authorization server ${as.issuer} of "${server.id}" does not register clients by itself`,
      {
        hint: "register a client there, and write transport.auth.client_id, and client_secret if it has one",
      },
    );
  }
  return await register(server, as, request, registrar);
}

async function register(
  server: OAuthServer,
  as: AuthorizationServer,
  { redirectUris, grantTypes, signal }: RegistrationRequest,
  { library, fetch, scrub }: Registrar,
): Promise<KnownClient> {
  const supported = as.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const method = (["none", "client_secret_basic", "client_secret_post"] as const).find((one) =>
    supported.includes(one),
  );
  try {
    const response = await library.dynamicClientRegistrationRequest(
      as,
      {
        client_name: "Toolcrib",
        application_type: "native",
        redirect_uris: [...redirectUris],
        grant_types: [...grantTypes],
        response_types: redirectUris.length === 0 ? [] : ["code"],
        token_endpoint_auth_method: method ?? "none",
      },
      requestOptions(library, fetch, signal),
    );
    const client = await library.processDynamicClientRegistrationResponse(await completed(response));
    const { client_secret: secret, token_endpoint_auth_method: given } = client;
    const isKnown = given === "none" || given === "client_secret_basic" || given === "client_secret_post";
    const fallback: ClientMethod = typeof secret === "string" ? "client_secret_basic" : "none";
    return {
      id: client.client_id,
      method: isKnown ? given : fallback,
      ...(typeof secret === "string" ? { secret } : {}),
    };
  } catch (error) {
    throw toTokenError(error, library, {
      code: "OAUTH_LOGIN_FAILED",
      what: `The authorization server ${as.issuer} did not register Toolcrib for "${server.id}"`,
      hint: "register a client there, and write transport.auth.client_id",
      scrub,
    });
  }
}

/** Limits of the JSON of a registered client. */
const jsonLimits = { maxLength: 512 * 1024, maxDepth: 16, maxValues: 20_000 };

/**
 * Adds what authorization servers leave out of the registration of a client although RFC 7591, section 3.2.1 requires
 * it: the status 201, and `client_secret_expires_at` of a secret, which does not expire then.
 */
async function completed(response: Response): Promise<Response> {
  if (response.status !== 200 && response.status !== 201) return response;
  const text = await response.text();
  const { headers } = response;
  let value: unknown;
  try {
    value = parseJson(text, jsonLimits);
  } catch {
    return new Response(text, { status: 201, headers });
  }
  if (!isJsonObject(value) || value["client_secret"] === undefined || "client_secret_expires_at" in value)
    return new Response(text, { status: 201, headers });
  return new Response(JSON.stringify({ ...value, client_secret_expires_at: 0 }), { status: 201, headers });
}

/** The method of a client of the configuration. */
function methodOf(server: OAuthServer, as: AuthorizationServer): ClientMethod {
  if (server.privateKey !== undefined) return "private_key_jwt";
  if (server.clientSecret === undefined) return "none";
  const supported = as.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return supported.includes("client_secret_basic") || !supported.includes("client_secret_post")
    ? "client_secret_basic"
    : "client_secret_post";
}

/** A client with what authenticates it. */
export interface AuthenticatedClient {
  readonly client: Client;
  readonly auth: ClientAuth;
}

/** Returns what authenticates `known` at `issuer`. @throws {OAuthError} `OAUTH_SETTING_INVALID` */
export async function authenticateClient(
  server: OAuthServer,
  known: KnownClient,
  issuer: string,
  library: OAuthLibrary,
  deps: Pick<OAuthDeps, "learn">,
): Promise<AuthenticatedClient> {
  const client: Client = { client_id: known.id };
  if (known.method === "none") return { client, auth: library.None() };
  if (known.method === "private_key_jwt") {
    const pem = await server.privateKey?.();
    if (pem === undefined) throw settingInvalid(server, "private_key is missing");
    deps.learn(pem);
    return { client, auth: library.PrivateKeyJwt(await importKey(server, pem)) };
  }
  if (known.secret === undefined) checkSecretIsFor(server, issuer);
  const secret = known.secret ?? (await server.clientSecret?.());
  if (secret === undefined) throw settingInvalid(server, "client_secret is missing");
  deps.learn(secret);
  const auth =
    known.method === "client_secret_post" ? library.ClientSecretPost(secret) : clientSecretBasic(secret);
  return { client, auth };
}

/** The parts of the owner of tokens that its requests need. */
interface RequestingParts {
  readonly server: OAuthServer;
  readonly deps: OAuthDeps;
  readonly fetch: OAuthFetch;
}

/**
 * Returns the requester of tokens for `target.resource`, authenticated as the client `target.known` at `target.as`.
 *
 * @throws {OAuthError} `OAUTH_SETTING_INVALID`
 */
export async function tokenRequester(
  { server, deps, fetch }: RequestingParts,
  target: Pick<TokenRequester, "as" | "library" | "resource" | "signal"> & { readonly known: KnownClient },
): Promise<TokenRequester> {
  const { known, ...rest } = target;
  const authenticated = await authenticateClient(server, known, rest.as.issuer, rest.library, deps);
  return { ...rest, ...authenticated, fetch, now: deps.now, scrub: deps.scrub };
}

/**
 * Authenticates with HTTP Basic (RFC 6749, section 2.3.1). The library escapes `-`, `_` and `.` too, which the encoding of
 * forms leaves as they are, and which servers that do not decode take for another client.
 */
export function clientSecretBasic(secret: string): ClientAuth {
  return (_as, { client_id: id }, _body, headers) => {
    const credentials = `${formEncoded(id)}:${formEncoded(secret)}`;
    headers.set("authorization", `Basic ${Buffer.from(credentials).toString("base64")}`);
  };
}

function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

/**
 * Checks that `issuer` may get the client secret of the configuration: the configured one, or else one at the origin of
 * the server. Otherwise a server could name an authorization server of its choice, and get the secret there.
 *
 * @throws {OAuthError} `OAUTH_SETTING_INVALID`
 */
function checkSecretIsFor(server: OAuthServer, issuer: string): void {
  const isForIt =
    server.issuer === undefined
      ? new URL(issuer).origin === new URL(server.url).origin
      : server.issuer === issuer;
  if (isForIt) return;
  throw new OAuthError(
    "OAUTH_SETTING_INVALID",
    `The client secret of "${server.id}" is not sent to ${issuer}, which the configuration does not name`,
    { hint: `if the client is registered there, write transport.auth.issuer: ${issuer}` },
  );
}

/** Imports a private key for the algorithm that its type implies: RS256, ES256, ES384 or EdDSA. */
async function importKey(server: OAuthServer, pem: string) {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw settingInvalid(server, "private_key is no unencrypted private key in PEM");
  }
  const curve = key.asymmetricKeyDetails?.namedCurve;
  if (key.asymmetricKeyType === "rsa")
    return key.toCryptoKey({ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, false, ["sign"]);
  if (key.asymmetricKeyType === "ed25519") return key.toCryptoKey({ name: "Ed25519" }, false, ["sign"]);
  if (key.asymmetricKeyType === "ec" && (curve === "prime256v1" || curve === "secp384r1")) {
    const namedCurve = curve === "prime256v1" ? "P-256" : "P-384";
    return key.toCryptoKey({ name: "ECDSA", namedCurve }, false, ["sign"]);
  }
  throw settingInvalid(server, "private_key is neither RSA, P-256, P-384 nor Ed25519");
}

function settingInvalid({ id }: OAuthServer, reason: string): OAuthError {
  return new OAuthError(
    "OAUTH_SETTING_INVALID",
    `Cannot authenticate as the OAuth client of "${id}": ${reason}`,
    {
      hint: "correct transport.auth of this server",
    },
  );
}
