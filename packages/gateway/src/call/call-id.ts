/** Ids of calls: UUIDs that grow with time (RFC 9562, version 7), so that the audit's index stays small and quick. */

/**
 * A new id.
 *
 * @param now milliseconds since the epoch
 * @param random a random UUID (version 4); its variant and its random bits serve version 7 as they are
 */
export function newCallId(now: number, random: string): string {
  const time = now.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}
