/** The guides about tools do what they show; and every guide is in a group, or is known to have no transcript. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { guideGroups, guides, guidesWithoutTranscript, testGuides } from "./run-guide.ts";

testGuides("tools");

test("every guide has transcripts, or a reason for none", () => {
  const known = [...Object.values(guideGroups).flat(), ...guidesWithoutTranscript];
  assert.deepEqual(readdirSync(guides).toSorted(), known.toSorted());
});
