/**
 * The control server: the same endpoints as the HTTP server, on a socket that only
 * the user who runs the gateway can open. Its caller is the operator at the
 * command line and needs no token.
 *
 * It refuses every request with an `Origin`: only web pages send one.
 */

import type { Server } from "node:http";
import { listenOnControlSocket } from "@toolcrib/auth";
import { disposeOnce } from "@toolcrib/lifecycle";
import { type Identity, localIdentity } from "@toolcrib/tool";
import { type HttpLimitOptions, resolveHttpLimits } from "./http-options.ts";
import { type DrainableServer, ListeningServer, type ServerDeps } from "./listening-server.ts";

/** A listening control server. Disposing it drains, closes everything and removes the socket; safe to repeat. */
export interface ControlServer extends DrainableServer {
  /** Path of the socket; on Windows the name of the pipe. */
  readonly path: string;
}

/** The operator at the command line. Policy and audit know it by the same name without a gateway. */
const operator: Identity = { ...localIdentity("cli", "cli"), roles: Object.freeze(["operator", "admin"]) };

/**
 * Starts the control server.
 *
 * @throws {AuthError} `CONTROL_LISTEN_FAILED`.
 * @throws {FilesError} `FILE_EXPOSED` when other users can open the folder of the socket and that cannot be changed.
 */
export async function startControlServer(
  deps: ServerDeps & Parameters<typeof listenOnControlSocket>[0],
  limits?: HttpLimitOptions,
): Promise<ControlServer> {
  const server = new ListeningServer(deps, resolveHttpLimits(limits), {
    authenticate: () => operator,
    // Names play no role on a socket.
    isHostAllowed: () => true,
    isOriginAllowed: (origin) => origin === undefined,
  });
  const socket = await server.open((http: Server) => listenOnControlSocket(deps, http));
  const dispose = disposeOnce(async () => {
    try {
      await server[Symbol.asyncDispose]();
    } finally {
      await socket.remove();
    }
  });
  return {
    path: socket.path,
    drain: (graceMs) => server.drain(graceMs),
    [Symbol.asyncDispose]: dispose,
  };
}
