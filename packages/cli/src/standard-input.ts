/** Reads standard input, for commands that take a text or a secret from it. Stops soon after the size limit. */

import { CliError } from "./cli-error.ts";
import type { ProcessContext } from "./process-context.ts";

/** Size limit of a text, in bytes. */
const textMaxBytes = 16 * 1024 * 1024;

/**
 * Reads all of standard input as text.
 *
 * @throws {CliError} `CLI_ARGUMENTS_INVALID` for a text above the size limit; the reason of the signal.
 */
export async function readStandardInput(context: ProcessContext): Promise<string> {
  const bytes = await readStandardBytes(context, textMaxBytes);
  if (bytes.length <= textMaxBytes) return bytes.toString("utf8");
  throw new CliError("CLI_ARGUMENTS_INVALID", `Standard input is longer than ${textMaxBytes} bytes`);
}

/**
 * Reads all of standard input. If it is longer than `maxBytes`, returns a longer prefix.
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
