/**
 * Collects the diagnostics of one text. Further errors above the limit are dropped,
 * and so is, on request, a second error at the same position, which is often a
 * consequence of the first.
 */

import type { Diagnostic, Severity, Source } from "@toolcrib/diagnostics";

/** A finding and its position. */
export interface Problem {
  readonly code: string;
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly hint?: string;
  /** @default "error" */
  readonly severity?: Severity;
}

/** Options of a list. */
export interface ProblemListOptions {
  /** Maximum number of errors. */
  readonly limit: number;
  /** Whether to drop a finding at the position of the previous one. @default false */
  readonly isOnePerPlace?: boolean;
}

/** Collects problems of one source. */
export class ProblemList {
  readonly source: Source;
  /** While set, nothing is recorded: the text that is being skipped has been reported. */
  muted = false;
  readonly #limit: number;
  readonly #isOnePerPlace: boolean;
  readonly #diagnostics: Diagnostic[] = [];
  #errorCount = 0;
  #isStopped = false;
  #lastStart = -1;

  constructor(source: Source, { limit, isOnePerPlace = false }: ProblemListOptions) {
    this.source = source;
    this.#limit = limit;
    this.#isOnePerPlace = isOnePerPlace;
  }

  /** Whether no more errors are recorded. */
  get isFull(): boolean {
    return this.#isStopped || this.#errorCount >= this.#limit;
  }

  /** Records no more errors: the rest of the text is abandoned. */
  stop(): void {
    this.#isStopped = true;
  }

  add({ code, start, end, message, hint, severity = "error" }: Problem): void {
    if (this.muted || this.isFull || (this.#isOnePerPlace && start === this.#lastStart)) return;
    this.#lastStart = start;
    if (severity === "error") this.#errorCount += 1;
    this.#diagnostics.push({
      severity,
      code,
      message,
      ...(hint === undefined ? {} : { hint }),
      source: this.source,
      span: { start, end: Math.max(start, end) },
    });
  }

  /** All recorded findings, ordered by position. */
  sorted(): readonly Diagnostic[] {
    return this.#diagnostics.sort((a, b) => a.span!.start - b.span!.start);
  }
}
