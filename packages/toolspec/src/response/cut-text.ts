/** UTF-8 cut at a number of bytes, on a character boundary. */

const encoder = new TextEncoder();

/** The beginning of `text` in at most `maxBytes` bytes of UTF-8. */
export function cutText(
  text: string,
  maxBytes: number,
): { readonly text: string; readonly shownBytes: number; readonly totalBytes: number } {
  const bytes = encoder.encode(text);
  if (bytes.length <= maxBytes) return { text, shownBytes: bytes.length, totalBytes: bytes.length };
  let end = maxBytes;
  // Bytes 10xxxxxx go on with a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return {
    text: new TextDecoder().decode(bytes.subarray(0, end)),
    shownBytes: end,
    totalBytes: bytes.length,
  };
}
