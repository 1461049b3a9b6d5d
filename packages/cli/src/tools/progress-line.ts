/** Shows the progress of a call as one terminal line, which is updated in place and removed at the end. */

import type { JsonObject } from "@toolcrib/json";
import { safeLine } from "../output/output.ts";
import { fitText } from "../output/text-width.ts";
import type { OutputStream } from "../process-context.ts";

/** A line that shows progress; disposing removes it. */
export interface ProgressLine extends Disposable {
  update(params: JsonObject): void;
}

/** Creates a progress line on `stream`; `undefined` if it is not a terminal. */
export function createProgressLine(stream: OutputStream): ProgressLine | undefined {
  if (stream.isTTY !== true) return undefined;
  let isShown = false;
  const clear = () => {
    if (isShown) stream.write("\r\u001b[K");
    isShown = false;
  };
  return {
    update({ progress, total, message }) {
      const count = typeof total === "number" ? `${String(progress)}/${total}` : String(progress);
      const text = typeof message === "string" ? `${count} ${safeLine(message)}` : count;
      clear();
      // A terminal with unknown width reports 0.
      stream.write(fitText(text, (stream.columns || 80) - 1));
      isShown = true;
    },
    [Symbol.dispose]: clear,
  };
}
