/**
 * The memory that clients of one process can occupy, whatever the number of their
 * connections and sessions: requests in flight, unread answers, and events kept
 * for reconnections. Each has one total, of which a client gets at most half while
 * it is alone.
 */

import { FairShare } from "@toolcrib/lifecycle";
import { HeldBody } from "./request-bytes.ts";
import { UnreadBytes } from "./unread-bytes.ts";

/** Totals of all clients of the process. */
export interface ServerMemoryOptions {
  /** Bytes of the bodies of requests in flight; bodies up to 8 KiB are not counted. @default 67,108,864 */
  readonly requestsMaxBytes?: number;
  /** Unread bytes of all connections. @default 268,435,456 */
  readonly unreadMaxBytes?: number;
  /** UTF-16 units of the events that sessions keep for clients that reconnect. @default 33,554,432 */
  readonly eventsMaxLength?: number;
}

/** The memory of all clients of one process. */
export class ServerMemory {
  /** The unread output of all connections. */
  readonly unread: UnreadBytes;
  /** The events of all sessions. */
  readonly events: FairShare;
  readonly #requests: FairShare;

  constructor(options: ServerMemoryOptions = {}) {
    this.unread = new UnreadBytes({ totalMaxBytes: options.unreadMaxBytes });
    this.events = new FairShare(options.eventsMaxLength ?? 32 * 1024 * 1024);
    this.#requests = new FairShare(options.requestsMaxBytes ?? 64 * 1024 * 1024);
  }

  /** Starts to count the body of a request of `client`, an `identityKey`. */
  holdBody(client: string): HeldBody {
    return new HeldBody(this.#requests, client);
  }
}
