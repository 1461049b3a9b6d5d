/** `toolcrib starlark check FILE…`: what is wrong with programs. Nothing is run. */

import { type Diagnostic, formatDiagnostics, hasErrors } from "@toolcrib/diagnostics";
import { compileProgram } from "@toolcrib/starlark";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import { readProgram } from "./program-file.ts";
import { type DialectName, dialectOf, modulesOf } from "./program-options.ts";

/** Run the command. */
export async function checkPrograms(
  context: CliContext,
  files: readonly string[],
  flags: { readonly dialect: DialectName },
): Promise<ExitCode> {
  const { output } = context;
  const dialect = dialectOf(flags.dialect);
  const predeclared = [...modulesOf(flags.dialect).keys(), "params"];
  const findings: Diagnostic[] = [];
  const results: { readonly file: string; readonly ok: boolean }[] = [];
  for (const file of files) {
    const source = await readProgram(file, context);
    const { diagnostics } = compileProgram(source, { dialect, predeclared });
    findings.push(...diagnostics);
    results.push({ file: source.name, ok: !hasErrors(diagnostics) });
  }
  const sound = results.filter(({ ok }) => ok).map(({ file }) => `OK ${file}`);
  if (findings.length > 0) output.print(formatDiagnostics(findings), ...(sound.length > 0 ? [""] : []));
  output.print(...sound);
  const ok = sound.length === results.length;
  output.json({ ok, files: results, diagnostics: findings.map(toJsonDiagnostic) });
  return ok ? exitCodes.done : exitCodes.failed;
}
