/** `toolcrib export`: the tools of the installed packages for a runtime of models. */

import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { isCodedError } from "@toolcrib/diagnostics";
import { replaceFile } from "@toolcrib/files";
import { type JsonObject, SchemaValidator } from "@toolcrib/json";
import { type ExportFormat, exportTools } from "@toolcrib/mcpkg";
import { type InstalledPackage, openInstalledPackage } from "@toolcrib/mcpkg-install";
import { testSummaryOf } from "@toolcrib/mcpkg-runtime";
import { createTestHistory, type TestHistory } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { usableInstalled } from "./installed-packages.ts";

/** Options of the command. */
export interface ExportFlags {
  readonly format?: ExportFormat;
  readonly out?: string;
  readonly examplesLength?: number;
}

/** Runs the command. */
export async function exportPackages(context: CliContext, flags: ExportFlags): Promise<ExitCode> {
  const { output, directory, options } = context;
  const history = createTestHistory(options.home, { randomBytes });
  const validator = new SchemaValidator();
  const packages = [];
  for (const installed of await usableInstalled(context)) {
    const found = openInstalledPackage(installed, validator);
    const testSummary = flags.format === undefined ? await summaryOf(context, history, installed) : undefined;
    packages.push({ found, testSummary });
  }
  const { document, names, notes } = exportTools(packages, {
    format: flags.format,
    ...(flags.examplesLength === undefined ? {} : { examplesMaxLength: flags.examplesLength }),
  });
  const text = `${JSON.stringify(document, undefined, 2)}\n`;
  if (flags.out === undefined) {
    context.stdout.write(text);
  } else {
    await replaceFile({ randomBytes }, resolve(directory, flags.out), text, {
      mode: 0o644,
      keepPermissions: true,
      followSymlink: true,
    });
    output.json({ file: flags.out, tools: names, notes });
    output.print(`Wrote ${safeLine(flags.out)}: ${names.length} ${names.length === 1 ? "tool" : "tools"}`);
  }
  if (!output.isJson) for (const note of notes) output.note(safeLine(note));
  return exitCodes.done;
}

async function summaryOf(
  { output }: CliContext,
  history: TestHistory,
  { toolId, digest }: InstalledPackage,
): Promise<JsonObject | undefined> {
  try {
    return testSummaryOf(await history.list(toolId), digest);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    output.note(`The results of the tests of ${toolId} are left out: ${error.message}`);
    return undefined;
  }
}
