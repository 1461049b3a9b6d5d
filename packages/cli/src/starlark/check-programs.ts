/** `toolcrib starlark check FILE…`: reports problems of programs without running them. */

import { type Diagnostic, formatDiagnostics, hasErrors } from "@toolcrib/diagnostics";
import { compileProgram } from "@toolcrib/starlark";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import { readProgram } from "./program-file.ts";
import { type DialectName, dialectOf, modulesOf } from "./program-options.ts";

/** Runs the command. */
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
  const valid = results.filter(({ ok }) => ok).map(({ file }) => `OK ${file}`);
  if (findings.length > 0) output.print(formatDiagnostics(findings), ...(valid.length > 0 ? [""] : []));
  output.print(...valid);
  const ok = valid.length === results.length;
  output.json({ ok, files: results, diagnostics: findings.map(toJsonDiagnostic) });
  return ok ? exitCodes.done : exitCodes.failed;
}
