/**
 * The diagnostics of one text while it is read. What comes after the limit is
 * kept from the reader, and so is, where one finding leads to another, a second
 * one at the same place.
 */

import type { Diagnostic, Severity, Source } from "@toolcrib/diagnostics";

/** What is wrong at one place. */
export interface Problem {
  readonly code: string;
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly hint?: string;
  /** @default "error" */
  readonly severity?: Severity;
}

/** What is recorded. */
export interface ProblemListOptions {
  /** Most errors. */
  readonly limit: number;
  /** Whether what is found where something has just been found is left out. @default false */
  readonly isOnePerPlace?: boolean;
}

/** Collects problems of one source. */
export class ProblemList {
  readonly source: Source;
  /** While set, nothing is recorded: what is being skipped has been reported already. */
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

  /** Whether no more errors are taken. */
  get isFull(): boolean {
    return this.#isStopped || this.#errorCount >= this.#limit;
  }

  /** Take no more errors: the reader gives up the rest of the text. */
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

  /** Everything that was recorded, by place. */
  sorted(): readonly Diagnostic[] {
    return this.#diagnostics.sort((a, b) => a.span!.start - b.span!.start);
  }
}
