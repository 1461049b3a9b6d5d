/**
 * The servers `login-…` of the examples, which need a token, and the authorization server below `/as-…`, each with
 * the faults that its name says: `login-closed` names one that registers no clients, `login-foreign` one that is not
 * https, `login-refused` one that refuses every client, and `login-denied` takes no token at all.
 */

import type { IncomingMessage } from "node:http";

/** A status with a body as JSON. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: object;
}

/** Returns the value of `WWW-Authenticate` where the server `name` refuses a request. */
export function isAuthorized(name: string, { headers }: IncomingMessage): string | undefined {
  if (!name.startsWith("login-")) return undefined;
  if (headers.authorization !== undefined && name !== "login-denied") return undefined;
  return `Bearer resource_metadata="http://${headers.host}/.well-known/oauth-protected-resource/${name}"`;
}

/** Answers a request to metadata or to the authorization server; returns undefined for other paths. */
export function answerAuthorization(
  { url = "/", headers }: IncomingMessage,
  body: string,
): JsonAnswer | undefined {
  const origin = `http://${headers.host}`;
  const resource = /^\/\.well-known\/oauth-protected-resource\/login-(\w+)/.exec(url)?.[1];
  if (resource !== undefined) {
    const issuer = resource === "foreign" ? "http://login.example.com" : `${origin}/as-${resource}`;
    return found({ resource: `${origin}/login-${resource}`, authorization_servers: [issuer] });
  }
  const metadata = /^\/\.well-known\/(?:oauth-authorization-server|openid-configuration)\/as-(\w+)/.exec(
    url,
  )?.[1];
  if (metadata !== undefined) return found(metadataOf(`${origin}/as-${metadata}`, metadata));
  const [, kind, endpoint] = /^\/as-(\w+)\/(\w+)/.exec(url) ?? [];
  if (endpoint === "register" && kind === "refused")
    return found({ error: "invalid_redirect_uri", error_description: "no redirect to this machine" }, 400);
  if (endpoint === "register") return found({ client_id: "example", ...(JSON.parse(body) as object) }, 201);
  if (endpoint !== "token") return undefined;
  return kind === "refused"
    ? found({ error: "invalid_client", error_description: "the client secret is wrong" }, 401)
    : found({ access_token: "token-of-an-example", token_type: "Bearer", expires_in: 3600 });
}

function metadataOf(issuer: string, kind: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    ...(kind !== "closed" && { registration_endpoint: `${issuer}/register` }),
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "client_credentials", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_post", "client_secret_basic"],
  };
}

function found(body: object, status = 200): JsonAnswer {
  return { status, body };
}
