/**
 * Collects what is wrong with one source. Finding the same thing twice (an
 * aliased value, a check that runs again after merging) reports it once.
 */

import type { Diagnostic, Severity, Source, Span } from "@toolcrib/diagnostics";
import { looksLikeCredential } from "./credential.ts";

/** Most findings reported for one source; a file with more has one cause. */
export const configMaxProblems = 500;

/** A finding before its source is known. */
export interface Problem {
  /** @default "error" */
  readonly severity?: Severity;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly span?: Span | undefined;
  readonly path?: string;
}

export interface Reporter {
  /** The text that findings point into, credentials starred out. */
  readonly source: Source;
  readonly diagnostics: readonly Diagnostic[];
  report(problem: Problem): void;
}

export function createReporter(source: Source): Reporter {
  const diagnostics: Diagnostic[] = [];
  const seen = new Set<string>();
  return {
    source,
    diagnostics,
    report(problem) {
      const identity = `${problem.code} ${problem.span?.start} ${problem.span?.end} ${problem.message}`;
      if (seen.has(identity) || diagnostics.length >= configMaxProblems) return;
      seen.add(identity);
      diagnostics.push(toDiagnostic(problem, source));
    },
  };
}

/** `problem` as a finding about `source`. */
export function toDiagnostic(problem: Problem, source: Source): Diagnostic {
  const { severity = "error", code, message, hint, span, path } = problem;
  return {
    severity,
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
    source,
    ...(span === undefined ? {} : { span }),
    ...(path === undefined || path === "" ? {} : { path }),
  };
}

/** `text` in quotes, harmless to a terminal and cut to a line; never a credential. */
export function quote(text: string): string {
  if (looksLikeCredential(text)) return "(what looks like a secret)";
  const cut = text.length > 80 ? `${text.slice(0, 77)}…` : text;
  return JSON.stringify(cut).replace(
    /[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** `a, b or c`. */
export function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
