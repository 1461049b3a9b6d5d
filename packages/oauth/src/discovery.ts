/**
 * Finds the authorization server of an MCP server: protected resource metadata (RFC 9728), then
 * metadata of the authorization server (RFC 8414, OpenID Connect Discovery), in the order of the
 * MCP specification (2026-07-28, Authorization Server Discovery). Metadata whose `resource` or
 * `issuer` is not what was asked for is refused.
 */

import { isJsonObject, type JsonObject, parseJson } from "@toolcrib/json";
import type { AuthorizationServer } from "oauth4webapi";
import { type BearerChallenge, parseScopes, scopesMaxCount } from "./challenge.ts";
import { OAuthError } from "./oauth-error.ts";
import { type OAuthFetch, shownUrl } from "./oauth-fetch.ts";
import { shownText } from "./token-requests.ts";

/** An MCP server as a protected resource, with its authorization server. */
export interface Discovered {
  /** The value of `resource` in requests for tokens (RFC 8707). */
  readonly resource: string;
  readonly server: AuthorizationServer;
  /** Scopes that the server asks for when nothing else says which; empty for none. */
  readonly scopes: readonly string[];
}

/** The facts that are known before discovery. */
export interface DiscoveryRequest {
  readonly serverId: string;
  /** As in `OAuthDeps`. */
  readonly scrub: (text: string) => string;
  /** The URL of the MCP server. */
  readonly url: string;
  /** The issuer that the configuration names. @default the first one that the server names */
  readonly issuer?: string | undefined;
  /** The challenge of the server, if it sent one. */
  readonly challenge?: BearerChallenge | undefined;
  readonly signal: AbortSignal;
}

/** Limits of the JSON of metadata. */
const jsonLimits = { maxLength: 512 * 1024, maxDepth: 16, maxValues: 20_000 };

/**
 * Discovers the authorization server of `request.url`.
 *
 * @throws {OAuthError} `OAUTH_DISCOVERY_FAILED`, `OAUTH_ADDRESS_REFUSED`, `OAUTH_UNREACHABLE`.
 */
export async function discover(request: DiscoveryRequest, fetch: OAuthFetch): Promise<Discovered> {
  const metadata = await resourceMetadata(request, fetch);
  const named = listOfTexts(metadata?.["authorization_servers"]);
  const { issuer: wanted } = request;
  if (wanted !== undefined && named.length > 0 && !named.includes(wanted)) {
    throw failed(
      request,
      `it names the authorization server ${named[0]}, but transport.auth.issuer is ${wanted}`,
    );
  }
  // A server of the revision 2025-03-26 has no metadata of its own: its origin is the authorization server.
  const issuer = wanted ?? named[0] ?? new URL(request.url).origin;
  const server = await discoverIssuer(issuer, fetch, request);
  const scopes =
    request.challenge?.scopes ?? parseScopes(listOfTexts(metadata?.["scopes_supported"]).join(" "));
  return { resource: resourceOf(request, metadata), server, scopes: scopes.slice(0, scopesMaxCount) };
}

/** Returns the canonical URI of a server (MCP specification: without a fragment, and without a slash at the end of an origin). */
export function canonicalResource(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return pathname === "/" && search === "" ? origin : `${origin}${pathname}${search}`;
}

/**
 * Reads the metadata of an authorization server.
 *
 * @throws {OAuthError} `OAUTH_DISCOVERY_FAILED`, `OAUTH_ADDRESS_REFUSED`, `OAUTH_UNREACHABLE`.
 */
export async function discoverIssuer(
  issuer: string,
  fetch: OAuthFetch,
  request: Pick<DiscoveryRequest, "serverId" | "signal" | "scrub">,
): Promise<AuthorizationServer> {
  if (!URL.canParse(issuer) || new URL(issuer).search !== "" || new URL(issuer).hash !== "") {
    throw failed(
      request,
      `the issuer ${JSON.stringify(shownText(issuer, request.scrub))} is not a URL without query`,
    );
  }
  if (!/^https?:$/.test(new URL(issuer).protocol)) {
    throw new OAuthError("OAUTH_ADDRESS_REFUSED", `Cannot use ${shownUrl(new URL(issuer))}: it is not https`);
  }
  for (const url of issuerMetadataUrls(new URL(issuer))) {
    const metadata = await readMetadata(url, fetch, request);
    if (metadata === undefined) continue;
    if (metadata["issuer"] !== issuer) {
      const shown = shownText(String(metadata["issuer"]), request.scrub);
      throw failed(
        request,
        `the metadata at ${shownUrl(url)} is that of ${JSON.stringify(shown)}, not of ${issuer}`,
      );
    }
    return metadata as unknown as AuthorizationServer;
  }
  throw failed(request, `there is no metadata of the authorization server ${issuer}`);
}

function issuerMetadataUrls(issuer: URL): readonly URL[] {
  const { origin } = issuer;
  const path = issuer.pathname.replace(/\/$/, "");
  const first = [
    `/.well-known/oauth-authorization-server${path}`,
    `/.well-known/openid-configuration${path}`,
  ];
  const all = path === "" ? first : [...first, `${path}/.well-known/openid-configuration`];
  return all.map((one) => new URL(origin + one));
}

/** Returns the metadata of the resource, or undefined where there is none. */
async function resourceMetadata(
  request: DiscoveryRequest,
  fetch: OAuthFetch,
): Promise<JsonObject | undefined> {
  const url = new URL(request.url);
  const named = request.challenge?.resourceMetadata;
  if (named !== undefined) {
    if (!URL.canParse(named)) throw failed(request, "resource_metadata of its challenge is not a URL");
    const metadata = await readMetadata(new URL(named), fetch, request);
    if (metadata === undefined) throw failed(request, `there is no metadata at ${shownUrl(new URL(named))}`);
    return checkedResource(request, metadata);
  }
  const wellKnown = "/.well-known/oauth-protected-resource";
  const path = url.pathname === "/" ? "" : url.pathname;
  for (const one of new Set([`${wellKnown}${path}`, wellKnown])) {
    const metadata = await readMetadata(new URL(url.origin + one), fetch, request);
    if (metadata !== undefined) return checkedResource(request, metadata);
  }
  return undefined;
}

/** Refuses the metadata of another resource (RFC 9728, section 3.3); that of a path above the server is accepted. */
function checkedResource(request: DiscoveryRequest, metadata: JsonObject): JsonObject {
  const { resource } = metadata;
  const server = new URL(request.url);
  const named = typeof resource === "string" && URL.canParse(resource) ? new URL(resource) : undefined;
  const above = named?.pathname.replace(/\/$/, "");
  const isOwn =
    named?.origin === server.origin &&
    (server.pathname === named.pathname || `${server.pathname}/`.startsWith(`${above}/`));
  if (isOwn) return metadata;
  throw failed(
    request,
    `its metadata is that of the resource ${JSON.stringify(shownText(String(resource), request.scrub))}`,
  );
}

function resourceOf({ url }: DiscoveryRequest, metadata: JsonObject | undefined): string {
  const resource = metadata?.["resource"];
  return typeof resource === "string" ? resource : canonicalResource(url);
}

/** Returns the document at `url`; undefined for a client error, which says that there is none. */
async function readMetadata(
  url: URL,
  fetch: OAuthFetch,
  request: Pick<DiscoveryRequest, "serverId" | "signal" | "scrub">,
): Promise<JsonObject | undefined> {
  const response = await fetch(url.href, { headers: { accept: "application/json" }, signal: request.signal });
  if (response.status >= 400 && response.status < 500) return undefined;
  if (response.status !== 200) throw failed(request, `${shownUrl(url)} answered HTTP ${response.status}`);
  const value = parseOrUndefined(await response.text());
  // Applications answer any path with a page.
  if (!isJsonObject(value)) return undefined;
  return value;
}

function parseOrUndefined(text: string): unknown {
  try {
    return parseJson(text, jsonLimits);
  } catch {
    return undefined;
  }
}

/** Returns the texts of a list, at most `scopesMaxCount`. */
function listOfTexts(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((one) => typeof one === "string" && one.length <= 2048)
    .slice(0, scopesMaxCount) as string[];
}

function failed({ serverId }: Pick<DiscoveryRequest, "serverId">, reason: string): OAuthError {
  return new OAuthError(
    "OAUTH_DISCOVERY_FAILED",
    `Cannot find the authorization server of "${serverId}": ${reason}`,
    {
      hint: "check transport.url, or name the authorization server with transport.auth.issuer",
    },
  );
}
