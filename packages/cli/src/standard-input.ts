/** Standard input as a whole, for the commands that take a text or a secret there. It reads on by one piece at the most where it is enough. */

import { CliError } from "./cli-error.ts";
import type { ProcessContext } from "./process-context.ts";

/** Most bytes of a text. */
const textMaxBytes = 16 * 1024 * 1024;

/**
 * All of standard input as a text.
 *
 * @throws {CliError} `CLI_ARGUMENTS_INVALID` past the longest text; the reason of the signal.
 */
export async function readStandardInput(context: ProcessContext): Promise<string> {
  const bytes = await readStandardBytes(context, textMaxBytes);
  if (bytes.length <= textMaxBytes) return bytes.toString("utf8");
  throw new CliError("CLI_ARGUMENTS_INVALID", `Standard input is longer than ${textMaxBytes} bytes`);
}

/**
 * All of standard input, or its beginning, longer than `maxBytes`, where it is longer.
 *
 * @throws the reason of the signal.
 */
export async function readStandardBytes(
  { stdin, signal }: ProcessContext,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stop = () => void stdin.destroy(signal.reason as Error);
  signal.addEventListener("abort", stop);
  try {
    for await (const chunk of stdin) {
      chunks.push(Buffer.from(chunk as Buffer));
      length += (chunk as Buffer).length;
      if (length > maxBytes) break;
    }
  } finally {
    signal.removeEventListener("abort", stop);
  }
  return Buffer.concat(chunks);
}
