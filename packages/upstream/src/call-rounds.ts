/**
 * Calls whose client takes questions as results (2026-07-28): the first round of a call, and each repetition with
 * answers. At a modern server each of them is a request of its own; at a legacy one they belong to one request, which
 * is parked between them.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { CallContext } from "@toolcrib/tool";
import { CallSeats } from "./call-seats.ts";
import { needsOwnSession } from "./client-sessions.ts";
import {
  canAnswer,
  declaresAskable,
  missingCapability,
  questionResult,
  readState,
} from "./input-required.ts";
import { ParkedCalls, type ParkedCallsDeps } from "./parked-calls.ts";
import { urlElicitationRequired } from "./session-calls.ts";

/** Dependencies of `CallRounds`. */
export interface CallRoundsDeps extends ParkedCallsDeps {
  /** Capabilities that the server is known to ask clients for. */
  readonly asks: ReadonlySet<string>;
  /** Whether a call of this context is made in the legacy era. Waits for the connection. */
  readonly isLegacy: (context: CallContext) => Promise<boolean>;
  /** Whether the server sends log messages. */
  readonly logs: () => boolean;
}

/** Makes a call whose error for pages to visit first (-32042, 2025-11-25) becomes questions to visit them. */
function withPages(
  attempt: (context: CallContext) => Promise<JsonObject>,
  server: string,
  { clientCapabilities = {} }: CallContext,
): typeof attempt {
  return (context) =>
    attempt(context).catch((error: unknown) => {
      const { rpcCode, rpcData } = (isCodedError(error) && error.data) || {};
      const { elicitations } = (typeof rpcCode === "number" && isJsonObject(rpcData) && rpcData) || {};
      if (rpcCode !== urlElicitationRequired || !Array.isArray(elicitations)) throw error;
      const questions = elicitations
        .slice(0, maxPages)
        .filter(isJsonObject)
        .map((given, at) => {
          const { elicitationId: _id, ...params } = given;
          const asked = { ...params, mode: "url" };
          if (!canAnswer(clientCapabilities, "elicitation/create", asked))
            throw missingCapability(server, "elicitation/create", asked);
          return [`page${at + 1}`, { method: "elicitation/create", params: asked }];
        });
      return questionResult(Object.fromEntries(questions), { server });
    });
}

/** Pages of one error. */
const maxPages = 100;

/** The rounds of the calls of one server. */
export class CallRounds {
  readonly #deps: CallRoundsDeps;
  readonly #seats: CallSeats;
  readonly #parked: ParkedCalls;

  constructor(deps: CallRoundsDeps) {
    this.#deps = deps;
    this.#seats = new CallSeats(deps.serverId);
    this.#parked = new ParkedCalls(deps);
  }

  /** Makes or continues a call. @param attempt makes it as one request to the server */
  async send(
    context: CallContext,
    attempt: (context: CallContext) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const { serverId, asks, logs, isLegacy } = this.#deps;
    const { rounds } = context;
    const parked = readState(rounds?.state, serverId)?.parked;
    if (rounds !== undefined && parked !== undefined) return this.#parked.continue(parked, rounds, context);
    const canAsk = declaresAskable(context);
    const wantsLogs = context.logLevel !== undefined && logs();
    if ((!canAsk && !wantsLogs) || !(await isLegacy(context))) return attempt(context);
    if (rounds === undefined) return this.#sendInner(context, attempt);
    const made = canAsk ? withPages(attempt, serverId, context) : attempt;
    const client = {
      capabilities: context.clientCapabilities ?? {},
      logLevel: wantsLogs ? context.logLevel : undefined,
    };
    const seat = needsOwnSession(client, asks) ? this.#seats.take(context) : undefined;
    return this.#parked.run(context, seat, made);
  }

  /** Makes an inner call, whose questions the call around it passes on: in a session in which nothing else runs. */
  async #sendInner(
    context: CallContext,
    attempt: (context: CallContext) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const client = { capabilities: context.clientCapabilities ?? {}, logLevel: undefined };
    if (!needsOwnSession(client, this.#deps.asks)) return attempt(context);
    const seat = this.#seats.take(context);
    try {
      return await attempt({ ...context, session: seat.client });
    } finally {
      // The server may not notice that its request was cancelled while it waits.
      if (context.signal.aborted) seat.end();
    }
  }

  /** Ends all calls that wait for answers. */
  endAll(reason: Error): void {
    this.#parked.endAll(reason);
  }
}
