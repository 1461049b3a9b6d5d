/**
 * Collects the findings for one document. The same finding at the same place
 * (an aliased value, a repeated check) counts once.
 */

import type { Diagnostic, Severity, Source, Span } from "@toolcrib/diagnostics";
import type { DocumentKind, StructureCodes } from "./document-kind.ts";
import { quote } from "./shown-text.ts";

/** Maximum number of findings reported for one document; more usually have one cause. */
export const problemsMaxCount = 500;

/** A finding before its source is known. */
export interface Problem {
  /** @default "error" */
  readonly severity?: Severity;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly span?: Span | undefined;
  /** Path of the value, such as `tools[0].path`. */
  readonly path?: string;
}

/** Collects the problems of a document. */
export class Reporter {
  /** The text that findings refer to, with stars in place of secrets. */
  readonly source: Source;
  /** Noun for the document in messages. */
  readonly noun: string;
  readonly codes: StructureCodes;
  /** Quotes `text` for messages. */
  readonly quote: (text: string) => string;
  readonly #diagnostics: Diagnostic[] = [];
  readonly #seen = new Set<string>();

  constructor(source: Source, kind: DocumentKind) {
    this.source = source;
    this.noun = kind.noun;
    this.codes = kind.codes;
    this.quote = kind.quote ?? quote;
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics;
  }

  report(problem: Problem): void {
    const identity = `${problem.code} ${problem.span?.start} ${problem.span?.end} ${problem.message}`;
    if (this.#seen.has(identity) || this.#diagnostics.length >= problemsMaxCount) return;
    this.#seen.add(identity);
    this.#diagnostics.push(toDiagnostic(problem, this.source));
  }
}

/** Converts `problem` to a finding about `source`. */
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
