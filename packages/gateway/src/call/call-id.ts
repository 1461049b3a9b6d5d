/** Ids of calls: UUIDs that grow with time (RFC 9562, version 7), so that the audit's index stays small and quick. */

import { randomUUID } from "node:crypto";

/** A new id. @param now milliseconds since the epoch */
export function newCallId(now: number): string {
  const time = now.toString(16).padStart(12, "0");
  // The variant and all random bits of a version 4 UUID serve version 7 as they are.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
