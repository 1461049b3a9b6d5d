/** Shows the progress of a call as one terminal line, which is updated in place and removed at the end. */

import type { JsonObject } from "@toolcrib/json";
import { safeLine } from "../output/output.ts";
import { fitText } from "../output/text-width.ts";
import type { OutputStream } from "../process-context.ts";

/** A line that shows progress; disposing removes it. */
export class ProgressLine implements Disposable {
  readonly #stream: OutputStream;
  #isShown = false;

  /** @param stream a terminal */
  constructor(stream: OutputStream) {
    this.#stream = stream;
  }

  update({ progress, total, message }: JsonObject): void {
    // A server can send anything in the place of a number.
    const done = safeLine(String(progress));
    const count = typeof total === "number" ? `${done}/${total}` : done;
    const text = typeof message === "string" ? `${count} ${safeLine(message)}` : count;
    this[Symbol.dispose]();
    // A terminal with unknown width reports 0.
    this.#stream.write(fitText(text, (this.#stream.columns || 80) - 1));
    this.#isShown = true;
  }

  [Symbol.dispose](): void {
    if (this.#isShown) this.#stream.write("\r\u001b[K");
    this.#isShown = false;
  }
}
