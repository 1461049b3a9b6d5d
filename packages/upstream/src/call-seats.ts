/**
 * Clients of the modern era in the place of sessions: such a client has no session, and a legacy server that asks
 * needs one in which a single call runs. A seat is a client for one call at a time. The session that belongs to it is
 * used again by the next call of the same program of the same identity with the same capabilities.
 */

import { canonicalJson, type JsonObject } from "@toolcrib/json";
import { type CallContext, type ClientSession, identityKey } from "@toolcrib/tool";
import { passedOnCapabilities } from "./client-sessions.ts";
import { UpstreamError } from "./upstream-error.ts";

/** Seats that no call uses; those that were unused for longest end first. */
const maxFree = 64;

/** The place of one call. */
export interface Seat {
  readonly client: ClientSession;
  /** Keeps the seat for the next call. */
  release(): void;
  /** Ends the session of the seat. */
  end(): void;
}

interface FreeSeat {
  readonly key: string;
  readonly client: SeatClient;
}

/** The seats of one server. */
export class CallSeats {
  readonly #serverId: string;
  #free: FreeSeat[] = [];
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
    const key = canonicalJson([identityKey(context.identity), capabilities, program]);
    const at = this.#free.findIndex((seat) => seat.key === key);
    const [known] = at === -1 ? [] : this.#free.splice(at, 1);
    this.#count += 1;
    const client = known?.client ?? new SeatClient(`seat-${this.#count}`, context.identity, capabilities);
    client.logLevel = context.logLevel;
    const over = new UpstreamError("UPSTREAM_CLOSED", `A call of the server "${this.#serverId}" ended`);
    return {
      client,
      release: () => {
        this.#free.push({ key, client });
        if (this.#free.length > maxFree) this.#free.shift()?.client.end(over);
      },
      end: () => client.end(over),
    };
  }
}

/** A client without a connection: its messages go to the call that has the seat. */
class SeatClient implements ClientSession {
  readonly id: string;
  readonly identity: CallContext["identity"];
  readonly capabilities: JsonObject;
  readonly #closing = new AbortController();
  logLevel: string | undefined;

  constructor(id: string, identity: CallContext["identity"], capabilities: JsonObject) {
    this.id = id;
    this.identity = identity;
    this.capabilities = capabilities;
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
