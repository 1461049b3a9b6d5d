/** Texts as one word of a POSIX shell, for commands that people paste. Pure. */

/** `text` so that a shell takes it as it is. */
export function shellQuote(text: string): string {
  return /^[A-Za-z0-9_/.:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
