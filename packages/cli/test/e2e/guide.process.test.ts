/** The guides about tools do what they show; and every page is in a group, or has a reason for no transcript. */

import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { sep } from "node:path";
import { test } from "node:test";
import { docs, guideGroups, pagesWithoutTranscript, testGuides } from "./run-guide.ts";

testGuides("tools");

test("every page has transcripts, or a reason for none", () => {
  const known = [...Object.values(guideGroups).flat(), ...Object.keys(pagesWithoutTranscript)];
  const pages = globSync("**/*.md", { cwd: docs })
    .map((page) => page.split(sep).join("/"))
    .filter((page) => !/^(?:adr|api|reference|node_modules|site|\.vitepress)\//.test(page));
  assert.deepEqual(pages.toSorted(), known.toSorted());
});
