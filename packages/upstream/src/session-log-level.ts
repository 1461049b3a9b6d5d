/** Passes the log level of a client on to its own session with a legacy server. */

import { messageOf } from "@toolcrib/diagnostics";
import type { Connection } from "@toolcrib/mcp";
import type { ClientSession } from "@toolcrib/tool";

const timeoutMs = 5000;

/** The log level of one session. */
export class SessionLogLevel {
  readonly #connection: Connection;
  /** The client whose level is sent; absent when none is sent at all. */
  readonly #owner: ClientSession | undefined;
  readonly #onRefused: (reason: string) => void;
  #sent: string | undefined;
  #sending: Promise<void> | undefined;

  /**
   * @param owner the client whose own session it is; absent for the shared session, which has no level.
   * @param onRefused reports that the server refused a level. That level is not sent again.
   */
  constructor(connection: Connection, owner: ClientSession | undefined, onRefused: (reason: string) => void) {
    const isOffered = connection.era === "legacy" && connection.capabilities["logging"] !== undefined;
    this.#connection = connection;
    this.#owner = isOffered ? owner : undefined;
    this.#onRefused = onRefused;
  }

  /** Sends the level if it changed. @returns a promise to wait for before the next request, if one is needed */
  settle(): Promise<void> | undefined {
    const level = this.#owner?.logLevel;
    if (level === undefined || level === this.#sent) return this.#sending;
    this.#sent = level;
    const sending = this.#send(level).then(() => {
      if (this.#sending === sending) this.#sending = undefined;
    });
    this.#sending = sending;
    return sending;
  }

  async #send(level: string): Promise<void> {
    try {
      await this.#connection.request("logging/setLevel", { level }, { timeoutMs });
    } catch (error) {
      this.#onRefused(messageOf(error));
    }
  }
}
