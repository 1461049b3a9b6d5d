/**
 * Expectations of the suites that this engine intentionally does not meet, each with
 * its reason. An entry that starts to pass fails the run, so the list contains no
 * obsolete entries.
 */

/** An expectation that is not met. */
export interface ExpectedFailure {
  readonly suite: "starlark-go" | "bazelbuild";
  /** Path relative to the folder of the suite. */
  readonly file: string;
  /** The line of the assertion or of the `###`. */
  readonly line: number;
  /**
   * Whether the assertion ends its program because its arguments fail. The runner
   * then removes the line and runs the program again for the lines after it; the
   * assertion counts as failed.
   */
  readonly endsProgram?: boolean;
  readonly reason: string;
}

const unitsReason = "strings are sequences of UTF-16 code units here, and of UTF-8 bytes in starlark-go";

function units(file: string, line: number, endsProgram = false): ExpectedFailure {
  return { suite: "starlark-go", file: `starlark/testdata/${file}`, line, endsProgram, reason: unitsReason };
}

export const expectedFailures: readonly ExpectedFailure[] = [
  units("bytes.star", 10),
  units("string.star", 31),
  units("string.star", 32),
  units("string.star", 44, true),
  units("string.star", 47),
  units("string.star", 53),
  units("string.star", 62),
  units("string.star", 70),
  units("string.star", 71),
  units("string.star", 74),
  units("string.star", 79),
  units("string.star", 83),
  units("string.star", 89),
  units("string.star", 93),
  units("string.star", 94, true),
  units("string.star", 132),
];
