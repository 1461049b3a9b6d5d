/** Reads the manifest and the toolspec that the engine serves. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { documentMaxBytes } from "@toolcrib/document";
import { readRegularFile, reasonOf } from "@toolcrib/files";
import { jsonPathFault } from "@toolcrib/toolpack";
import { type CatalogFile, lintCatalog, type Manifest, type Toolspec } from "@toolcrib/toolspec";
import { CliError } from "../cli-error.ts";
import type { ProcessContext } from "../process-context.ts";

/** Paths in a container image: those of the toolpack document for one service, and a folder for several. */
export const imagePaths = {
  manifest: "/app/manifest.yaml",
  toolspec: "/app/toolspec.yaml",
  folder: "/app/toolpacks",
} as const;

/** A valid pair and its warnings. */
export interface ReadPair {
  readonly manifest: Manifest;
  readonly toolspec: Toolspec;
  readonly warnings: readonly Diagnostic[];
  /** The texts that were checked, of the manifest and of the toolspec. */
  readonly texts: readonly [manifest: string, toolspec: string];
}

/** Options that name the files. */
export interface PairFlags {
  readonly manifest?: string;
  readonly toolspec?: string;
}

/**
 * Reads and checks both files.
 *
 * @throws {CliError} `CLI_USAGE` if one is missing, `CLI_FILE_UNUSABLE`,
 *   `CLI_CONFIG_INVALID` with all findings in `data.diagnostics`.
 */
export async function readPair(flags: PairFlags, context: ProcessContext): Promise<ReadPair> {
  const files = await Promise.all(
    (["manifest", "toolspec"] as const).map((kind) => readOne(kind, flags[kind], context)),
  );
  const { pairs, diagnostics } = lintCatalog(files, { subject: "toolspecs", jsonPathFault });
  const [pair] = pairs;
  const [manifestText = "", toolspecText = ""] = files.map(({ text }) => textOf(text));
  if (pair !== undefined) return { ...pair, warnings: diagnostics, texts: [manifestText, toolspecText] };
  const count = diagnostics.filter(({ severity }) => severity === "error").length;
  const names = files.map(({ name }) => name).join(", ");
  const message = `The manifest and its toolspec have ${count === 1 ? "an error" : `${count} errors`}: ${names}`;
  const hint = "fix the errors listed above";
  throw new CliError("CLI_CONFIG_INVALID", message, { hint, data: { diagnostics } });
}

function textOf(text: string | Uint8Array): string {
  return typeof text === "string" ? text : new TextDecoder().decode(text);
}

async function readOne(
  kind: "manifest" | "toolspec",
  given: string | undefined,
  context: ProcessContext,
): Promise<CatalogFile> {
  const name = given ?? imagePaths[kind];
  if (given === undefined && !existsSync(name)) {
    throw new CliError("CLI_USAGE", `No ${kind}: there is no ${name}`, {
      hint: "give both files: toolcrib toolpack --manifest FILE --toolspec FILE",
    });
  }
  try {
    const { bytes } = await readRegularFile(resolve(context.directory, name), documentMaxBytes);
    // The same path makes the two files a pair, independent of their names.
    return { path: "pair", name, text: bytes, kind };
  } catch (error) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read "${name}": ${reasonOf(error)}`);
  }
}
