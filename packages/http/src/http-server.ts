/**
 * The HTTP server of clients: a server on a TCP port, whose callers authenticate
 * with a token.
 *
 * It refuses to accept other machines without tokens.
 */

import assert from "node:assert/strict";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { isLoopbackHost } from "@toolcrib/config";
import { type Identity, localIdentity } from "@toolcrib/tool";
import { bracketed, createHostCheck, createOriginCheck } from "./host-check.ts";
import { HttpError } from "./http-error.ts";
import { type HttpServerOptions, resolveHttpLimits } from "./http-options.ts";
import { type DrainableServer, ListeningServer, type ServerDeps } from "./listening-server.ts";
import { type LoginPages, loginRoutes } from "./login-routes.ts";
import { type ProtectedResource, resourceRoutes } from "./protected-resource.ts";
import type { Authenticate } from "./request-handler.ts";

/** Dependencies of the HTTP server. */
export interface HttpServerDeps extends ServerDeps {
  /** Authenticates an `Authorization` header. Required if `auth` is `token`. */
  readonly authenticate: Authenticate | undefined;
  /** Where clients find out how to get a token. @default nowhere */
  readonly resource?: ProtectedResource | undefined;
  /** The pages at which clients log in to servers. @default none */
  readonly logins?: LoginPages | undefined;
}

/** A listening HTTP server. Disposing it drains, then closes everything; safe to repeat. */
export interface HttpServer extends DrainableServer {
  /** Base URL for programs on this machine, without a slash at the end. */
  readonly url: string;
  readonly port: number;
}

const anonymous: Identity = localIdentity("anonymous", "anonymous");

/**
 * Starts the HTTP server.
 *
 * @throws {HttpError} `HTTP_AUTH_REQUIRED`, `HTTP_ADDRESS_IN_USE`, `HTTP_LISTEN_FAILED`.
 */
export async function startHttpServer(deps: HttpServerDeps, options: HttpServerOptions): Promise<HttpServer> {
  const { host } = options.listen;
  const { auth, allowedHosts = [], allowedOrigins = [] } = options;
  if (auth === "none" && !isLoopbackHost(host)) throw authRequired(host);
  const authenticate = auth === "none" ? () => anonymous : deps.authenticate;
  assert(authenticate !== undefined, "auth is token, and there is nothing to check tokens with");
  const { resource, logins } = deps;
  const ownOrigin = resource === undefined ? [] : [new URL(resource.resource).origin];
  const routes = {
    ...deps.routes,
    ...(resource === undefined ? {} : resourceRoutes(resource)),
    ...(logins === undefined ? {} : loginRoutes(logins, authenticate)),
  };
  const server = new ListeningServer({ ...deps, routes }, resolveHttpLimits(options.limits), {
    authenticate,
    resource,
    isHostAllowed: createHostCheck(host, allowedHosts),
    isOriginAllowed: createOriginCheck([...allowedOrigins, ...ownOrigin]),
  });
  const port = await server.open((http) => bindPort(http, options));
  const url = `http://${urlHost(host)}:${port}`;
  // Browsers on other machines do not reach an address of this one, and the name that they use is known with a resource.
  if (ownOrigin[0] !== undefined) logins?.open(ownOrigin[0]);
  else if (isLoopbackHost(host)) logins?.open(url);
  return {
    url,
    port,
    drain: (graceMs) => server.drain(graceMs),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function bindPort(http: Server, { listen: { host, port }, auth }: HttpServerOptions): Promise<number> {
  const actual = await listen(http, host, port);
  // A name that looks like this machine can resolve to an address that other machines reach.
  if (auth === "none" && !isLoopbackHost(actual.address)) {
    http.close();
    throw authRequired(host);
  }
  return actual.port;
}

function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const failed = (cause: NodeJS.ErrnoException) => reject(toListenError(cause, host, port));
    server.once("error", failed);
    server.listen({ host: host.replace(/^\[(.*)\]$/, "$1"), port }, () => {
      server.off("error", failed);
      resolve(server.address() as AddressInfo);
    });
  });
}

function toListenError(cause: NodeJS.ErrnoException, host: string, port: number): HttpError {
  const place = `${bracketed(host)}:${port}`;
  if (cause.code === "EADDRINUSE") {
    return new HttpError("HTTP_ADDRESS_IN_USE", `Cannot listen on ${place}: the address is in use`, {
      hint: "stop the program that uses it, or choose another port with --listen 127.0.0.1:PORT (0 takes a free one)",
      cause,
    });
  }
  const message = `Cannot listen on ${place}: ${cause.code ?? cause.message}`;
  return new HttpError("HTTP_LISTEN_FAILED", message, { cause });
}

function authRequired(host: string): HttpError {
  return new HttpError(
    "HTTP_AUTH_REQUIRED",
    `Cannot listen on "${host}" without tokens: other machines can reach it`,
    {
      hint: "write serve.auth: token, or listen on 127.0.0.1",
    },
  );
}

/** The host in the URL for programs on this machine. */
function urlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "[::1]" : bracketed(host);
}
