/** The output of a process up to a limit. */

import type { LaunchedProcess } from "./launched-process.ts";

/** Collects the bytes of a stream up to `maxBytes`; one more byte ends it. */
export class LimitedOutput {
  /** Resolves with the bytes when the stream has ended. Never rejects. */
  readonly ended: Promise<Buffer>;
  isTooLarge = false;

  /** @param onTooLarge called once, when the limit is exceeded */
  constructor(stream: LaunchedProcess["stdout"], maxBytes: number, onTooLarge: () => void) {
    const parts: Buffer[] = [];
    let bytes = 0;
    stream.on("data", (part: Buffer) => {
      bytes += part.length;
      if (bytes <= maxBytes) parts.push(part);
      else if (!this.isTooLarge) {
        this.isTooLarge = true;
        parts.length = 0;
        onTooLarge();
      }
    });
    this.ended = new Promise((resolve) => {
      const end = (): void => resolve(Buffer.concat(parts));
      stream.once("end", end);
      stream.once("close", end);
    });
  }
}
