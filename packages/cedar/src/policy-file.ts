/** A file with policies, and its text. */

import type { ReadFile } from "@toolcrib/files";

/** A file with policies in Cedar. */
export interface PolicyFile {
  /** Complete path. */
  readonly path: string;
  /** The path as people see it. */
  readonly name: string;
  /** `undefined` when it was not read (`parseConfig` of `config` reads no file): a gateway refuses to start. */
  readonly text: string | undefined;
}

/** Most bytes of a policy file that are read. Policies are limited further by their characters (`policyFileMaxLength` of `cedar`). */
const policyFileMaxBytes = 1024 * 1024;

/** Returns the text of a policy file. @throws {Error} when it cannot be read, is too long, or is not UTF-8 */
export async function readPolicyFile(path: string, readFile: ReadFile): Promise<string> {
  const { bytes } = await readFile(path, policyFileMaxBytes);
  if (bytes.length > policyFileMaxBytes) throw new Error(`it is longer than ${policyFileMaxBytes} bytes`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Error("it is not UTF-8", { cause });
  }
}
