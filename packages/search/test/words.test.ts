import assert from "node:assert/strict";
import { test } from "node:test";
import { createToolSearch } from "@toolcrib/search";

/** Checks whether `query`, as finished words, finds a tool with this description. */
function check(text: string, query: string, isFound = true): void {
  const search = createToolSearch();
  search.add({ id: "1", name: "", namespace: "", description: text });
  const hits = search.search(`${query} `).filter(({ why }) => why.every(({ match }) => match === "word"));
  assert.equal(hits.length === 1, isFound, `"${text}" ${isFound ? "has" : "has not"} "${query}"`);
}

/** Checks that `text` consists of exactly these words, stop words aside, and that each of them finds it. */
function checkWords(text: string, words: readonly string[]): void {
  for (const word of words) check(text, word);
  const search = createToolSearch();
  search.add({ id: "1", name: "", namespace: "", description: text });
  const found = search.search(`${text} `)[0]?.why.map(({ word }) => word) ?? [];
  assert.deepEqual(found.sort(), words.toSorted());
}

test("Words are split at case changes, digits and separators, and also kept whole", () => {
  checkWords("createIssue", ["create", "issue", "createissue"]);
  checkWords("create_issue", ["create", "issue", "createissue"]);
  checkWords("create-issue", ["create", "issue", "createissue"]);
  checkWords("github.issues/create:now", ["github", "issues", "create", "now", "githubissuescreatenow"]);
  checkWords("github__create_issue", ["github", "create", "issue", "githubcreateissue"]);
  checkWords("HTTPServer", ["http", "server", "httpserver"]);
  checkWords("parseHTTPRequest", ["parse", "http", "request", "parsehttprequest"]);
  checkWords("OAuth2Token", ["o", "auth", "2", "token", "oauth2token"]);
  checkWords("s3 bucket", ["s", "3", "s3", "bucket"]);
  checkWords("utf8", ["utf", "8", "utf8"]);
  checkWords("GitHub", ["git", "hub", "github"]);
  checkWords("URLs and APIs", ["urls", "apis"]);
  checkWords("end. Start", ["end", "start"]);
  checkWords("(a_b)", ["b", "ab"]);
});

test("An identifier is found in any spelling", () => {
  const spellings = [
    "create_issue",
    "createIssue",
    "create-issue",
    "CreateIssue",
    "create.issue",
    "createissue",
  ];
  for (const text of spellings) {
    const search = createToolSearch();
    search.add({ id: "1", name: "", namespace: "", description: text });
    for (const query of spellings) {
      assert.ok(search.search(query)[0]?.why.some(({ word }) => word === "createissue"));
    }
  }
  check("connects to GitHub", "github");
  check("connects to github", "GitHub");
});

test("Apostrophes belong to the word between letters only", () => {
  check("the user's profile", "user");
  check("the user’s profile", "users");
  check("'quoted'", "quoted");
  check("O'Brien", "o'brien");
  check("the API's limits", "api");
});

test("Case, diacritics and compatibility forms make no difference", () => {
  check("Café", "cafe");
  check("cafe", "CAFÉ");
  check("Cafe\u0301", "café");
  check("Ｆｕｌｌｗｉｄｔｈ", "fullwidth");
  check("ﬁle", "file");
  check("Straße", "strasse");
  check("Ærøskøbing", "aeroskobing");
  check("Łódź", "lodz");
  check("İstanbul", "istanbul");
  check("ΟΔΟΣ", "οδος");
  check("naïve co\u00adoperation", "cooperation");
  check("Привет", "привет");
  check("ЁЛКА", "елка");
});

test("Other scripts with spaces are split into words and keep their vowel signs", () => {
  check("हिन्दी भाषा", "हिन्दी");
  check("हिन्दी भाषा", "हन्द", false);
  check("שלום עולם", "עולם");
  check("مرحبا بالعالم", "مرحبا");
});

test("Scripts without spaces are found by any two adjacent characters or any single one", () => {
  check("全文検索エンジン", "検索");
  check("全文検索エンジン", "エンジン");
  check("全文検索エンジン", "索");
  check("全文検索エンジン", "索検", false);
  check("全文検索", "図", false);
  check("字", "字");
  check("데이터베이스 검색", "검색");
  check("데이터베이스 검색", "베이스");
  check("ค้นหาข้อมูล", "ข้อมูล");
  check("ガイド", "ガイド");
  check("ガイド", "カイド");
  check("ｶﾞｲﾄﾞ", "ガイド");
  check("GitHub上のIssueを作成", "作成");
  check("GitHub上のIssueを作成", "issue");
  check("𠮷野家", "𠮷野");
  check("𠮷野家", "𠮷");
});

test("A single character of a script without spaces ranks no lower than other words of the query", () => {
  const search = createToolSearch();
  search.add({ id: "1", name: "検索", namespace: "x" });
  search.add({ id: "2", name: "検証", namespace: "x" });
  assert.deepEqual(
    search.search("検索").map(({ id }) => id),
    ["1"],
  );
  assert.deepEqual(
    search.search("検").map(({ id }) => id),
    ["1", "2"],
  );
});

test("Words are cut to 64 characters and longer identifiers are not joined", () => {
  const long = "a".repeat(65);
  check(long, `${"a".repeat(64)}b`);
  check(`${"ab_".repeat(30)}ab`, "ab".repeat(31), false);
});

test("Any text is indexed and found again by any of its identifiers", () => {
  for (const text of [
    "\ud800",
    "a\ud800b",
    "\u0301",
    "\u0000a",
    "a\u200db",
    "1e9",
    "--a--",
    "’",
    "a’",
    "ǅ",
  ]) {
    const search = createToolSearch();
    search.add({ id: "1", name: text, namespace: text, description: text });
    assert.ok(search.search(text).length <= 1);
    assert.equal(search.remove("1"), true);
    assert.deepEqual(search.search(text), []);
  }
});
