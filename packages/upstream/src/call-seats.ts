/**
 * Clients of the modern era in the place of sessions: such a client has no session, and a legacy server that asks
 * needs one in which a single call runs. A seat is a client for one call. It belongs to a pool: the session that its
 * call leaves is used again by a call of the same program of the same identity with the same capabilities.
 */

import { canonicalJson, type JsonObject } from "@toolcrib/json";
import { type CallContext, type ClientSession, identityKey } from "@toolcrib/tool";
import type { SessionClient } from "./client-entry.ts";
import { passedOnCapabilities } from "./client-sessions.ts";
import { UpstreamError } from "./upstream-error.ts";

/** The place of one call. */
export interface Seat {
  readonly client: ClientSession;
  /** Ends the session of the seat. */
  end(): void;
}

/** The seats of one server. */
export class CallSeats {
  readonly #serverId: string;
  #count = 0;

  constructor(serverId: string) {
    this.#serverId = serverId;
  }

  /** Returns a seat for the call `context`. */
  take(context: CallContext): Seat {
    const capabilities = passedOnCapabilities({ capabilities: context.clientCapabilities ?? {} });
    const { clientInfo } = context;
    // The name decides nothing about access: it keeps the state of two programs of one person apart, such as their roots.
    const program = clientInfo === undefined ? "" : `${clientInfo.name} ${clientInfo.version}`;
    const pool = canonicalJson([identityKey(context.identity), capabilities, program]);
    this.#count += 1;
    const { identity, logLevel } = context;
    const client = new SeatClient({ id: `seat-${this.#count}`, pool, identity, capabilities, logLevel });
    const over = new UpstreamError("UPSTREAM_CLOSED", `A call of the server "${this.#serverId}" ended`);
    return { client, end: () => client.end(over) };
  }
}

/** A client without a connection: its messages go to the call that has the seat. */
class SeatClient implements SessionClient {
  readonly id: string;
  readonly pool: string;
  readonly identity: CallContext["identity"];
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
  readonly #closing = new AbortController();

  constructor(given: Pick<SeatClient, "id" | "pool" | "identity" | "capabilities" | "logLevel">) {
    this.id = given.id;
    this.pool = given.pool;
    this.identity = given.identity;
    this.capabilities = given.capabilities;
    this.logLevel = given.logLevel;
  }

  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  notify(): void {}

  ask(method: string): Promise<JsonObject> {
    return Promise.reject(
      new UpstreamError("UPSTREAM_ASK_UNATTRIBUTED", `"${method}" was refused: no call of its session runs`),
    );
  }

  end(reason: UpstreamError): void {
    this.#closing.abort(reason);
  }
}
