/**
 * Decides whether a failed request is sent again, on another session, and ends the old session where it is lost.
 *
 * - The server certainly did not process it, and a new session can succeed: once.
 * - The answer is lost, and the server can have processed it: once, and only where the operator trusts the declaration
 *   that a repetition changes nothing more (`UpstreamSettings.isRepeatable`).
 *
 * Where it is not sent again after a lost answer, the error says that the call may have had an effect.
 */

import { isDeepStrictEqual } from "node:util";
import type { Logger } from "@toolcrib/diagnostics";
import { whenAborted } from "@toolcrib/lifecycle";
import { McpError } from "@toolcrib/mcp";
import type { ToolAnnotations } from "@toolcrib/tool";
import type { Lease } from "./client-sessions.ts";
import type { SharedSession } from "./shared-session.ts";
import { isExpired, isRefused, isUnauthenticated, reasonOf } from "./upstream-failure.ts";
import type { UpstreamSettings } from "./upstream-options.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** Methods that change nothing at a server that is trusted. */
const readingMethods: ReadonlySet<string> = new Set([
  "resources/read",
  "prompts/get",
  "completion/complete",
  "tasks/get",
]);

/** Dependencies of `RepeatedRequest`. */
export interface RepeatedRequestDeps {
  readonly shared: SharedSession;
  readonly settings: Pick<UpstreamSettings, "id" | "resolveTransport" | "isRepeatable" | "scrub">;
  readonly logger: Logger;
  /** Translates an error for the caller. */
  readonly toCallerError: (error: unknown) => unknown;
  /** Whether the server is being stopped, so that no session follows. */
  readonly isStopping: () => boolean;
}

/** A request that failed at least once. */
export class RepeatedRequest {
  readonly #deps: RepeatedRequestDeps;
  readonly #method: string;
  readonly #annotations: ToolAnnotations | undefined;
  #wasUnprocessed = false;
  /** The error of the attempt whose answer is lost. */
  #lost: unknown;

  /** @param annotations those of the tool, as the gateway offers it */
  constructor(deps: RepeatedRequestDeps, method: string, annotations: ToolAnnotations | undefined) {
    this.#deps = deps;
    this.#method = method;
    this.#annotations = annotations;
  }

  /**
   * Resolves when the request that failed on `session` can be sent again.
   *
   * @throws the error for the caller if it is not sent again; the signal's reason
   */
  async failed(session: UpstreamSession, error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw signal.reason;
    const isUnprocessed = await wasUnprocessed(session, error, signal, this.#deps);
    signal.throwIfAborted();
    if (isUnprocessed && !this.#wasUnprocessed) {
      this.#wasUnprocessed = true;
      return;
    }
    if (isUnprocessed || this.#lost !== undefined || !isLost(error) || !this.#isRepeatable()) {
      throw this.#errorOf(error);
    }
    this.#lost = error;
    const { settings, logger } = this.#deps;
    const { id: server, scrub = (text: string) => text } = settings;
    const reason = reasonOf(error, scrub);
    logger.info({ server, method: this.#method, reason }, "answer is lost; the call is repeated once");
  }

  /** Waits for the lease of a session for another attempt. @throws the error of the attempt before, where it says more */
  async leased(leasing: Promise<Lease>, signal: AbortSignal): Promise<Lease> {
    try {
      return await leasing;
    } catch (error) {
      throw signal.aborted ? error : this.#errorOf(error);
    }
  }

  /** The error for the caller: that of the attempt that may have had an effect, where another one could not be made. */
  #errorOf(error: unknown): unknown {
    const isStronger = this.#lost === undefined || isLost(error) || isAnswer(error);
    return this.#deps.toCallerError(isStronger ? error : this.#lost);
  }

  /** Whether a repetition is believed to change nothing more. Reading a resource or a prompt changes nothing. */
  #isRepeatable(): boolean {
    const { settings, isStopping } = this.#deps;
    const claims = readingMethods.has(this.#method) ? { readOnlyHint: true } : (this.#annotations ?? {});
    return !isStopping() && settings.isRepeatable?.(claims) === true;
  }
}

/** Whether the connection ended after the request was sent and before its answer came. */
function isLost(error: unknown): boolean {
  return error instanceof McpError && error.code === "MCP_CONNECTION_CLOSED";
}

/** Whether the server answered with an error. */
function isAnswer(error: unknown): boolean {
  return error instanceof McpError && error.code === "MCP_REMOTE_ERROR";
}

/** Whether the server did not process the request that failed on `session`, and another session can succeed. */
async function wasUnprocessed(
  session: UpstreamSession,
  error: unknown,
  signal: AbortSignal,
  { shared, settings }: Pick<RepeatedRequestDeps, "shared" | "settings">,
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
    const { scrub = (text: string) => text } = settings;
    shared.renew(shared.current, reasonOf(error, scrub), isGone ? "after a pause" : "at once");
  }
  return true;
}

/** Whether the server rejected credentials that have been replaced since the session was opened. */
async function isSecretReplaced(
  { resolved, owner }: UpstreamSession,
  error: unknown,
  settings: Pick<UpstreamSettings, "resolveTransport">,
): Promise<boolean> {
  if (!isUnauthenticated(error) || resolved.kind === "custom") return false;
  // If the current credentials cannot be read, the caller gets the server's rejection.
  const current = await settings.resolveTransport(owner?.identity).catch(() => resolved);
  return !isDeepStrictEqual(current, resolved);
}
