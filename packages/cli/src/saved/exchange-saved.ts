/** `toolcrib saved export` and `toolcrib saved import`: exchange saved tools as packages. */

import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { formatDiagnostics, hasErrors } from "@toolcrib/diagnostics";
import { createDirectory, FilesError, reasonOf } from "@toolcrib/files";
import { SchemaValidator } from "@toolcrib/json";
import { programsOf, readProgram, writeProgramPackage } from "@toolcrib/mcpkg";
import { fromProgramPackage, storedStanding, toProgramPackage } from "@toolcrib/metatool";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import { readPackageFiles } from "../package/read-package.ts";
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
  const { value, diagnostics } = toProgramPackage(tool, {
    ...(flags.id === undefined ? undefined : { toolId: flags.id }),
    ...(flags.packageVersion === undefined ? undefined : { version: flags.packageVersion }),
  });
  if (hasErrors(diagnostics)) throw unusableTests(name, diagnostics);
  const files = writeProgramPackage(value);
  await writeFolder(context, folder, files);
  output.json({ name, folder, files: [...files.keys()] });
  output.print(`Exported ${safeLine(name)} to ${safeLine(folder)}: ${files.size} files.`);
  return exitCodes.done;
}

/** Returns the error for a tool with test cases that cannot be written to a package. */
export function unusableTests(name: string, diagnostics: readonly object[]): CliError {
  return new CliError("CLI_EXPORT_FAILED", `Cannot export "${name}": its tests have errors`, {
    hint: `correct or remove them in the file of the tool; toolcrib saved test ${name} shows them too`,
    data: { diagnostics },
  });
}

async function writeFolder(
  { directory }: CliContext,
  folder: string,
  files: ReadonlyMap<string, string>,
): Promise<void> {
  try {
    await createDirectory({ randomBytes }, resolve(directory, folder), files);
  } catch (error) {
    if (!(error instanceof FilesError)) throw error;
    const { cause, errno = "" } = error;
    if (["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(errno)) {
      throw new CliError("CLI_FILE_EXISTS", `Cannot export to "${folder}": it exists already`, {
        cause,
        hint: "name a folder that does not exist",
      });
    }
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot write the folder "${folder}": ${reasonOf(cause)}`, {
      cause,
    });
  }
}

/** Options of `saved import`. */
export interface ImportFlags {
  readonly name?: string;
  readonly force?: boolean;
}

/** Runs `saved import`. */
export async function importSaved(context: CliContext, path: string, flags: ImportFlags): Promise<ExitCode> {
  const { output } = context;
  const { value, diagnostics } = await readTool(context, path, flags.name);
  if (value === undefined) {
    throw new CliError("CLI_IMPORT_FAILED", `Cannot import ${path}`, { data: { diagnostics } });
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

/** Reads the first Starlark program of a package as a saved tool. */
async function readTool(
  context: CliContext,
  path: string,
  name: string | undefined,
): Promise<ReturnType<typeof fromProgramPackage>> {
  const { value: found, diagnostics } = await readPackageFiles(context, path);
  if (found === undefined) return { diagnostics };
  const [program] = programsOf(found.manifest);
  const code = program && readProgram(found.files, program.source);
  if (code === undefined) {
    throw new CliError("CLI_IMPORT_FAILED", `Cannot import ${path}: it has no Starlark program`, {
      hint: "a saved tool is a Starlark program; toolcrib install installs packages of every kind",
    });
  }
  const result = fromProgramPackage(
    { ...found, code },
    new SchemaValidator(),
    name === undefined ? {} : { name },
  );
  return { ...result, diagnostics: [...diagnostics, ...result.diagnostics] };
}
