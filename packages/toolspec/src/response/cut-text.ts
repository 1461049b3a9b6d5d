/** Cuts UTF-8 text to a number of bytes, at a character boundary. */

const encoder = new TextEncoder();

/** Returns the longest beginning of `text` that has at most `maxBytes` bytes in UTF-8. */
export function cutText(
  text: string,
  maxBytes: number,
): { readonly text: string; readonly shownBytes: number; readonly totalBytes: number } {
  const bytes = encoder.encode(text);
  if (bytes.length <= maxBytes) return { text, shownBytes: bytes.length, totalBytes: bytes.length };
  let end = maxBytes;
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return {
    text: new TextDecoder().decode(bytes.subarray(0, end)),
    shownBytes: end,
    totalBytes: bytes.length,
  };
}
