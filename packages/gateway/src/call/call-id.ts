/**
 * Ids of calls: UUIDs that grow with time (RFC 9562, version 7), so that the
 * audit's index stays small and quick. Unique, but no secret: of one process
 * they differ in time and count only.
 */

/** Calls of one millisecond that the count in an id can tell apart. */
const countMax = 0x1000;
/** Where the count stands in an id: three digits. */
const countAt = 15;

/**
 * Create a maker of ids.
 *
 * @param now milliseconds since the epoch
 * @param random 16 hexadecimal digits that no other process has
 */
export function createCallIds(now: () => number, random: string): () => string {
  let lastTime = 0;
  let count = 0;
  // The two highest bits of the third part are the variant of RFC 9562.
  const variant = ((Number.parseInt(random.slice(0, 1), 16) & 0x3) | 0x8).toString(16);
  const tail = `${variant}${random.slice(1, 4)}-${random.slice(4)}`;
  // Texts that are put together from others are slow to write as JSON, which is done with every id; copies are not.
  const id = Buffer.from(`00000000-0000-7000-${tail}`, "latin1");
  return () => {
    count += 1;
    const time = now();
    // A clock that was set back, or a full millisecond, moves the id's time ahead.
    if (time > lastTime || count >= countMax) {
      lastTime = Math.max(time, count >= countMax ? lastTime + 1 : lastTime);
      count = 0;
      const digits = lastTime.toString(16).padStart(12, "0");
      id.write(`${digits.slice(0, 8)}-${digits.slice(8)}`, "latin1");
    }
    id.write(count.toString(16).padStart(3, "0"), countAt, "latin1");
    return id.toString("latin1");
  };
}
