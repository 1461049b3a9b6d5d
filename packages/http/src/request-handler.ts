/**
 * Handles each HTTP request, in this order: single headers, Host, Origin, path,
 * token; then the endpoint. Every check before the token gives the same answer
 * to everyone and reveals nothing about the gateway.
 *
 * It reads tokens only from the Authorization header, and never decodes or
 * normalizes a path: a path is one of those listed here, byte for byte, or it
 * is not found.
 */

import type { Logger } from "@toolcrib/diagnostics";
import type { HttpEndpoint, HttpRequest, HttpResponse, SseEndpoint } from "@toolcrib/mcp";
import { type Identity, isSameIdentity } from "@toolcrib/tool";
import { answerPreflight, isPreflight, shareWith } from "./cross-origin.ts";
import type { HostCheck, OriginCheck } from "./host-check.ts";
import { HttpError } from "./http-error.ts";
import { type ProtectedResource, scopeRefusal, unauthorizedAt } from "./protected-resource.ts";
import { discardBody, type Refusal, type Refuser, refusalError } from "./refusal.ts";
import { type ApiRoute, decideAccess, methodNotAllowed } from "./route-access.ts";
import { unknownProfile, unknownServer, visibleIds } from "./status-routes.ts";

/** The scopes that a valid token does not have and every request needs. */
export interface MissingScopes {
  readonly missingScopes: readonly string[];
}

/** The result of `Authenticate`. */
type Authenticated = Identity | MissingScopes | undefined;

/**
 * Authenticates an `Authorization` header; undefined when it is not valid.
 * A promise must settle within a time limit of its own.
 */
export type Authenticate = (authorization: string | undefined) => Authenticated | Promise<Authenticated>;

/** Dependencies of the handler. */
export interface RequestHandlerDeps {
  readonly mcp: HttpEndpoint;
  readonly sse: SseEndpoint;
  readonly authenticate: Authenticate;
  /** Called for each request of a client that is authenticated. */
  readonly onAccepted: (request: HttpRequest, response: HttpResponse, identity: Identity) => void;
  /** Where clients find out how to get a token. @default nowhere */
  readonly resource?: ProtectedResource | undefined;
  readonly isHostAllowed: HostCheck;
  readonly isOriginAllowed: OriginCheck;
  /** Returns the route of a path other than MCP. */
  readonly routeOf: (path: string) => ApiRoute | undefined;
  /** Returns the ids of the servers with endpoints. */
  readonly serverIds: () => readonly string[];
  /** Whether a client may see a server; one that it may not see does not exist for it. */
  readonly isVisible: (identity: Identity, serverId: string) => boolean;
  /** Returns the names of the profiles that a client may use; another one does not exist for it. */
  readonly profilesOf: (identity: Identity) => readonly string[];
  readonly refuser: Refuser;
  readonly logger: Logger;
}

type HttpCaller = Parameters<HttpEndpoint["handle"]>[2];

const serverPrefix = "/mcp/s/";
const profilePrefix = "/mcp/p/";

/** The destination of a request. */
interface Route {
  /** View of an MCP endpoint. */
  readonly view: string | undefined;
  readonly api: ApiRoute | undefined;
  readonly path: string;
  /** The part of the URL after the `?`. */
  readonly query: string;
}

/** Handles the requests of one HTTP server. */
export class RequestHandler {
  readonly #deps: RequestHandlerDeps;

  constructor(deps: RequestHandlerDeps) {
    this.#deps = deps;
  }

  /** Answers a request. It never throws. */
  handle(request: HttpRequest, response: HttpResponse): void {
    try {
      this.#handle(request, response)?.catch((error: unknown) => this.#fail(request, response, error));
    } catch (error) {
      this.#fail(request, response, error);
    }
  }

  #handle(request: HttpRequest, response: HttpResponse): void | Promise<void> {
    const { refuser, authenticate } = this.#deps;
    const refusal = this.#inspect(request);
    if (refusal !== undefined) return refuser.refuse(request, response, refusal);
    const { origin, authorization } = request.headers;
    if (origin !== undefined) shareWith(response, origin);
    const route = this.#routeOf(request.url ?? "");
    if (route === undefined) return refuser.refuse(request, response, notFound);
    if (isPreflight(request)) return answerPreflight(request, response);
    const identity = route.api?.access.kind === "open" ? undefined : authenticate(authorization);
    // The token is checked in this turn of the event loop where possible.
    return identity instanceof Promise
      ? identity.then((one) => this.#dispatch(request, response, route, one))
      : this.#dispatch(request, response, route, identity);
  }

  /** Checks that apply to every request. */
  #inspect(request: HttpRequest): Refusal | undefined {
    const { headers, rawHeaders } = request;
    // With as many names as lines, no header occurs twice; nearly every request is like that.
    const duplicate = rawHeaders.length === 2 * countOf(headers) ? undefined : duplicateHeader(rawHeaders);
    if (duplicate !== undefined) return duplicateRefusal(duplicate);
    const { host, origin } = headers;
    if (!this.#deps.isHostAllowed(host, () => request.socket.localAddress)) return hostRefusal;
    return this.#deps.isOriginAllowed(origin) ? undefined : originRefusal;
  }

  #routeOf(url: string): Route | undefined {
    const queryAt = url.indexOf("?");
    const path = queryAt === -1 ? url : url.slice(0, queryAt);
    const query = queryAt === -1 ? "" : url.slice(queryAt + 1);
    const view = viewOf(path);
    const api = view === undefined ? this.#deps.routeOf(path) : undefined;
    const isSse = path === "/sse" || path === "/messages";
    return view === undefined && api === undefined && !isSse ? undefined : { view, api, path, query };
  }

  #dispatch(
    request: HttpRequest,
    response: HttpResponse,
    route: Route,
    authenticated: Authenticated,
  ): void | Promise<void> {
    // A client that left while its token was checked gets no answer, and its body never ends.
    if (response.destroyed) return undefined;
    const { resource, refuser } = this.#deps;
    if (authenticated !== undefined && "missingScopes" in authenticated) {
      return refuser.refuse(request, response, scopeRefusal(authenticated, resource));
    }
    const identity = authenticated;
    if (identity !== undefined) this.#deps.onAccepted(request, response, identity);
    const { view, api } = route;
    if (api !== undefined && (api.access.kind === "open" || identity !== undefined)) {
      return this.#toApi(request, response, api, route.query, identity);
    }
    if (identity === undefined) {
      return refuser.refuse(request, response, unauthorizedAt(resource, request.headers.authorization));
    }
    if (view !== undefined) return this.#toMcp(request, response, view, identity);
    return this.#toSse(request, response, route.path, identity);
  }

  #toMcp(
    request: HttpRequest,
    response: HttpResponse,
    view: string,
    identity: Identity,
  ): void | Promise<void> {
    const { serverIds, isVisible, refuser, mcp } = this.#deps;
    if (view.startsWith("p/")) return this.#toProfile(request, response, view, identity);
    const server = view.slice(2);
    if (view !== "" && (!serverIds().includes(server) || !isVisible(identity, server))) {
      const visible = visibleIds(serverIds(), identity, isVisible);
      return refuser.refuse(request, response, unknownServer(server, visible));
    }
    return mcp.handle(request, response, this.#callerOf(request, view, identity));
  }

  #toProfile(
    request: HttpRequest,
    response: HttpResponse,
    view: string,
    identity: Identity,
  ): void | Promise<void> {
    const { profilesOf, refuser, mcp } = this.#deps;
    const profile = view.slice(2);
    const names = profilesOf(identity);
    if (!names.includes(profile)) return refuser.refuse(request, response, unknownProfile(profile, names));
    // The profile narrows what the client may use, in everything that follows from this request.
    return mcp.handle(request, response, this.#callerOf(request, view, { ...identity, profile }));
  }

  /** A token that only its issuer can check is not checked again. */
  #callerOf({ headers }: HttpRequest, view: string, identity: Identity): HttpCaller {
    const isAccepted = () => {
      const now = this.#deps.authenticate(headers.authorization);
      if (now instanceof Promise) return true;
      return now !== undefined && !("missingScopes" in now) && isSameIdentity(now, identity);
    };
    return { view, identity, isAccepted };
  }

  #toSse(
    request: HttpRequest,
    response: HttpResponse,
    path: string,
    identity: Identity,
  ): void | Promise<void> {
    const { refuser, sse } = this.#deps;
    const method = path === "/sse" ? "GET" : "POST";
    if (request.method !== method) return refuser.refuse(request, response, methodNotAllowed(method));
    const caller = this.#callerOf(request, "", identity);
    if (method === "POST") return sse.post(request, response, caller);
    discardBody(request);
    return sse.open(request, response, caller);
  }

  async #toApi(
    request: HttpRequest,
    response: HttpResponse,
    route: ApiRoute,
    query: string,
    identity: Identity | undefined,
  ): Promise<void> {
    const { refuser } = this.#deps;
    const refusal =
      decideAccess(route.access, request.method, identity) ?? (await route.answer(response, query, identity));
    if (refusal !== undefined) refuser.refuse(request, response, refusal);
    else discardBody(request);
  }

  #fail(request: HttpRequest, response: HttpResponse, thrown: unknown): void {
    const { logger, refuser } = this.#deps;
    logger.error({ err: thrown, method: request.method }, "request failed");
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const error = new HttpError("HTTP_INTERNAL", "Internal error");
    refuser.refuse(request, response, { status: 500, error });
  }
}

/** `""` for the endpoint of all servers, `s/<server>` for that of one, `p/<profile>` for that of a profile. */
function viewOf(path: string): string | undefined {
  if (path === "/mcp") return "";
  if (path.startsWith(profilePrefix)) return `p/${path.slice(profilePrefix.length)}`;
  return path.startsWith(serverPrefix) ? `s/${path.slice(serverPrefix.length)}` : undefined;
}

/** Number of header names. */
function countOf(headers: HttpRequest["headers"]): number {
  let count = 0;
  for (const _name in headers) count += 1;
  return count;
}

/**
 * Finds a header that occurs twice although it decides who calls or where a
 * body ends: two readers of the same bytes could use different values. Node
 * keeps the first one silently. (Its parser checks Content-Length and
 * Transfer-Encoding.)
 */
function duplicateHeader(rawHeaders: readonly string[]): string | undefined {
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase();
    const bit = singleHeaders.get(name);
    if (bit === undefined) continue;
    if ((seen & bit) !== 0) return name;
    seen |= bit;
  }
  return undefined;
}

/** Headers that can occur only once, each with a bit of its own. */
const singleHeaders: ReadonlyMap<string, number> = new Map(
  ["host", "origin", "authorization", "content-type", "mcp-session-id", "mcp-protocol-version"].map(
    (name, index) => [name, 1 << index],
  ),
);

function duplicateRefusal(name: string): Refusal {
  const error = refusalError("HTTP_HEADER_DUPLICATE", `The header "${name}" occurs more than once`);
  return { status: 400, error, headers: { connection: "close" } };
}

const hostRefusal: Refusal = {
  status: 403,
  error: refusalError(
    "HTTP_HOST_REFUSED",
    "Requests with this Host header are not accepted",
    "use localhost or 127.0.0.1, or add the host to serve.allowed_hosts",
  ),
};

const originRefusal: Refusal = {
  status: 403,
  error: refusalError(
    "HTTP_ORIGIN_REFUSED",
    "Requests with this Origin header are not accepted",
    "add the origin to serve.allowed_origins if this web page may use your tools",
  ),
};

const notFound: Refusal = {
  status: 404,
  error: refusalError(
    "HTTP_NOT_FOUND",
    "Nothing is served at this path",
    "MCP clients use /mcp, /mcp/s/<server> or /mcp/p/<profile>",
  ),
};
