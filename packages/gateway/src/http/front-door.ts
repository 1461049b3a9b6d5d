/**
 * What happens to each HTTP request, in this order: one of each header, Host,
 * Origin, path, token; then the endpoint. Everything before the token is the
 * same for everyone and tells nothing about the gateway.
 *
 * It never looks for a token anywhere but in the Authorization header, and
 * never decodes or normalises a path: a path is one of those listed here,
 * byte for byte, or it is not found.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "@toolcrib/diagnostics";
import type { HttpEndpoint, SseEndpoint } from "@toolcrib/mcp";
import type { Identity } from "@toolcrib/tool";
import { GatewayError } from "../gateway-error.ts";
import { answerPreflight, isPreflight, shareWith } from "./cross-origin.ts";
import type { HostCheck, OriginCheck } from "./host-check.ts";
import { discardBody, type Refusal, type Refuser, refusalError } from "./refusal.ts";
import { isReading, type StatusRoute, unknownServer } from "./status-routes.ts";

/**
 * Authenticates an `Authorization` header; undefined when it is not valid.
 * A promise must settle within a time limit of its own.
 */
export type Authenticate = (
  authorization: string | undefined,
) => Identity | undefined | Promise<Identity | undefined>;

/** What the front door is made of. */
export interface FrontDoorParts {
  readonly mcp: HttpEndpoint;
  readonly sse: SseEndpoint;
  readonly authenticate: Authenticate;
  readonly isHostAllowed: HostCheck;
  readonly isOriginAllowed: OriginCheck;
  readonly statusRoute: (path: string) => StatusRoute | undefined;
  readonly serverIds: ReadonlySet<string>;
  readonly refuser: Refuser;
  readonly logger: Logger;
}

const serverPrefix = "/mcp/s/";

/** Create the function that answers requests. It never throws. */
export function createFrontDoor(
  parts: FrontDoorParts,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { mcp, sse, authenticate, refuser, logger } = parts;

  /** What is wrong with a request, whoever sent it and whatever it wants. */
  function inspect(request: IncomingMessage): Refusal | undefined {
    const { headers, rawHeaders } = request;
    // As many names as lines: none is there twice, which is how nearly every request comes.
    const duplicate = rawHeaders.length === 2 * countOf(headers) ? undefined : duplicateHeader(rawHeaders);
    if (duplicate !== undefined) {
      const message = `The header "${duplicate}" is there more than once`;
      return {
        status: 400,
        error: refusalError("HTTP_HEADER_DUPLICATE", message),
        headers: { connection: "close" },
      };
    }
    const { host, origin } = headers;
    if (!parts.isHostAllowed(host, () => request.socket.localAddress)) {
      const hint = "call it by localhost or 127.0.0.1, or add the host to serve.allowed_hosts";
      return {
        status: 403,
        error: refusalError("HTTP_HOST_REFUSED", "This Host is not answered here", hint),
      };
    }
    if (!parts.isOriginAllowed(origin)) {
      const hint = "add the origin to serve.allowed_origins if this web page may use your tools";
      return {
        status: 403,
        error: refusalError("HTTP_ORIGIN_REFUSED", "This Origin is not answered here", hint),
      };
    }
    return undefined;
  }

  function route(request: IncomingMessage, response: ServerResponse): void | Promise<void> {
    const refusal = inspect(request);
    if (refusal !== undefined) return refuser.refuse(request, response, refusal);
    const { origin, authorization } = request.headers;
    if (origin !== undefined) shareWith(response, origin);
    const url = request.url ?? "";
    const queryAt = url.indexOf("?");
    const path = queryAt === -1 ? url : url.slice(0, queryAt);
    const view = viewOf(path);
    const statusRoute = view === undefined ? parts.statusRoute(path) : undefined;
    const isSse = path === "/sse" || path === "/messages";
    if (view === undefined && statusRoute === undefined && !isSse) {
      return refuser.refuse(request, response, notFound);
    }
    if (isPreflight(request)) return answerPreflight(request, response);
    const dispatch = (identity: Identity | undefined) => {
      // A client that left while its token was checked gets no answer, and its body never ends.
      if (response.destroyed) return undefined;
      if (identity === undefined && statusRoute?.isOpen !== true) {
        return refuser.refuse(request, response, unauthorized);
      }
      if (view !== undefined) return toEndpoint(request, response, view, identity as Identity);
      if (statusRoute !== undefined) {
        const query = queryAt === -1 ? "" : url.slice(queryAt + 1);
        return toStatusRoute(request, response, statusRoute, query, identity);
      }
      return toSse(request, response, path, identity as Identity);
    };
    const identity = statusRoute?.isOpen === true ? undefined : authenticate(authorization);
    return identity instanceof Promise ? identity.then(dispatch) : dispatch(identity);
  }

  function toEndpoint(
    request: IncomingMessage,
    response: ServerResponse,
    view: string,
    identity: Identity,
  ): void | Promise<void> {
    const server = view.slice(2);
    if (view !== "" && !parts.serverIds.has(server)) {
      return refuser.refuse(request, response, unknownServer(server, parts.serverIds));
    }
    return mcp.handle(request, response, { view, identity });
  }

  function toSse(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    identity: Identity,
  ): void | Promise<void> {
    const method = path === "/sse" ? "GET" : "POST";
    if (request.method !== method) return refuser.refuse(request, response, methodNotAllowed(method));
    const caller = { view: "", identity };
    if (method === "POST") return sse.post(request, response, caller);
    discardBody(request);
    return sse.open(request, response, caller);
  }

  async function toStatusRoute(
    request: IncomingMessage,
    response: ServerResponse,
    statusRoute: StatusRoute,
    query: string,
    identity: Identity | undefined,
  ): Promise<void> {
    if (!isReading(request)) return refuser.refuse(request, response, methodNotAllowed("GET, HEAD"));
    const refusal = await statusRoute.answer(response, query, identity);
    if (refusal !== undefined) refuser.refuse(request, response, refusal);
    else discardBody(request);
  }

  function fail(request: IncomingMessage, response: ServerResponse, thrown: unknown): void {
    logger.error({ err: thrown, method: request.method }, "request failed");
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const error = new GatewayError("HTTP_INTERNAL", "Internal error");
    refuser.refuse(request, response, { status: 500, error });
  }

  return (request, response) => {
    try {
      route(request, response)?.catch((error: unknown) => fail(request, response, error));
    } catch (error) {
      fail(request, response, error);
    }
  };
}

/** `""` for the endpoint of all servers, `s/<server>` for that of one. */
function viewOf(path: string): string | undefined {
  if (path === "/mcp") return "";
  return path.startsWith(serverPrefix) ? `s/${path.slice(serverPrefix.length)}` : undefined;
}

/** How many names there are. */
function countOf(headers: IncomingMessage["headers"]): number {
  let count = 0;
  for (const _name in headers) count += 1;
  return count;
}

/**
 * A header that decides who calls or where a body ends must not be there twice:
 * two readers of the same bytes could take different ones. Node keeps the first
 * and says nothing. (Content-Length and Transfer-Encoding are its parser's job.)
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

/** Headers that may be there once, each with a bit of its own. */
const singleHeaders: ReadonlyMap<string, number> = new Map(
  ["host", "origin", "authorization", "content-type", "mcp-session-id", "mcp-protocol-version"].map(
    (name, index) => [name, 1 << index],
  ),
);

const notFound: Refusal = {
  status: 404,
  error: refusalError(
    "HTTP_NOT_FOUND",
    "Nothing is served at this path",
    "MCP clients use /mcp, or /mcp/s/<server>",
  ),
};

const unauthorized: Refusal = {
  status: 401,
  error: refusalError(
    "HTTP_UNAUTHORIZED",
    "This request has no valid token",
    'send the header "Authorization: Bearer TOKEN" with a token from the folder tokens of the home of Toolcrib; tokens in a URL are not accepted',
  ),
  headers: { "www-authenticate": 'Bearer realm="toolcrib"' },
};

function methodNotAllowed(allow: string): Refusal {
  const error = refusalError("HTTP_METHOD_NOT_ALLOWED", `This path takes ${allow} only`);
  return { status: 405, error, headers: { allow } };
}
