/**
 * The health of a server as its source reports it: the state of the connection,
 * whether pings are answered, and whether calls are. Each change is emitted, and
 * a server that stays down for the same reason is logged as a warning once.
 */

import type { Logger } from "@toolcrib/diagnostics";
import type { Health } from "@toolcrib/tool";
import { reasonOf } from "./upstream-failure.ts";
import type { UpstreamSettings } from "./upstream-options.ts";

/** Dependencies of `ServerHealth`. */
export interface ServerHealthDeps {
  readonly serverId: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
  /** Removes secrets from a reason. */
  readonly scrub: (text: string) => string;
  /** As in the settings of the server. */
  readonly fetching: NonNullable<UpstreamSettings["fetching"]>;
  /** Why a connected server counts as one that answers no call. */
  readonly unresponsiveReason: () => string | undefined;
  readonly onChange: () => void;
}

/** The health of one server. A stopped server stays stopped. */
export class ServerHealth {
  readonly #deps: ServerHealthDeps;
  #health: Health;
  /** Whether the last ping was not answered. */
  #isUnanswered = false;
  /** Whether the first handshake was answered. */
  #isListing = false;

  constructor(deps: ServerHealthDeps) {
    this.#deps = deps;
    this.#health = { state: "starting", since: deps.now() };
  }

  /** The health now. A server that is ready and answers no call, or whose tools are left out, has a reason. */
  get current(): Health {
    if (this.#health.state === "starting") return { ...this.#health, ...this.#phase() };
    const reason = this.#health.state === "ready" ? this.#deps.unresponsiveReason() : undefined;
    return reason === undefined ? this.#health : { ...this.#health, reason };
  }

  /** The server answered its handshake, and its lists are read. */
  listing(): void {
    this.#isListing = true;
  }

  /** The server printed text where messages belong, and has not finished its handshake. @param text without secrets */
  printed(text: string): void {
    const { serverId, logger } = this.#deps;
    logger.warn({ server: serverId, reason: text }, "server printed text on its standard output");
    if (this.#health.state === "starting") this.change("starting", text);
  }

  #phase(): Pick<Health, "phase" | "fetchedBytes"> {
    if (this.#isListing) return { phase: "listing" };
    const fetching = this.#deps.fetching();
    return fetching === undefined ? { phase: "connecting" } : { phase: "fetching", ...fetching };
  }

  /** A new session is ready. */
  connected(): void {
    this.#isUnanswered = false;
    this.change("ready");
  }

  /** The server cannot be used. @param attempt number of failed attempts in a row */
  failed(reason: string, attempt: number, willRetry: boolean, failure: Health["failure"]): void {
    const { serverId, logger, scrub } = this.#deps;
    const text = scrub(reason);
    const isNewReason = withoutTimes(this.#health.reason ?? "") !== withoutTimes(text) || !willRetry;
    logger[isNewReason ? "warn" : "debug"](
      { server: serverId, attempt, ...(failure === undefined ? {} : { code: failure.code }), reason: text },
      "server is not available",
    );
    this.change(willRetry ? "unavailable" : "stopped", text, failure);
  }

  /** A ping was answered, or failed with `error`. */
  pinged(error: unknown): void {
    if (error !== undefined) {
      const { serverId, logger, scrub } = this.#deps;
      this.#isUnanswered = true;
      const reason = `It is connected but does not answer: ${reasonOf(error, scrub)}`;
      if (this.#health.state === "ready") logger.warn({ server: serverId, reason }, "server does not answer");
      this.change("unavailable", reason);
    } else if (this.#isUnanswered) {
      this.connected();
    }
  }

  /** Changes the state. @param reason without secrets */
  change(state: Health["state"], reason?: string, failure?: Health["failure"]): void {
    const { state: oldState, reason: oldReason } = this.#health;
    if (oldState === "stopped" || (oldState === state && oldReason === reason)) return;
    const since = this.#deps.now();
    this.#health = {
      state,
      ...(reason === undefined ? {} : { reason }),
      ...(failure === undefined ? {} : { failure }),
      since,
    };
    this.#deps.onChange();
  }
}

/** Removes durations from a reason, because they differ from one attempt to the next. */
function withoutTimes(reason: string): string {
  return reason.replace(/\d+(?:\.\d+)? (?:ms|s|min)\b/g, "");
}
