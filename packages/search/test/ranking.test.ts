import assert from "node:assert/strict";
import { test } from "node:test";
import { createToolSearch, type SearchOptions } from "@toolcrib/search";
import fc from "fast-check";

/** Words that are their own stems, no stop words, and no two of them joined make a third. */
const vocabulary = ["cat", "dog", "sun", "map", "key", "log"] as const;

interface Text {
  readonly title: readonly string[];
  readonly description: readonly string[];
  readonly tags: readonly string[];
}

const fields = ["title", "description", "tags"] as const;

/** BM25F straight from the formula, for the three fields of `Text`. */
function expectedScore(
  query: readonly string[],
  texts: readonly Text[],
  text: Text,
  k1: number,
  boosts: { readonly [field in (typeof fields)[number]]: number },
  b: number,
): number {
  let score = 0;
  for (const term of new Set(query)) {
    const df = texts.filter((other) => fields.some((field) => other[field].includes(term))).length;
    const idf = Math.log(1 + (texts.length - df + 0.5) / (df + 0.5));
    let weighted = 0;
    for (const field of fields) {
      const tf = text[field].filter((word) => word === term).length;
      if (tf === 0) continue;
      const lengths = texts.map((other) => other[field].length).filter((length) => length > 0);
      const average = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
      weighted += (boosts[field] * tf) / (1 - b + (b * text[field].length) / average);
    }
    if (weighted > 0) score += (idf * (k1 + 1) * weighted) / (k1 + weighted);
  }
  return score;
}

test("search() scores by BM25F", () => {
  const words = fc.array(fc.constantFrom(...vocabulary), { maxLength: 6 });
  const texts = fc.array(fc.record({ title: words, description: words, tags: words }), {
    minLength: 1,
    maxLength: 8,
  });
  const query = fc.array(fc.constantFrom(...vocabulary), { minLength: 1, maxLength: 4 });
  const parameters = fc.record({
    k1: fc.double({ min: 0.1, max: 3, noNaN: true }),
    b: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(texts, query, parameters, (documents, queryWords, { k1, b }) => {
      const boosts = { title: 2.5, description: 1, tags: 0.5 };
      const options: SearchOptions = {
        k1,
        fields: {
          title: { boost: boosts.title, b },
          description: { boost: boosts.description, b },
          tags: { boost: boosts.tags, b },
        },
      };
      const search = createToolSearch(options);
      documents.forEach(({ title, description, tags }, at) => {
        search.add({
          id: `n${at}`,
          name: "",
          namespace: "",
          title: title.join(" "),
          description: description.join(" "),
          tags,
        });
      });
      const hits = new Map(search.search(`${queryWords.join(" ")} `).map(({ id, score }) => [id, score]));
      documents.forEach((text, at) => {
        const expected = expectedScore(queryWords, documents, text, k1, boosts, b);
        const actual = hits.get(`n${at}`) ?? 0;
        assert.ok(
          Math.abs(actual - expected) <= 1e-9 * Math.max(1, expected),
          `${actual} is not ${expected}`,
        );
      });
    }),
  );
});

test("search() has the documented defaults", () => {
  const document = {
    id: "n",
    name: "cat",
    title: "dog",
    namespace: "sun",
    description: "map",
    tags: ["key"],
    inputSchema: { properties: { log: { description: "pin" } } },
  };
  const explicit = createToolSearch({
    k1: 1.2,
    fields: {
      name: { boost: 3, b: 0.75 },
      title: { boost: 2, b: 0.75 },
      namespace: { boost: 2, b: 0.75 },
      description: { boost: 1, b: 0.75 },
      tags: { boost: 2, b: 0.75 },
      parameterNames: { boost: 0.8, b: 0.75 },
      parameterDescriptions: { boost: 0.4, b: 0.75 },
    },
  });
  const defaults = createToolSearch();
  for (const search of [explicit, defaults]) {
    search.add(document);
    search.add({ id: "m", name: "cat cat", namespace: "dog", description: "sun map pin" });
  }
  const query = "cat dog sun map key log pin ";
  assert.deepEqual(defaults.search(query), explicit.search(query));
});

test("A completion never counts more than the whole word in the same field", () => {
  const search = createToolSearch();
  search.add({ id: "whole", name: "log", namespace: "x" });
  search.add({ id: "longer", name: "login", namespace: "x" });
  for (let n = 0; n < 50; n += 1)
    search.add({ id: `noise${n}`, name: "log", namespace: "y", description: "text" });
  const hits = search.search("log", { limit: 100 });
  const scoreOf = (id: string): number => hits.find((hit) => hit.id === id)?.score ?? 0;
  assert.ok(scoreOf("longer") > 0);
  assert.ok(scoreOf("whole") > scoreOf("longer"));
});
