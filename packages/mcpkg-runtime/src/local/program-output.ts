/** The standard output of a program as text. */

/** Returns the text of `bytes`; undefined where they are not UTF-8. */
export function decodeOutput(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
