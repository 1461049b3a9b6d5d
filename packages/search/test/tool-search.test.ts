import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createToolSearch,
  type SearchDocument,
  SearchError,
  type SearchOptions,
  searchFields,
  type ToolSearch,
} from "@toolcrib/search";

function tool(id: string, rest: Partial<SearchDocument> = {}): SearchDocument {
  const [namespace = "", name = ""] = id.split(":");
  return { id, namespace, name, ...rest };
}

function indexOf(...documents: readonly SearchDocument[]): ToolSearch {
  const search = createToolSearch();
  for (const document of documents) search.add(document);
  return search;
}

function ids(search: ToolSearch, query: string): string[] {
  return search.search(query).map(({ id }) => id);
}

function throwsCode(code: string, work: () => unknown): void {
  assert.throws(work, (error) => error instanceof SearchError && error.code === code);
}

test("search() finds a tool by every one of its fields", () => {
  const search = indexOf(
    tool("octo:alpha", {
      title: "Bravo",
      description: "Does charlie",
      tags: ["delta"],
      inputSchema: { properties: { echo: { type: "string", description: "The foxtrot" } } },
      examples: ["golf"],
    }),
    tool("other:thing"),
  );
  const expected: readonly (readonly [word: string, field: string])[] = [
    ["alpha", "name"],
    ["bravo", "title"],
    ["octo", "namespace"],
    ["charlie", "description"],
    ["delta", "tags"],
    ["echo", "parameterNames"],
    ["foxtrot", "parameterDescriptions"],
    ["golf", "examples"],
  ];
  for (const [word, field] of expected) {
    const [hit, ...rest] = search.search(word);
    assert.equal(hit?.id, "octo:alpha", word);
    assert.equal(rest.length, 0);
    assert.equal(hit?.why.find(({ match }) => match === "word")?.field, field);
  }
  assert.deepEqual(
    [...searchFields],
    expected.map(([, field]) => field),
  );
});

test("add() replaces the document with the same id", () => {
  const search = indexOf(tool("a:one", { description: "old words" }));
  search.add(tool("a:one", { description: "fresh text" }));
  assert.equal(search.size, 1);
  assert.deepEqual(ids(search, "old "), []);
  assert.deepEqual(ids(search, "fresh"), ["a:one"]);
});

test("remove() removes a document and returns whether it existed", () => {
  const search = indexOf(tool("a:one"), tool("a:two"));
  assert.equal(search.remove("a:one"), true);
  assert.equal(search.remove("a:one"), false);
  assert.equal(search.has("a:one"), false);
  assert.equal(search.has("a:two"), true);
  assert.equal(search.size, 1);
  assert.deepEqual(ids(search, "one"), []);
  assert.deepEqual(ids(search, "a "), ["a:two"]);
});

test("add() leaves the index unchanged if the document cannot be read", () => {
  const search = indexOf(tool("a:one", { description: "kept" }));
  const broken = Object.defineProperty(tool("a:one"), "description", {
    get: () => {
      throw new Error("unreadable");
    },
  });
  assert.throws(() => search.add(broken), /unreadable/);
  assert.deepEqual(ids(search, "kept"), ["a:one"]);
});

test("search() returns the tool with the name of the query first, in any spelling", () => {
  const noise = "Search search search: searches in every search index for search results";
  const search = indexOf(
    tool("web:search", { description: "Looks things up" }),
    tool("web:search_images", { title: "Search", description: noise, tags: ["search"] }),
    tool("github:create_issue", { description: "Opens a ticket" }),
    tool("github:create_issue_comment", { title: "Create issue", description: "Create issue, create issue" }),
    tool("jira:create_issue", { description: "Create issue" }),
  );
  assert.equal(ids(search, "search")[0], "web:search");
  for (const query of ["create_issue", "createIssue", "create-issue", "Create Issue", "CREATE ISSUE "]) {
    assert.deepEqual(
      ids(search, query).slice(0, 2).sort(),
      ["github:create_issue", "jira:create_issue"],
      query,
    );
  }
  for (const query of ["github:create_issue", "github__create_issue", "github create issue"]) {
    const [hit] = search.search(query);
    assert.equal(hit?.id, "github:create_issue", query);
    assert.ok(hit?.why.some(({ match, word }) => match === "name" && word === "githubcreateissue"));
  }
});

test("search() treats the last word as the beginning of a word, unless a character follows", () => {
  const search = indexOf(
    tool("github:list_issues"),
    tool("slack:post_message", { description: "Posts to a channel" }),
    tool("x:git", { description: "Runs git" }),
  );
  assert.deepEqual(ids(search, "gith"), ["github:list_issues"]);
  assert.deepEqual(ids(search, "list iss"), ["github:list_issues"]);
  assert.deepEqual(ids(search, "listIss"), ["github:list_issues"]);
  assert.deepEqual(ids(search, "listiss"), ["github:list_issues"]);
  assert.deepEqual(ids(search, "iss list"), ["github:list_issues"]);
  assert.ok(!search.search("iss list")[0]!.why.some(({ word }) => word === "iss"));
  assert.deepEqual(ids(search, "mess "), []);
  assert.deepEqual(ids(search, "mess."), []);
  assert.deepEqual(ids(search, "git"), ["x:git", "github:list_issues"]);
  assert.deepEqual(ids(search, "git "), ["x:git"]);
});

test("search() finds words one typing error away when no document has the word", () => {
  const search = indexOf(tool("github:create_issue"), tool("calendar:list_events"));
  for (const query of ["isue", "issuue", "isseu", "ixsue", "isue please"]) {
    const [hit] = search.search(`${query} `);
    assert.equal(hit?.id, "github:create_issue", query);
    assert.equal(hit?.why[0]?.match, "typo");
  }
  assert.deepEqual(ids(search, "isxxue "), []);
  assert.deepEqual(ids(search, "event"), ["calendar:list_events"]);
});

test("search() ignores stop words, unless there is nothing else", () => {
  const search = indexOf(
    tool("a:one", { description: "the way to do it" }),
    tool("b:two", { description: "issues" }),
  );
  assert.deepEqual(ids(search, "how do I see the issues"), ["b:two"]);
  assert.deepEqual(ids(search, "to the "), ["a:one"]);
});

test("search() finds nothing for a query without words or with unknown words", () => {
  const search = indexOf(tool("a:one", { description: "text" }));
  for (const query of ["", "   ", "?!", "…", "\u0000", "_-./:", "zzzzqqqq", "🙂"]) {
    assert.deepEqual(search.search(query), [], query);
  }
  assert.deepEqual(createToolSearch().search("anything"), []);
});

test("search() orders equal scores by id, independent of the order of additions", () => {
  const documents = ["b:x", "a:x", "c:x", "B:x", "a:x:2"].map((id) => tool(id, { namespace: "n" }));
  const expected = ["B:x", "a:x", "b:x", "c:x"];
  for (const order of [documents, documents.toReversed()]) {
    const search = indexOf(...order.filter(({ id }) => id !== "a:x:2"));
    assert.deepEqual(ids(search, "x "), expected);
    assert.deepEqual(
      search.search("x ", { limit: 2 }).map(({ id }) => id),
      expected.slice(0, 2),
    );
  }
});

test("search() returns the best hits up to the limit, 20 by default", () => {
  const search = createToolSearch();
  for (let n = 0; n < 300; n += 1) {
    search.add(tool(`a:t${n}`, { description: `${"word ".repeat(1 + (n % 7))}${"filler ".repeat(n % 11)}` }));
  }
  const all = search.search("word", { limit: 1000 });
  assert.equal(all.length, 300);
  const sorted = all.toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
  assert.deepEqual(all, sorted);
  for (const limit of [1, 2, 7, 299]) assert.deepEqual(search.search("word", { limit }), all.slice(0, limit));
  assert.deepEqual(search.search("word"), all.slice(0, 20));
});

test("search() applies the filter before the limit", () => {
  const search = indexOf(tool("a:x"), tool("b:x"), tool("c:x"));
  const hits = search.search("x", { limit: 1, filter: (id) => id.startsWith("c") });
  assert.deepEqual(
    hits.map(({ id }) => id),
    ["c:x"],
  );
  assert.deepEqual(search.search("x", { filter: () => false }), []);
});

test("search() works after a filter that threw", () => {
  const search = indexOf(tool("a:x"), tool("b:x"));
  const before = search.search("x");
  const filter = (): boolean => {
    throw new Error("refused");
  };
  assert.throws(() => search.search("x", { filter }), /refused/);
  assert.deepEqual(search.search("x"), before);
});

test("search() explains a score by parts with that sum", () => {
  const search = indexOf(
    tool("github:create_issue", {
      title: "Create issue",
      description: "Create a new issue in a repository",
      inputSchema: { properties: { repository: { description: "Repository name" } } },
    }),
    tool("github:list_repositories", { description: "List repositories" }),
    tool("slack:post", { description: "Post a message" }),
  );
  for (const query of [
    "create issue",
    "create an isue in the repo",
    "github repositories",
    "createIssue rep",
  ]) {
    const hits = search.search(query);
    assert.ok(hits.length > 0, query);
    for (const { score, why } of hits) {
      const total = why.reduce((sum, { contribution }) => sum + contribution, 0);
      assert.ok(Math.abs(total - score) < 1e-9, query);
      assert.ok(why.every(({ contribution }) => contribution > 0));
      assert.deepEqual(
        why,
        why.toSorted((a, b) => b.contribution - a.contribution),
      );
    }
  }
  const [hit] = search.search("repositories ");
  assert.deepEqual(
    hit?.why.map(({ word, term, match, field }) => ({ word, term, match, field })),
    [
      { word: "repositories", term: "repositori", match: "word", field: "name" },
      { word: "repositories", term: "repositori", match: "word", field: "description" },
    ],
  );
});

test("search() counts a repeated query word once", () => {
  const search = indexOf(tool("a:issue"), tool("b:other"));
  assert.equal(search.search("issue issues ISSUE ")[0]?.score, search.search("issue issues ")[0]?.score);
});

test("search() refuses queries of more than 1,000 terms or 32,768 characters", () => {
  const search = indexOf(tool("a:word"));
  assert.equal(search.search("word ".repeat(1000)).length, 1);
  throwsCode("SEARCH_QUERY_TOO_LONG", () => search.search("word ".repeat(1001)));
  throwsCode("SEARCH_QUERY_TOO_LONG", () => search.search("漢".repeat(1002)));
  assert.equal(search.search(`word${" ".repeat(32_764)}`).length, 1);
  throwsCode("SEARCH_QUERY_TOO_LONG", () => search.search(" ".repeat(32_769)));
});

test("search() refuses limits other than integers from 1 to 1,000", () => {
  const search = indexOf(tool("a:word"));
  for (const limit of [0, -1, 1001, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    throwsCode("SEARCH_LIMIT_INVALID", () => search.search("word", { limit }));
  }
});

test("createToolSearch() refuses parameters out of their range", () => {
  const wrong: SearchOptions[] = [
    { k1: -1 },
    { k1: Number.NaN },
    { k1: Number.POSITIVE_INFINITY },
    { fields: { name: { b: 1.1 } } },
    { fields: { tags: { boost: -0.1 } } },
  ];
  for (const options of wrong) throwsCode("SEARCH_OPTION_INVALID", () => createToolSearch(options));
});

test("createToolSearch() accepts boosts per field, 0 for an ignored field", () => {
  const search = createToolSearch({ k1: 0, fields: { description: { boost: 0, b: 0 }, tags: { boost: 5 } } });
  search.add(tool("a:one", { description: "hidden", tags: ["shown"] }));
  assert.deepEqual(ids(search, "hidden"), []);
  assert.deepEqual(ids(search, "shown"), ["a:one"]);
});
