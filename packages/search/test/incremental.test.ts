import assert from "node:assert/strict";
import { test } from "node:test";
import { createToolSearch, type SearchDocument, type ToolSearch } from "@toolcrib/search";
import { fastSample, runCount } from "@toolcrib/testing";
import fc from "fast-check";

const words = fc.constantFrom(
  "create",
  "creates",
  "issue",
  "issues",
  "createIssue",
  "git_hub",
  "GitHub",
  "the",
  "to",
  "检索",
  "検索する",
  "s3",
  "Café",
  "reposi-tory",
  "repository",
);
const text = fc.array(words, { maxLength: 8 }).map((parts) => parts.join(" "));
const documents = fc.record({
  id: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"),
  name: words,
  namespace: fc.constantFrom("github", "gitlab", "slack"),
  title: fc.option(text, { nil: undefined }),
  description: fc.option(text, { nil: undefined }),
  tags: fc.option(fc.array(words, { maxLength: 3 }), { nil: undefined }),
  inputSchema: fc.option(
    fc
      .dictionary(words, fc.record({ description: text }), { maxKeys: 3 })
      .map((properties) => ({ properties })),
    { nil: undefined },
  ),
});
const changes = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: documents.map((document) => ({ kind: "add" as const, document })) },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom("a", "b", "c", "d", "e", "f", "g")
        .map((id) => ({ kind: "remove" as const, id })),
    },
  ),
  { maxLength: 40 },
);

const queries = [
  "create issue",
  "createissue",
  "createIssue ",
  "creat",
  "iss",
  "isue ",
  "gith",
  "github issues in the repository",
  "the to",
  "検索",
  "検",
  "s3",
  "cafe repo",
  "slack create",
];

function checkSame(actual: ToolSearch, expected: ToolSearch): void {
  assert.equal(actual.size, expected.size);
  for (const query of queries) assert.deepEqual(actual.search(query), expected.search(query), query);
}

test("Any sequence of additions and removals results in the index of the remaining documents", () => {
  fc.assert(
    fc.property(changes, fc.boolean(), (sequence, isReversed) => {
      const search = createToolSearch();
      const left = new Map<string, SearchDocument>();
      for (const change of sequence) {
        if (change.kind === "add") {
          search.add(change.document);
          left.set(change.document.id, change.document);
        } else {
          assert.equal(search.remove(change.id), left.delete(change.id));
        }
      }
      const fresh = createToolSearch();
      const rest = [...left.values()];
      for (const document of isReversed ? rest.toReversed() : rest) fresh.add(document);
      checkSame(search, fresh);
    }),
    { numRuns: runCount(300) },
  );
});

test("A large index shrinks and grows without a change of its scores", () => {
  const numbered = (n: number): SearchDocument => ({
    id: `t${n}`,
    name: `create_issue_${n % 97}`,
    namespace: ["github", "slack", "jira"][n % 3]!,
    description: `Creates issue ${n} ${"in the repository ".repeat(n % 5)}word${String.fromCharCode(97 + (n % 26), 97 + (n % 7))}`,
  });
  const search = createToolSearch();
  for (let n = 0; n < 3000; n += 1) search.add(numbered(n));
  for (let n = 0; n < 3000; n += 1) if (n % 10 !== 3) search.remove(`t${n}`);
  for (let n = 0; n < 600; n += 1) search.add(numbered(n * 5));
  for (let n = 0; n < 300; n += 1) search.remove(`t${n * 10 + 3}`);
  const fresh = createToolSearch();
  for (let n = 599; n >= 0; n -= 1) if ((n * 5) % 10 !== 3) fresh.add(numbered(n * 5));
  checkSame(search, fresh);
  for (let n = 0; n < 600; n += 1) search.remove(`t${n * 5}`);
  assert.equal(search.size, 0);
  for (const query of queries) assert.deepEqual(search.search(query), []);
});

test("A prefix finds added words and no removed ones, among many", () => {
  const wordOf = (n: number): string => `w${n.toString(2).replaceAll("0", "a").replaceAll("1", "b")}`;
  const search = createToolSearch();
  const present = new Set<number>();
  const add = (n: number): void => {
    search.add({ id: String(n), name: "", namespace: "", description: wordOf(n) });
    present.add(n);
  };
  const remove = (n: number): void => {
    assert.equal(search.remove(String(n)), present.delete(n));
  };
  for (let n = 0; n < 4000; n += 1) add((n * 1237) % 4000);
  for (let n = 0; n < 4000; n += 1) if (n % 3 !== 0) remove((n * 733) % 4000);
  for (let n = 1; n < 4000; n += 7) add(n);
  for (const n of fastSample(Array.from({ length: 800 }, (_, index) => 5 * index))) {
    const prefix = wordOf(n);
    const expected = [...present].filter((other) => wordOf(other).startsWith(prefix)).length;
    // Up to 32 completions are taken, one document each, and the word itself.
    const found = search.search(prefix, { limit: 1000 }).filter(({ why }) => why[0]?.match !== "typo");
    assert.equal(found.length, Math.min(expected, present.has(n) ? 33 : 32), prefix);
  }
});

test("A document may be changed after it was added without changing the index", () => {
  const tags = ["first"];
  const document = { id: "a", name: "x", namespace: "n", tags };
  const search = createToolSearch();
  search.add(document);
  tags[0] = "second";
  assert.equal(search.search("first ").length, 1);
  assert.equal(search.search("second ").length, 0);
  assert.equal(search.remove("a"), true);
  assert.equal(search.search("first ").length, 0);
});
