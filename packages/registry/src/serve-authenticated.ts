/**
 * Handlers of `node:http` servers that distinguish clients. A program
 * authenticates each request; without that, all clients are one anonymous client,
 * as in a gateway whose configuration requires no token.
 *
 * Authority comes from the identity alone: a client that is served is never the
 * embedding program itself, whose identity sees what the policy hides.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { sendJson, toRpcError } from "@toolcrib/mcp";
import { type Identity, localIdentity } from "@toolcrib/tool";
import { RegistryError } from "./registry-error.ts";

/**
 * Returns the client that sent `request`; `undefined` refuses it with HTTP 401. Two
 * requests with the same issuer and subject are from the same client.
 */
export type AuthenticateRequest = (
  request: IncomingMessage,
) => Identity | undefined | Promise<Identity | undefined>;

/** Answers a request of `identity`. */
export type HandleAs = (request: IncomingMessage, response: ServerResponse, identity: Identity) => void;

/** A handler for a `node:http` server. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

const anonymous = localIdentity("anonymous", "anonymous");

/** Returns a handler that calls `handle` for authenticated requests. */
export function serveAuthenticated(
  authenticate: AuthenticateRequest | undefined,
  logger: Logger,
  handle: HandleAs,
): RequestHandler {
  if (authenticate === undefined) return (request, response) => handle(request, response, anonymous);
  return async (request, response) => {
    let identity: Identity | undefined;
    try {
      identity = await authenticate(request);
    } catch (error) {
      logger.error({ reason: messageOf(error) }, "request could not be authenticated");
    }
    if (identity !== undefined) handle(request, response, identity);
    else refuse(response);
  };
}

function refuse(response: ServerResponse): void {
  const error = new RegistryError("REGISTRY_UNAUTHORIZED", "The request has no valid credentials");
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: toRpcError(error) });
  // The body was not read, so the connection cannot be used again.
  sendJson(response, 401, body, { "www-authenticate": "Bearer", connection: "close" });
}
