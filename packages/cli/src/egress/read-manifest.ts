/** Reads the manifest of a program from a file. */

import { resolve } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { documentMaxBytes } from "@toolcrib/document";
import { readRegularFile, reasonOf } from "@toolcrib/files";
import { type Manifest, parseManifest } from "@toolcrib/toolspec";
import { CliError } from "../cli-error.ts";
import type { ProcessContext } from "../process-context.ts";

/** A valid manifest and its warnings. */
export interface ReadManifest {
  readonly manifest: Manifest;
  readonly warnings: readonly Diagnostic[];
}

/**
 * Reads and checks the manifest at `path`.
 *
 * @throws {CliError} `CLI_FILE_UNUSABLE`, `CLI_CONFIG_INVALID` with all findings in `data.diagnostics`.
 */
export async function readManifest(path: string, context: ProcessContext): Promise<ReadManifest> {
  let text: string;
  try {
    const { bytes } = await readRegularFile(resolve(context.directory, path), documentMaxBytes);
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read "${path}": ${reasonOf(error)}`);
  }
  const { value, diagnostics } = parseManifest({ name: path, text });
  if (value !== undefined) return { manifest: value, warnings: diagnostics };
  const count = diagnostics.filter(({ severity }) => severity === "error").length;
  const message = `The manifest has ${count === 1 ? "an error" : `${count} errors`}: ${path}`;
  throw new CliError("CLI_CONFIG_INVALID", message, {
    hint: "fix the errors listed above",
    data: { diagnostics },
  });
}
