/**
 * Shows diagnostics as lines of text: `2:5 got newline, want ':'`, optionally with
 * the hint. No I/O.
 */

import { type Diagnostic, positionAt } from "@toolcrib/diagnostics";

export function showFinding({ message, source, span }: Diagnostic): string {
  const { lineNumber, columnNumber } = positionAt(source!.text, span!.start);
  return `${lineNumber}:${columnNumber} ${message}`;
}

export function showFindings(diagnostics: readonly Diagnostic[]): readonly string[] {
  return diagnostics.map(showFinding);
}
