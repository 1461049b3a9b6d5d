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

export function createEventStore(): EventStore {
  const events: StoredEvent[] = [];
  let count = 0;
  return {
    async storeEvent(streamId, message) {
      count += 1;
      const id = `${count}@${streamId}`;
      events.push({ id, streamId, message });
      if (events.length > eventMaxCount) events.shift();
      return id;
    },
    async replayEventsAfter(lastEventId, { send }) {
      const index = events.findIndex((event) => event.id === lastEventId);
      const streamId = lastEventId.slice(lastEventId.indexOf("@") + 1);
      if (index === -1) return streamId;
      for (const event of events.slice(index + 1)) {
        // The first event of a stream has an id and an empty message; only messages are replayed.
        if (event.streamId === streamId && "jsonrpc" in event.message) await send(event.id, event.message);
      }
      return streamId;
    },
  };
}
