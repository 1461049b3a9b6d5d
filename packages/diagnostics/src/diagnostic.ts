/**
 * What is wrong with an input, where, and how to mend it. Parsers and linters
 * collect diagnostics and go on; they do not throw them.
 */

import { codeFrame } from "./code-frame.ts";
import { printable } from "./printable.ts";
import { positionAt, type Source, type Span } from "./span.ts";

/** How bad a finding is: an `error` makes the input unusable, a `warning` does not. */
export type Severity = "error" | "warning";

/** One finding about an input. */
export interface Diagnostic {
  readonly severity: Severity;
  /** Stable upper-case identifier, such as `CONFIG_UNKNOWN_FIELD`. */
  readonly code: string;
  /** The action, then the state, then what is allowed; no full stop, never a secret. */
  readonly message: string;
  /** How to fix it, as text that can be pasted where possible. */
  readonly hint?: string;
  /** Where; absent when the finding concerns the input as a whole or several inputs. */
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
 * `diagnostic` as people read it: `name:line:column: severity CODE`, the
 * message, a code frame with carets, and the hint, separated by line feeds.
 * Characters that a terminal would obey are replaced, wherever they come from.
 */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { severity, code, message, source, span, hint } = diagnostic;
  const lines = [`${printable(placeOf(diagnostic))}${severity} ${code}`, printable(message)];
  if (source !== undefined && span !== undefined) lines.push(...codeFrame(source.text, span));
  if (hint !== undefined) lines.push(`hint: ${printable(hint)}`);
  return lines.join("\n");
}

/** All of `diagnostics`, by source and position, with an empty line between two. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[]): string {
  return [...diagnostics].sort(bySourceAndPosition).map(formatDiagnostic).join("\n\n");
}

function placeOf({ source, span }: Diagnostic): string {
  if (source === undefined) return "";
  if (span === undefined) return `${source.name}: `;
  const { lineNumber, columnNumber } = positionAt(source.text, span.start);
  return `${source.name}:${lineNumber}:${columnNumber}: `;
}

function bySourceAndPosition(a: Diagnostic, b: Diagnostic): number {
  const [left = "", right = ""] = [a.source?.name, b.source?.name];
  // Not by locale: the same findings come in the same order everywhere.
  if (left !== right) return left < right ? -1 : 1;
  return (a.span?.start ?? 0) - (b.span?.start ?? 0);
}
