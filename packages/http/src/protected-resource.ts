/**
 * The gateway as a protected resource of OAuth (RFC 9728): its metadata, which says where tokens come
 * from, and the challenges of its refusals (RFC 6750).
 */

import { sendJson } from "@toolcrib/mcp";
import { type Refusal, refusalError } from "./refusal.ts";
import type { MissingScopes } from "./request-handler.ts";
import { type ApiRoute, openAccess } from "./route-access.ts";

/** The gateway as clients find it. */
export interface ProtectedResource {
  /** The URL of its endpoint as clients know it, such as `https://tools.example.com/mcp`. */
  readonly resource: string;
  /** Issuers whose tokens are accepted. */
  readonly authorizationServers: readonly string[];
  /** Scopes that every request needs. */
  readonly scopes: readonly string[];
}

const wellKnown = "/.well-known/oauth-protected-resource";

/** Returns the routes of the metadata: at the root, and at the path of the endpoint. */
export function resourceRoutes(resource: ProtectedResource): { readonly [path: string]: ApiRoute } {
  const body = JSON.stringify({
    resource: resource.resource,
    authorization_servers: resource.authorizationServers,
    bearer_methods_supported: ["header"],
    resource_name: "Toolcrib",
    ...(resource.scopes.length === 0 ? {} : { scopes_supported: resource.scopes }),
  });
  const route: ApiRoute = {
    access: openAccess,
    async answer(response) {
      sendJson(response, 200, body, { "cache-control": "max-age=300", "x-content-type-options": "nosniff" });
      return undefined;
    },
  };
  const { pathname } = new URL(resource.resource);
  return { [wellKnown]: route, ...(pathname === "/" ? {} : { [wellKnown + pathname]: route }) };
}

/** Returns the refusal of a request without a valid token. @param authorization the header of the request */
export function unauthorizedAt(
  resource: ProtectedResource | undefined,
  authorization: string | undefined,
): Refusal {
  if (resource === undefined) return unauthorized;
  const error = refusalError(
    "HTTP_UNAUTHORIZED",
    "This request has no valid token",
    `get a token for ${resource.resource} from ${resource.authorizationServers.join(" or ")}, or use one of the folder tokens of the home of Toolcrib; tokens in a URL are not accepted`,
  );
  const invalid = authorization === undefined ? [] : ['error="invalid_token"'];
  return {
    status: 401,
    error,
    headers: challenge(resource, [...invalid, ...scopeParameter(resource.scopes)]),
  };
}

/** Returns the refusal of a valid token with too few scopes. */
export function scopeRefusal(
  { missingScopes }: MissingScopes,
  resource: ProtectedResource | undefined,
): Refusal {
  const error = refusalError(
    "HTTP_SCOPE_MISSING",
    `The token of this request does not have the scopes ${missingScopes.join(" ")}`,
    "get a token with these scopes",
  );
  const scopes = resource?.scopes ?? missingScopes;
  return {
    status: 403,
    error,
    headers: challenge(resource, ['error="insufficient_scope"', ...scopeParameter(scopes)]),
  };
}

function scopeParameter(scopes: readonly string[]): readonly string[] {
  return scopes.length === 0 ? [] : [`scope="${scopes.join(" ")}"`];
}

function challenge(resource: ProtectedResource | undefined, parameters: readonly string[]) {
  const place = resource === undefined ? [] : [`resource_metadata="${metadataUrl(resource)}"`];
  return { "www-authenticate": `Bearer ${['realm="toolcrib"', ...parameters, ...place].join(", ")}` };
}

function metadataUrl({ resource }: ProtectedResource): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}${wellKnown}${pathname === "/" ? "" : pathname}`;
}

const unauthorized: Refusal = {
  status: 401,
  error: refusalError(
    "HTTP_UNAUTHORIZED",
    "This request has no valid token",
    'send the header "Authorization: Bearer TOKEN" with a token from the folder tokens of the home of Toolcrib; tokens in a URL are not accepted',
  ),
  headers: { "www-authenticate": 'Bearer realm="toolcrib"' },
};
