/**
 * Expectations of the suites that this engine does not meet, on purpose, each
 * with its reason. One that starts to pass fails the run, so the list is never
 * longer than it has to be.
 */

/** An expectation that is known not to be met. */
export interface ExpectedFailure {
  readonly suite: "starlark-go" | "bazelbuild";
  /** Path below the suite's folder. */
  readonly file: string;
  /** The line of the assertion, or of the `###`. */
  readonly line: number;
  /**
   * Whether the assertion ends its program, as its arguments fail. Once that is
   * seen, the line is left out and the program run again for what comes after it;
   * the assertion counts as one that did not hold.
   */
  readonly endsProgram?: boolean;
  readonly reason: string;
}

const unitsReason = "strings are sequences of UTF-16 code units here, of UTF-8 bytes there";

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
