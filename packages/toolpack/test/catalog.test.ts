/** Every toolspec of the shipped catalog can be served. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createToolpackSource, jsonPathFault } from "@toolcrib/toolpack";
import { lintCatalog } from "@toolcrib/toolspec";

const catalog = join(import.meta.dirname, "../../../catalog");

test("every toolspec of the catalog is served with all of its tools", () => {
  const files = readdirSync(catalog, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => /^(?:manifests|toolspecs)\/.*\.yaml$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(catalog, path)) }));
  const { pairs } = lintCatalog(files, { subject: "toolspecs", jsonPathFault });
  assert.ok(pairs.length > 20, `${pairs.length} pairs`);
  for (const { manifest, toolspec } of pairs) {
    const names = toolspec.tools.map(({ name }) => name);
    const source = createToolpackSource(
      { manifest, toolspec, tools: names, tokenOf: () => "" },
      {
        send: () => assert.fail("nothing is sent"),
        now: () => 0,
        sleep: async () => {},
        random: () => 0,
        version: "1.2.3",
      },
    );
    assert.deepEqual(
      source.tools().map(({ id }) => id),
      names.map((name) => `${manifest.name}:${name}`),
    );
  }
});
