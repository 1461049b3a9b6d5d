/** Search that learns, on the labelled searches of the benchmark. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { slowTest } from "@toolcrib/testing";
import { corpusTools, labelledTools } from "../../bench/search-corpus.ts";
import { learnedRecall, phrasings } from "../../bench/search-recall.ts";

test("the labelled searches name tools of the catalog, and none is written twice", () => {
  const labelled = labelledTools();
  const ids = new Set(corpusTools().map(({ id }) => id));
  const queries = labelled.flatMap((tool) => tool.queries);
  assert.deepEqual(
    labelled.filter(({ id, queries: own }) => !ids.has(id) || own.length !== phrasings).map(({ id }) => id),
    [],
  );
  assert.equal(new Set(queries).size, queries.length);
  assert.ok(queries.length >= 300);
});

test(
  "recall@5 rises by 0.10 after three uses of each tool and by 0.16 after ten, and never falls",
  slowTest,
  async () => {
    const recalls = await learnedRecall([0, 3, 6, 9, 12], { uses: [0, 1, 3, 10] });
    const at5 = (uses: number) => recalls.get(uses)!.at5;
    assert.ok(at5(1) >= at5(0), `${at5(1)} after one use, ${at5(0)} cold`);
    assert.ok(at5(3) >= at5(0) + 0.1, `${at5(3)} after three uses, ${at5(0)} cold`);
    assert.ok(at5(10) >= at5(0) + 0.16, `${at5(10)} after ten uses, ${at5(0)} cold`);
  },
);
