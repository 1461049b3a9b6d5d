/**
 * Findings about an input: the problem, its position and a fix. Parsers and
 * linters collect diagnostics and continue; they do not throw them.
 */

import { codeFrame } from "./code-frame.ts";
import { printable } from "./printable.ts";
import { positionAt, type Source, type Span } from "./span.ts";

/** Severity of a finding: an `error` makes the input unusable, a `warning` does not. */
export type Severity = "error" | "warning";

/** One finding about an input. */
export interface Diagnostic {
  readonly severity: Severity;
  /** Stable upper-case identifier, such as `CONFIG_UNKNOWN_FIELD`. */
  readonly code: string;
  /** The action, then the state, then what is allowed; no full stop, never a secret. */
  readonly message: string;
  /** A fix, if possible as text that can be pasted. */
  readonly hint?: string;
  /** The input; absent if the finding is about several inputs. With `span`, the position in it. */
  readonly source?: Source;
  readonly span?: Span;
  /** The value's path in its document, such as `tool_servers[2].transport.kind`. */
  readonly path?: string;
}

/** Whether any of `diagnostics` is an error (and not a warning only). */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === "error");
}

/**
 * Formats `diagnostic` as text: `name:line:column: severity CODE`, the message,
 * a code frame with carets, and the hint, separated by line feeds. Terminal
 * control characters in all parts are replaced.
 */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { severity, code, message, source, span, hint } = diagnostic;
  const lines = [`${printable(placeOf(diagnostic))}${severity} ${code}`, printable(message)];
  if (source !== undefined && span !== undefined) lines.push(...codeFrame(source.text, span));
  if (hint !== undefined) lines.push(`hint: ${printable(hint)}`);
  return lines.join("\n");
}

/** Maximum number of findings that are formatted; the rest is counted. */
const shownMaxCount = 50;

/** Formats `diagnostics` in the order of source and position, separated by empty lines: errors, if not all are shown. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[]): string {
  const moreCount = diagnostics.length - shownMaxCount;
  const bySeverity = ({ severity }: Diagnostic) => (severity === "error" ? 0 : 1);
  const shown =
    moreCount > 0
      ? diagnostics.toSorted((a, b) => bySeverity(a) - bySeverity(b)).slice(0, shownMaxCount)
      : [...diagnostics];
  const blocks = shown.sort(bySourceAndPosition).map(formatDiagnostic);
  if (moreCount > 0) blocks.push(`… and ${moreCount} more; fix these first`);
  return blocks.join("\n\n");
}

function placeOf({ source, span }: Diagnostic): string {
  if (source === undefined) return "";
  if (span === undefined) return `${source.name}: `;
  const { lineNumber, columnNumber } = positionAt(source.text, span.start);
  return `${source.name}:${lineNumber}:${columnNumber}: `;
}

function bySourceAndPosition(a: Diagnostic, b: Diagnostic): number {
  const [left = "", right = ""] = [a.source?.name, b.source?.name];
  // Independent of the locale: the same findings have the same order on every machine.
  if (left !== right) return left < right ? -1 : 1;
  return (a.span?.start ?? 0) - (b.span?.start ?? 0);
}
