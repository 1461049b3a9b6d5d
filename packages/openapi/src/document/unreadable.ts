/** A text that cannot be read on; it never leaves the readers. */

/** What keeps a text from being read, and where. */
export class Unreadable extends Error {
  readonly at: number;
  readonly hint: string | undefined;

  constructor(message: string, at: number, hint?: string) {
    super(message);
    this.at = at;
    this.hint = hint;
  }
}
