/** What `toolcrib config check` prints. No I/O: the caller prints it. */

import { type Diagnostic, formatDiagnostics } from "@toolcrib/diagnostics";

/**
 * Every finding, then `OK FILE` for each of `fileNames` without an error, one a
 * line. A sound file without warnings is that one line.
 */
export function formatConfigReport(fileNames: readonly string[], diagnostics: readonly Diagnostic[]): string {
  const faulty = new Set(
    diagnostics.filter(({ severity }) => severity === "error").map(({ source }) => source?.name),
  );
  const sound = fileNames.filter((name) => !faulty.has(name)).map((name) => `OK ${name}`);
  const findings = diagnostics.length === 0 ? [] : [formatDiagnostics(diagnostics)];
  return [...findings, ...(sound.length === 0 ? [] : [sound.join("\n")])].join("\n\n");
}
