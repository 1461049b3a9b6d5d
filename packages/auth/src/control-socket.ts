/**
 * The socket of the control server: a Unix domain socket with mode 0600 in a
 * directory with mode 0700, or a named pipe on Windows.
 *
 * The socket is `<home>/run/<id>.sock`. If that path is too long for the operating
 * system, or the file system of the home has no sockets, it is in a new private
 * directory for temporary files. A path `*.sock` appears when its socket
 * listens and has its final mode, so a `*.sock` that refuses connections
 * belongs to a gateway that has ended, and is removed at the next start.
 */

import { chmod, lstat, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { join, resolve } from "node:path";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { errnoOf, makePrivateDirectory } from "@toolcrib/files";
import { AuthError } from "./auth-error.ts";

/** Facts about the process that the location of the socket depends on. */
export interface ControlSocketDeps {
  readonly home: string;
  /** Directory for temporary files, as `tmpdir` of `node:os` returns it. */
  readonly temporaryDirectory: string;
  readonly platform: NodeJS.Platform;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A socket with a listening server. */
interface ControlSocket {
  readonly path: string;
  /** Removes the socket from the file system. */
  remove(): Promise<void>;
}

/** Age in milliseconds after which an unfinished socket is abandoned. */
const draftLifeMs = 60_000;
/** Milliseconds that a socket has to accept a connection before it counts as in use. */
const probeTimeoutMs = 1000;

/**
 * Binds `server` to a new control socket.
 *
 * @throws {AuthError} `CONTROL_LISTEN_FAILED`.
 * @throws {FilesError} `FILE_EXPOSED`.
 */
export async function listenOnControlSocket(deps: ControlSocketDeps, server: Server): Promise<ControlSocket> {
  const id = Buffer.from(deps.randomBytes(6)).toString("hex");
  if (deps.platform === "win32") {
    const path = `\\\\.\\pipe\\toolcrib-${Buffer.from(deps.randomBytes(16)).toString("hex")}`;
    await listenAt(server, path).catch((cause) => Promise.reject(listenFailed(path, cause)));
    return { path, remove: async () => {} };
  }
  return (await bindInHome(deps, server, id)) ?? (await bindInTemporary(deps, server, id));
}

/** Returns `undefined` if the home cannot have a socket. */
async function bindInHome(
  { home, platform, logger, now }: ControlSocketDeps,
  server: Server,
  id: string,
): Promise<ControlSocket | undefined> {
  const directory = resolve(home, "run");
  await makePrivateDirectory(directory);
  await removeStaleSockets(directory, now());
  if (isTooLong(join(directory, `${id}.draft`), platform)) return undefined;
  try {
    const path = await bindIn(directory, server, id);
    return { path, remove: () => rm(path, { force: true }) };
  } catch (error) {
    logger.debug({ directory, reason: messageOf(error) }, "the home cannot have a control socket");
    return undefined;
  }
}

async function bindInTemporary(
  { temporaryDirectory, platform }: ControlSocketDeps,
  server: Server,
  id: string,
): Promise<ControlSocket> {
  let directory: string | undefined;
  try {
    directory = await mkdtemp(join(resolve(temporaryDirectory), "toolcrib-"));
    const own = directory;
    if (isTooLong(join(own, `${id}.draft`), platform)) throw new Error("its path is too long for a socket");
    const path = await bindIn(own, server, id);
    return { path, remove: () => rm(own, { recursive: true, force: true }) };
  } catch (cause) {
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
    throw listenFailed(directory ?? temporaryDirectory, cause);
  }
}

/** Binds below another name first, so that the final name never has a socket that refuses connections. */
async function bindIn(directory: string, server: Server, id: string): Promise<string> {
  const draft = join(directory, `${id}.draft`);
  const path = join(directory, `${id}.sock`);
  try {
    await listenAt(server, draft);
    await chmod(draft, 0o600);
    await rename(draft, path);
    return path;
  } catch (error) {
    if (server.listening) await new Promise((closed) => server.close(closed));
    await rm(draft, { force: true });
    throw error;
  }
}

function listenAt(server: Server, path: string): Promise<void> {
  return new Promise((listening, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      listening();
    });
  });
}

/** Removes the sockets of gateways that have ended. Other files stay, and so does a socket that cannot be tested. */
async function removeStaleSockets(directory: string, nowMs: number): Promise<void> {
  const names = await readdir(directory);
  const removals = names.map(async (name) => {
    const path = join(directory, name);
    try {
      if (await isStale(path, nowMs)) await rm(path, { force: true });
    } catch {
      // Another gateway removed it, or this process may not.
    }
  });
  await Promise.all(removals);
}

async function isStale(path: string, nowMs: number): Promise<boolean> {
  if (!path.endsWith(".sock") && !path.endsWith(".draft")) return false;
  const status = await lstat(path);
  if (!status.isSocket()) return false;
  // A young draft can belong to a gateway that starts at the same time.
  if (path.endsWith(".draft") && nowMs - status.mtimeMs < draftLifeMs) return false;
  return refusesConnections(path);
}

function refusesConnections(path: string): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(path);
    const finish = (isRefused: boolean) => {
      socket.destroy();
      answer(isRefused);
    };
    socket.setTimeout(probeTimeoutMs, () => finish(false));
    socket.once("connect", () => finish(false));
    socket.once("error", (error) => finish(errnoOf(error) === "ECONNREFUSED"));
  });
}

/** Whether a path does not fit into a socket address (`sun_path`, with its final NUL). */
function isTooLong(path: string, platform: NodeJS.Platform): boolean {
  return Buffer.byteLength(path) > (platform === "linux" ? 107 : 103);
}

function listenFailed(place: string, cause: unknown): AuthError {
  const message = `Cannot create the control socket in "${place}": ${errnoOf(cause) ?? messageOf(cause)}`;
  const hint = "set TMPDIR to a folder on a local file system with a short path";
  return new AuthError("CONTROL_LISTEN_FAILED", message, { hint, cause });
}
