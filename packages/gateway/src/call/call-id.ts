/**
 * Ids of calls: UUIDs that grow with time (RFC 9562, version 7), so that the
 * audit's index stays small and fast. They are unique but not secret: ids of one
 * process differ only in time and count.
 */

/** Number of calls in one millisecond that the count in an id distinguishes. */
const countMax = 0x1000;
/** Position of the count in an id: three digits. */
const countAt = 15;

/**
 * Creates a generator of ids.
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
  // Concatenated strings are slow to serialize as JSON, which happens with every id; copies are not.
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
    id[countAt] = hexDigit(count >> 8);
    id[countAt + 1] = hexDigit(count >> 4);
    id[countAt + 2] = hexDigit(count);
    return id.toString("latin1");
  };
}

/** Returns the character of the lowest four bits. */
function hexDigit(bits: number): number {
  const digit = bits & 0xf;
  return digit < 10 ? 0x30 + digit : 0x57 + digit;
}
