/**
 * Notices a server that accepts requests but does not answer: a ping on the
 * shared session at regular times, with a deadline of its own. It ends no
 * session: calls in flight may still get their responses.
 */

import { McpError } from "@toolcrib/mcp";
import type { UpstreamLimits } from "./upstream-options.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** Dependencies of `LivenessCheck`. */
export interface LivenessDeps {
  /** Returns the session to check; undefined while there is none. */
  readonly session: () => UpstreamSession | undefined;
  /** Gets the outcome of each ping; `error` is absent when the server answered. */
  readonly onResult: (session: UpstreamSession, error: unknown) => void;
}

/** Pings the server of a session. Nothing runs before `start`. */
export class LivenessCheck {
  readonly #deps: LivenessDeps;
  readonly #limits: Required<UpstreamLimits>;
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  constructor(deps: LivenessDeps, limits: Required<UpstreamLimits>) {
    this.#deps = deps;
    this.#limits = limits;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#check(), this.#limits.pingIntervalMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    const session = this.#deps.session();
    if (session === undefined || this.#isChecking) return;
    this.#isChecking = true;
    const { connection } = session;
    // The modern era has no ping.
    const method = connection.era === "legacy" ? "ping" : "server/discover";
    try {
      await connection.request(method, {}, { timeoutMs: this.#limits.pingTimeoutMs });
      this.#deps.onResult(session, undefined);
    } catch (error) {
      // An error of the server is an answer too.
      const isAnswer = error instanceof McpError && error.code === "MCP_REMOTE_ERROR";
      if (!connection.closed.aborted) this.#deps.onResult(session, isAnswer ? undefined : error);
    } finally {
      this.#isChecking = false;
    }
  }
}
