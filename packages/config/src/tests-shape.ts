/** The section `tests`: how often a running gateway runs the tests of installed packages again. */

import { record, text, type ValueOf } from "@toolcrib/document";
import { invalidEvery } from "./tests-interval.ts";

export const testsShape = record({
  description: "Tests of installed packages in a running gateway.",
  fields: {
    every: text({
      description:
        "Time between two runs of the tests of each installed package, such as 6h. Without it, they run only by toolcrib test.",
      maxLength: 20,
      pattern: {
        source: "[0-9]{1,6} ?[mhd]",
        meaning: "a number of minutes, hours or days, such as 30m, 6h or 1d",
      },
      examples: ["6h"],
      inspect: invalidEvery,
    }),
  },
  hints: { interval: "did you mean every?", schedule: "did you mean every?" },
});

/** `tests` as written. */
export type TestsDocument = ValueOf<typeof testsShape>;
