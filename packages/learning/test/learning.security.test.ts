/** Learning from each client, the stored words, and hostile clients, which cannot change the searches of others. */

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forgetLearned, listLearned, SearchLearning } from "@toolcrib/learning";
import { createToolSearch } from "@toolcrib/search";
import { makeTemporaryDirectory, slowTest } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";

const dayMs = 86_400_000;
const tools = ["refund", "orders", "stock", "parcels", "prices", "taxes", "labels", "returns"];

interface Setting {
  readonly learning: SearchLearning;
  readonly warnings: object[];
  /** Milliseconds that have passed. */
  passed: number;
}

async function open(home: string, excluded: readonly string[] = [], passed = 0): Promise<Setting> {
  const warnings: object[] = [];
  const setting = { passed, warnings } as { -readonly [Key in keyof Setting]: Setting[Key] };
  setting.learning = await SearchLearning.open(home, {
    logger: { warn: (fields) => warnings.push(fields) },
    now: () => Date.UTC(2026, 0, 1) + setting.passed,
    randomBytes,
    scrub: (text) => text.replaceAll("hunter2secret", "[secret KEY]"),
    startTimer: () => () => {},
    isExcluded: (key) => excluded.some((name) => key.endsWith(name)),
  });
  return setting;
}

const identityOf = (client: string) => localIdentity("token", client);

function use(learning: SearchLearning, client: string, query: string, tool: string, session = "1"): void {
  const searcher = { identity: identityOf(client), session: { id: session } };
  learning.searched(searcher, query, [tool]);
  learning.called(searcher, tool);
}

/** The first five tools that a client finds. */
function find(learning: SearchLearning, client: string, query: string): readonly string[] {
  const search = createToolSearch();
  for (const name of tools)
    search.add({ id: name, name, namespace: "shop", description: `Handle ${name} of goods` });
  return search
    .search(query, { limit: 5, taught: learning.taughtFor(identityOf(client)) })
    .map(({ id }) => id);
}

function storedIn(home: string): string {
  const folder = join(home, "search");
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
}

test(
  "10,000 wrong uses of one client move no tool out of another client's first five",
  slowTest,
  async () => {
    await using directory = await makeTemporaryDirectory();
    const { learning } = await open(directory.path);
    for (const client of ["ann", "ben"]) use(learning, client, "reimburse money", "refund");
    for (const client of ["ann", "ben", "cat"]) use(learning, client, "shipment goods", "parcels");
    await learning.stored();
    const queries = [
      "reimburse money",
      "shipment",
      "goods",
      "refund of goods",
      "parcels money",
      "handle taxes",
    ];
    const seenBy = (client: string) => queries.map((query) => find(learning, client, query));
    const before = ["ann", "ben", "cat", "dan"].map(seenBy);
    for (let round = 0; round < 10_000; round += 1) {
      const tool = tools[round % tools.length]!;
      // Right words for the wrong tools, and words of her own: those that others taught a tool are not wrong for it.
      const others =
        { refund: "shipment", parcels: "reimburse money shipment goods" }[tool] ??
        "reimburse money shipment goods";
      use(learning, "eve", `${others} handle word${round % 900}x`, tool, `${round % 90}`);
      if (round % 100 === 99) await learning.stored();
    }
    await learning.stored();
    assert.deepEqual(["ann", "ben", "cat", "dan"].map(seenBy), before);
    assert.notDeepEqual(seenBy("eve"), before[3]);
    const eve = (await listLearned(directory.path, { randomBytes, onProblem: assert.fail })).find(
      ({ client }) => client.name === "eve",
    );
    assert.ok(eve!.words <= 64 * tools.length, `${eve!.words} words`);
  },
);

test("words are stored without secrets, credentials, addresses, numbers and long tokens", async () => {
  await using directory = await makeTemporaryDirectory();
  const { learning } = await open(directory.path);
  const rows = [
    "refund with hunter2secret please",
    "refund ghp_abcdefghijklmnopqrstuvwxyz0123456789 token",
    "refund Bearer abcdefghijklmnop",
    "mail someone@example.org about /home/someone/private.txt and https://intern.example/a?b=c",
    "order 4111111111111111 and 20260101 of a8f5f167f44f4964e6c998dee827110c",
    `${"verylong".repeat(20)} C:\\Users\\someone`,
  ];
  for (const [at, row] of rows.entries()) use(learning, "ann", row, "refund", `${at}`);
  await learning.stored();
  const text = storedIn(directory.path);
  assert.doesNotMatch(
    text,
    /hunter|ghp|abcdef|qrst|someone|intern|private|4111|2026|a8f5|44f|verylong|secret/,
  );
  assert.match(text, /"refund":\[/);
  assert.match(text, /"order":\[/);
});

test("a word fades with time, and with it what several clients shared", async () => {
  await using directory = await makeTemporaryDirectory();
  {
    const { learning } = await open(directory.path);
    for (const client of ["ann", "ben", "cat"]) use(learning, client, "reimburse", "refund");
    await learning[Symbol.asyncDispose]();
  }
  const scoreAfter = async (days: number, client: string) => {
    const { learning } = await open(directory.path, [], days * dayMs);
    const search = createToolSearch();
    search.add({ id: "refund", name: "refund", namespace: "shop" });
    search.add({ id: "other", name: "other", namespace: "shop" });
    return search.search("reimburse", { taught: learning.taughtFor(identityOf(client)) })[0]?.score ?? 0;
  };
  assert.ok((await scoreAfter(45, "dan")) > 0);
  assert.equal(await scoreAfter(120, "dan"), 0);
  const [early, late] = [await scoreAfter(120, "ann"), await scoreAfter(170, "ann")];
  assert.ok(early > late && late > 0, `${early} and then ${late}`);
});

test("two gateways of a home add to the same words, and forgetting reaches both", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.path;
  const first = await open(home);
  const second = await open(home);
  use(first.learning, "ann", "reimburse", "refund");
  use(second.learning, "ann", "levy", "taxes");
  await first.learning.stored();
  await second.learning.stored();
  assert.deepEqual(find(second.learning, "ann", "reimburse"), ["refund"]);
  const deps = { randomBytes, onProblem: assert.fail };
  const [forgotten] = await forgetLearned(home, { tool: "refund" }, deps);
  assert.deepEqual({ ...forgotten, client: forgotten!.client.name }, { client: "ann", tools: 1, words: 1 });
  assert.doesNotMatch(storedIn(home), /reimburse/);
  const third = await open(home);
  assert.deepEqual(find(third.learning, "ann", "reimburse"), []);
  assert.deepEqual(find(third.learning, "ann", "levy"), ["taxes"]);
  await forgetLearned(home, {}, deps);
  assert.deepEqual(readdirSync(join(home, "search")), []);
});

test("nothing is learned from an excluded client, and what it taught before does not count", async () => {
  await using directory = await makeTemporaryDirectory();
  const { learning } = await open(directory.path);
  use(learning, "eve", "reimburse", "refund");
  await learning.stored();
  const { learning: other } = await open(directory.path, ["eve"]);
  assert.deepEqual(find(other, "eve", "reimburse"), []);
  use(other, "eve", "levy", "taxes");
  await other.stored();
  assert.doesNotMatch(storedIn(directory.path), /levy/);
});

test("a damaged file counts as no words, is kept, and is named once; forgetting all removes it", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.path;
  const { learning } = await open(home);
  use(learning, "ann", "reimburse", "refund");
  await learning.stored();
  const [name] = readdirSync(join(home, "search"));
  const path = join(home, "search", name!);
  for (const text of [
    "{",
    "[]",
    '{"format":1,"client":{},"tools":[]}',
    readFileSync(path, "utf8").replaceAll("ann", "ben"),
  ]) {
    writeFileSync(path, text);
    const { learning: other, warnings } = await open(home);
    assert.deepEqual(find(other, "ann", "reimburse"), []);
    use(other, "ann", "levy", "taxes");
    await other.stored();
    assert.equal(readFileSync(path, "utf8"), text);
    assert.equal(warnings.length, 1);
    assert.equal((warnings[0] as { readonly code: string }).code, "LEARNING_FILE_UNREADABLE");
  }
  await forgetLearned(home, {}, { randomBytes, onProblem: () => {} });
  assert.ok(!existsSync(path));
});

test("a home that cannot be written costs no search and no call", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(join(directory.path, "search"), "");
  mkdirSync(join(directory.path, "locks"));
  const { learning, warnings } = await open(directory.path);
  use(learning, "ann", "reimburse", "refund");
  await learning.stored();
  assert.deepEqual(find(learning, "ann", "refund").slice(0, 1), ["refund"]);
  assert.ok(warnings.length > 0);
});

test("a burst of new clients leaves no more clients than the limit", slowTest, async () => {
  await using home = await makeTemporaryDirectory();
  const folder = home.join("search");
  mkdirSync(folder, { mode: 0o700 });
  // As earlier runs left them.
  for (let at = 0; at < 1000; at += 1) {
    const { issuer, subject, name } = identityOf(`old ${at}`);
    const key = createHash("sha256").update(`${issuer.length}:${issuer}${subject}`).digest("hex");
    const words = { goods: [1, Math.floor(Date.UTC(2026, 0, 1) / dayMs)] };
    const document = { format: 1, client: { issuer, subject, name }, tools: [{ tool: "refund", words }] };
    writeFileSync(join(folder, `${key.slice(0, 40)}.json`), JSON.stringify(document), { mode: 0o600 });
  }
  const { learning, warnings } = await open(home.path);
  for (let at = 0; at < 5; at += 1) use(learning, `new ${at}`, "reimburse a shopper", "refund");
  await learning.stored();
  await learning[Symbol.asyncDispose]();
  assert.deepEqual(warnings, []);
  assert.equal(readdirSync(folder).length, 1000);
  assert.equal(
    (await listLearned(home.path, { randomBytes, onProblem: assert.fail })).filter(({ client }) =>
      client.name.startsWith("new"),
    ).length,
    5,
  );
});
