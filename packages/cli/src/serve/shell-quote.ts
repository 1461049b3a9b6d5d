/** Quotes text for a POSIX shell, for commands to copy and paste. Pure. */

/** Returns `text` as one shell word. */
export function shellQuote(text: string): string {
  return /^[A-Za-z0-9_/.:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
