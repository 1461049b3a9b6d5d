/**
 * Stores the events of the response streams of one session, so that a client can
 * resume a closed stream with `Last-Event-ID`. In memory, with a size limit.
 */

import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

/** Number of stored events; the oldest ones are dropped first. */
const eventMaxCount = 1000;

interface StoredEvent {
  readonly id: string;
  readonly streamId: string;
  readonly message: JSONRPCMessage;
}

/** The events of one session. */
export class MemoryEventStore implements EventStore {
  readonly #events: StoredEvent[] = [];
  #count = 0;

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    this.#count += 1;
    const id = `${this.#count}@${streamId}`;
    this.#events.push({ id, streamId, message });
    if (this.#events.length > eventMaxCount) this.#events.shift();
    return id;
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: Parameters<EventStore["replayEventsAfter"]>[1],
  ): Promise<string> {
    const index = this.#events.findIndex((event) => event.id === lastEventId);
    const streamId = lastEventId.slice(lastEventId.indexOf("@") + 1);
    if (index === -1) return streamId;
    for (const event of this.#events.slice(index + 1)) {
      // The first event of a stream has an id and an empty message; only messages are replayed.
      if (event.streamId === streamId && "jsonrpc" in event.message) await send(event.id, event.message);
    }
    return streamId;
  }
}
