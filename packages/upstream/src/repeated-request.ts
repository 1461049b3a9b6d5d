/**
 * Decides whether a failed request can be repeated: the server certainly did not process it, and a new session can
 * succeed. Ends the old session in that case.
 */

import { isDeepStrictEqual } from "node:util";
import { whenAborted } from "@toolcrib/lifecycle";
import type { SharedSession } from "./shared-session.ts";
import { isExpired, isRefused, isUnauthenticated, reasonOf } from "./upstream-failure.ts";
import type { UpstreamSettings } from "./upstream-options.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** The server of a failed request. */
interface FailedServer {
  readonly shared: SharedSession;
  readonly settings: Pick<UpstreamSettings, "resolveTransport">;
}

/** Whether the request that failed on `session` with `error` can be sent again, on another session. */
export async function mayRepeat(
  session: UpstreamSession,
  error: unknown,
  signal: AbortSignal,
  { shared, settings }: FailedServer,
): Promise<boolean> {
  if (isExpired(error)) {
    // Other requests of the session can still get their responses; it closes after the last one.
    await whenAborted(session.connection.closed, signal);
    return true;
  }
  const isGone = isRefused(error);
  if (!isGone && !(await isSecretReplaced(session, error, settings))) return false;
  if (session !== shared.current) await session[Symbol.asyncDispose]();
  // When nothing listens at the server's address, the shared session is gone too.
  if (shared.current !== undefined && (isGone || session === shared.current)) {
    shared.renew(shared.current, reasonOf(error), isGone ? "after a pause" : "at once");
  }
  return true;
}

/** Whether the server rejected credentials that have been replaced since the session was opened. */
async function isSecretReplaced(
  { resolved, owner }: UpstreamSession,
  error: unknown,
  settings: FailedServer["settings"],
): Promise<boolean> {
  if (!isUnauthenticated(error) || resolved.kind === "custom") return false;
  // If the current credentials cannot be read, the caller gets the server's rejection.
  const current = await settings.resolveTransport(owner?.identity).catch(() => resolved);
  return !isDeepStrictEqual(current, resolved);
}
