/**
 * What is wrong with an input, where, and how to mend it. Parsers and linters
 * collect diagnostics and go on; they do not throw them.
 */

import { lineText, positionAt, type Source, type Span } from "./span.ts";

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
 */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const lines = [`${placeOf(diagnostic)}${diagnostic.severity} ${diagnostic.code}`, diagnostic.message];
  if (diagnostic.source !== undefined && diagnostic.span !== undefined) {
    lines.push(...codeFrame(diagnostic.source.text, diagnostic.span));
  }
  if (diagnostic.hint !== undefined) lines.push(`hint: ${diagnostic.hint}`);
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

/** At most this many characters of a line are shown, so that a minified file does not flood a terminal. */
const frameMaxWidth = 160;

function codeFrame(text: string, span: Span): string[] {
  const { lineNumber, columnNumber } = positionAt(text, span.start);
  const line = lineText(text, lineNumber);
  const from = columnNumber > frameMaxWidth ? columnNumber - 40 : 1;
  const shown = line.slice(from - 1, from - 1 + frameMaxWidth).replaceAll("\t", " ");
  const prefix = `${lineNumber} | `;
  const caretCount = Math.max(1, Math.min(span.end - span.start, shown.length - (columnNumber - from)));
  return [`${prefix}${shown}`, " ".repeat(prefix.length + columnNumber - from) + "^".repeat(caretCount)];
}

function bySourceAndPosition(a: Diagnostic, b: Diagnostic): number {
  const byName = (a.source?.name ?? "").localeCompare(b.source?.name ?? "");
  return byName !== 0 ? byName : (a.span?.start ?? 0) - (b.span?.start ?? 0);
}
