/** `toolcrib saved export` and `toolcrib saved import`: exchange saved tools as folders in the package layout. */

import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import { SchemaValidator } from "@toolcrib/json";
import { exportSavedTool, importSavedTool, storedStanding } from "@toolcrib/metatool";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import { openApprovals, openSaved, recordForAudit, requireSaved } from "./open-saved.ts";

/** Options of `saved export`. */
export interface ExportFlags {
  readonly id?: string;
  readonly packageVersion?: string;
}

/** Runs `saved export`. */
export async function exportSaved(
  context: CliContext,
  name: string,
  folder: string,
  flags: ExportFlags,
): Promise<ExitCode> {
  const { output } = context;
  await using saved = await openSaved(context);
  const tool = await requireSaved(context, saved, name);
  const files = await exportSavedTool(
    tool,
    resolve(context.directory, folder),
    { randomBytes },
    {
      ...(flags.id === undefined ? undefined : { toolId: flags.id }),
      ...(flags.packageVersion === undefined ? undefined : { version: flags.packageVersion }),
    },
  );
  output.json({ name, folder, files });
  output.print(`Exported ${safeLine(name)} to ${safeLine(folder)}: ${files.length} files.`);
  return exitCodes.done;
}

/** Options of `saved import`. */
export interface ImportFlags {
  readonly name?: string;
  readonly force?: boolean;
}

/** Runs `saved import`. */
export async function importSaved(
  context: CliContext,
  folder: string,
  flags: ImportFlags,
): Promise<ExitCode> {
  const { output } = context;
  const { value, diagnostics } = await importSavedTool(
    resolve(context.directory, folder),
    { validator: new SchemaValidator() },
    flags.name === undefined ? {} : { name: flags.name },
  );
  if (value === undefined) {
    throw new CliError("CLI_IMPORT_FAILED", `Cannot import ${folder}`, { data: { diagnostics } });
  }
  await using saved = await openSaved(context);
  await using approvals = await openApprovals(context);
  if (flags.force !== true && (await saved.get(value.name)) !== undefined) {
    throw new CliError("CLI_FILE_EXISTS", `A saved tool named "${value.name}" already exists`, {
      hint: "choose another name with --name NAME, or replace it with --force",
    });
  }
  const { tool, previous } = await saved.save(value);
  const { codeDigest } = storedStanding(tool, approvals);
  await recordForAudit(context, "tool.saved", { tool: `saved:${tool.name}`, codeDigest, reach: ["*"] });
  output.json({
    name: tool.name,
    status: previous === undefined ? "created" : "updated",
    needsApproval: true,
    warnings: diagnostics.map(toJsonDiagnostic),
  });
  if (diagnostics.length > 0) output.note(formatDiagnostics(diagnostics));
  const name = safeLine(tool.name);
  output.print(`Imported ${name}. Inspect and approve it before its first call:`);
  const command = `toolcrib${context.options.homeFlag} saved`;
  output.print(`  ${command} show ${name}`, `  ${command} approve ${name}`);
  return exitCodes.done;
}
