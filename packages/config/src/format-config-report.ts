/** Formats the report of `toolcrib config check`. No I/O: the caller prints it. */

import { type Diagnostic, formatDiagnostics } from "@toolcrib/diagnostics";

/**
 * Returns every finding, and `OK FILE` for each of `fileNames` without an error, one per line: after the findings, or before
 * them where one is an error. A valid file without warnings produces only that line.
 */
export function formatConfigReport(fileNames: readonly string[], diagnostics: readonly Diagnostic[]): string {
  const faulty = new Set(
    diagnostics.filter(({ severity }) => severity === "error").map(({ source }) => source?.name),
  );
  const sound = fileNames.filter((name) => !faulty.has(name)).map((name) => `OK ${name}`);
  const findings = diagnostics.length === 0 ? [] : [formatDiagnostics(diagnostics)];
  const passed = sound.length === 0 ? [] : [sound.join("\n")];
  // The last lines are read as the result.
  return (faulty.size > 0 ? [...passed, ...findings] : [...findings, ...passed]).join("\n\n");
}
