/**
 * Reports the result of a suite: counts for each file, and every expectation that was
 * not met. Failures are compared with the list of expected failures; an entry that
 * did not fail is a failure, too.
 */

import type { ExpectedFailure } from "./expected-failures.ts";

/** An expectation that was not met. */
export interface Miss {
  /** Path relative to the folder of the suite. */
  readonly file: string;
  readonly line: number;
  readonly want: string;
  readonly got: string;
}

/** Number of passed expectations, and total number. */
export interface Score {
  readonly passed: number;
  readonly total: number;
}

/** The result of one file. */
export interface FileResult {
  readonly file: string;
  readonly chunks: Score;
  /** Assertions of programs; absent if there are none. */
  readonly assertions?: Score;
  /** Matching messages; absent if messages are part of the result of each chunk. */
  readonly wording?: Score;
  readonly misses: readonly Miss[];
}

/** The result of a suite. */
export interface SuiteResult {
  readonly suite: string;
  readonly files: readonly FileResult[];
  /** The last line of the report. */
  readonly summary: string;
}

/** Adds scores. */
export function sumScores(scores: readonly (Score | undefined)[]): Score {
  let passed = 0;
  let total = 0;
  for (const score of scores) {
    passed += score?.passed ?? 0;
    total += score?.total ?? 0;
  }
  return { passed, total };
}

/** Counts the expectations of a suite that were met: assertions where a file has them, otherwise its chunks and messages. */
export function countExpectations({ files }: SuiteResult): number {
  return sumScores(
    files.flatMap(({ assertions, chunks, wording }) =>
      assertions === undefined ? [chunks, wording] : [assertions],
    ),
  ).passed;
}

/** Formats a score: `89/89`. */
export function scoreText({ passed, total }: Score): string {
  return `${passed}/${total}`;
}

/**
 * Reports a suite, and counts the differences from the expected result.
 *
 * @param expected the expected failures of this suite.
 */
export function reportSuite(
  result: SuiteResult,
  expected: readonly ExpectedFailure[],
): {
  readonly lines: readonly string[];
  /** Expectations that were not met, and expected failures that passed. */
  readonly unmet: number;
  /** Expected failures that failed. */
  readonly expectedUnmet: number;
} {
  const lines: string[] = [];
  for (const { file, chunks, assertions, wording } of result.files) {
    const parts = [`${scoreText(chunks)} chunks`];
    if (assertions !== undefined) parts.push(`${scoreText(assertions)} assertions`);
    if (wording !== undefined) parts.push(`${scoreText(wording)} messages`);
    lines.push(`${file}: ${parts.join(", ")}`);
  }

  const misses = result.files.flatMap((file) => file.misses);
  const met = new Set<ExpectedFailure>();
  const unexpected: Miss[] = [];
  const listed: string[] = [];
  for (const miss of misses) {
    const entry = expected.find(({ file, line }) => file === miss.file && line === miss.line);
    if (entry === undefined) {
      unexpected.push(miss);
    } else {
      met.add(entry);
      listed.push(`${miss.file}:${miss.line}: expected failure: ${entry.reason}`);
    }
  }
  const passing = expected.filter((entry) => !met.has(entry));

  for (const { file, line, want, got } of unexpected) {
    lines.push(`${file}:${line}: want ${want}`, `${" ".repeat(4)}got ${got}`);
  }
  for (const { file, line, reason } of passing) {
    lines.push(
      `${file}:${line}: is listed as an expected failure (${reason}) and passes: take it off the list`,
    );
  }
  lines.push(...new Set(listed));
  lines.push(
    `${result.suite}: ${unexpected.length} unexpected misses, ${met.size} expected failures, ` +
      `${passing.length} listed and passing`,
    result.summary,
  );
  return { lines, unmet: unexpected.length + passing.length, expectedUnmet: met.size };
}
