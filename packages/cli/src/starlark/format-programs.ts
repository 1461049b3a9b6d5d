/** `toolcrib starlark fmt FILE…`: formats programs in place, or checks their format. */

import { resolve } from "node:path";
import { type Diagnostic, formatDiagnostics, hasErrors } from "@toolcrib/diagnostics";
import { formatProgram } from "@toolcrib/starlark";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeText } from "../output/output.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import { writeUserFile } from "../write-user-file.ts";
import { readProgram, standardInput } from "./program-file.ts";
import { type DialectName, dialectOf } from "./program-options.ts";

/** Options of the command. */
export interface FormatFlags {
  readonly dialect: DialectName;
  readonly check?: boolean;
}

/** Runs the command. */
export async function formatPrograms(
  context: CliContext,
  files: readonly string[],
  flags: FormatFlags,
): Promise<ExitCode> {
  const { output } = context;
  if (files.includes(standardInput) && files.length > 1) {
    throw new CliError("CLI_USAGE", "Standard input cannot be combined with files", {
      hint: "use files, or only -",
    });
  }
  const isCheck = flags.check === true;
  const findings: Diagnostic[] = [];
  const results: { readonly file: string; readonly ok: boolean; readonly changed: boolean }[] = [];
  let written: string | undefined;
  for (const file of files) {
    const source = await readProgram(file, context);
    const { text, diagnostics } = formatProgram(source, dialectOf(flags.dialect));
    findings.push(...diagnostics.filter((one) => hasErrors([one])));
    const changed = text !== undefined && text !== source.text;
    results.push({ file: source.name, ok: text !== undefined, changed });
    if (file === standardInput) written = text;
    else if (changed && !isCheck) await replace(resolve(context.directory, file), file, text);
  }
  const changedFiles = results.filter(({ changed }) => changed).map(({ file }) => file);
  if (findings.length > 0) output.note(formatDiagnostics(findings));
  if (written === undefined || isCheck) output.print(...changedFiles);
  else if (!output.isJson) context.stdout.write(output.isTerminal ? safeText(written) : written);
  const ok = results.every((one) => one.ok) && !(isCheck && changedFiles.length > 0);
  output.json({
    ok,
    files: results,
    ...(written === undefined || isCheck ? undefined : { text: written }),
    diagnostics: findings.map(toJsonDiagnostic),
  });
  return ok ? exitCodes.done : exitCodes.failed;
}

async function replace(path: string, name: string, text: string): Promise<void> {
  try {
    await writeUserFile(path, text);
  } catch (cause) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot write ${name}`, {
      cause,
      hint: "check its permissions",
    });
  }
}
