/**
 * Search that learns from use, through a gateway: who teaches what, whom it helps, and whom it does not. A client that
 * teaches wrong words moves nothing for another one.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { JsonObject } from "@toolcrib/json";
import {
  makeTemporaryDirectory,
  sampleManifest,
  sampleToolspec,
  slowTest,
  waitUntil,
} from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import {
  onHttp,
  type ScriptedServer,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  toolNamed,
} from "./gateway-harness.ts";
import { echoManifest, putPackages } from "./package-harness.ts";

const operator = localIdentity("cli", "cli");
const secret = "correct-horse-battery";
const described = {
  orders: "Look up the orders of a customer",
  refund: "Pay the price of an order back",
  stock: "Count the goods of the warehouse",
  parcels: "Follow a parcel to its address",
  prices: "List the prices of goods",
  taxes: "Compute the taxes of an order",
  fails: "Print the label of a parcel",
} as const;

function startShop(): Promise<ScriptedServer> {
  return startScriptedServer({
    tools: () =>
      Object.entries(described).map(([name, description]) => ({ ...toolNamed(name), description })),
    call: (_request, name) => ({
      content: [{ type: "text", text: name }],
      ...(name === "fails" ? { isError: true } : {}),
    }),
  });
}

function startShopGateway(server: ScriptedServer, home: string, more: JsonObject = {}): Promise<TestGateway> {
  const headers = { "X-Key": { secret_key_ref: { env: "KEY" } } };
  const transport = { kind: "streamable_http", url: server.url, headers };
  const document = { tool_servers: [onHttp("shop", server.url, { transport })], ...more };
  const environment = { KEY: secret };
  return startTestGateway(document, { clients: ["ann", "ben", "cat", "dan", "eve"], home, environment });
}

async function search(client: Client, query: string, limit = 5): Promise<readonly string[]> {
  const result = await client.callTool({ name: "search_tools", arguments: { query, limit } });
  const { tools } = result.structuredContent as { readonly tools: readonly { readonly name: string }[] };
  return tools.map(({ name }) => name.replace("shop__", ""));
}

/** Searches, and calls a tool by the way that the query of the meta-tool or of the client itself takes. */
async function use(client: Client, query: string, tool: string, byMetaTool = false): Promise<void> {
  await search(client, query, 10);
  const name = `shop__${tool}`;
  await client.callTool(
    byMetaTool ? { name: "call_tool", arguments: { name, arguments: {} } } : { name, arguments: {} },
  );
}

function storedIn(home: string): readonly string[] {
  const folder = join(home, "search");
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
}

/** Waits until the searches of `client` find `tool` by `query`. */
async function untilFound(client: Client, query: string, tool: string): Promise<void> {
  await waitUntil(async () => (await search(client, query)).includes(tool));
}

test(
  "a search and the call after it teach the client its words, and others only when three clients taught them",
  slowTest,
  async () => {
    await using server = await startShop();
    await using directory = await makeTemporaryDirectory();
    const home = join(directory.path, "home");
    await using gateway = await startShopGateway(server, home);
    const [ann, ben, cat, dan] = await Promise.all(
      ["ann", "ben", "cat", "dan"].map((as) => gateway.connect({ as })),
    );
    assert.deepEqual(await search(ann!, "reimburse"), []);
    // Other words for the same wish: the first search found nothing.
    await search(ann!, "reimburse shopper");
    await use(ann!, `order back ${secret}`, "refund");
    await untilFound(ann!, "reimburse", "refund");
    assert.deepEqual(await search(ben!, "reimburse"), []);
    const [hit] = await gateway.gateway.search(operator, "reimburse", 5, true);
    assert.equal(hit, undefined);

    await use(ben!, "reimburse an order", "refund", true);
    await untilFound(ben!, "reimburse", "refund");
    assert.deepEqual(await search(dan!, "reimburse"), []);
    await use(cat!, "reimburse the order", "refund");
    await untilFound(dan!, "reimburse", "refund");
    // An explanation names the word, and nobody who taught it.
    await waitUntil(async () => (await gateway.gateway.search(operator, "reimburse", 5, true)).length === 1);
    const [explained] = await gateway.gateway.search(operator, "reimburse", 5, true);
    assert.deepEqual(
      explained?.parts?.map(({ word, field, match }) => ({ word, field, match })),
      [{ word: "reimburse", field: "shared", match: "word" }],
    );

    // Nothing is in the file but words: no secret, no query. Its owner alone reads it.
    const texts = storedIn(home);
    assert.equal(texts.length, 3);
    for (const text of texts) assert.doesNotMatch(text, /horse|battery|order back/);
    const folder = join(home, "search");
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
  },
);

test("a call teaches nothing that failed, that no search showed, or that is not the client's own", async () => {
  await using server = await startShop();
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  await using gateway = await startShopGateway(server, home, { search: { learn_except: ["eve"] } });
  const [ann, annAgain, ben, eve] = await Promise.all(
    ["ann", "ann", "ben", "eve"].map((as) => gateway.connect({ as })),
  );
  await use(ann!, "sticker parcel label", "fails");
  await search(ann!, "prices please", 1);
  await ann!.callTool({ name: "shop__stock", arguments: {} });
  // Another session, and another client.
  await search(ann!, "levy order taxes");
  await annAgain!.callTool({ name: "shop__taxes", arguments: {} });
  await ben!.callTool({ name: "shop__taxes", arguments: {} });
  // A client from which nothing is learned.
  await use(eve!, "levy order taxes", "taxes");
  // What is learned from a later use is stored after what could have been learned from those.
  await use(ben!, "shipment parcel address", "parcels");
  await untilFound(ben!, "shipment", "parcels");
  assert.equal(storedIn(home).length, 1);
  assert.doesNotMatch(storedIn(home).join(), /sticker|label|prices|levy/);
});

test("many wrong uses of one client move no tool of another client's results", slowTest, async () => {
  await using server = await startShop();
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  await using gateway = await startShopGateway(server, home);
  const [ann, ben, eve] = await Promise.all(["ann", "ben", "eve"].map((as) => gateway.connect({ as })));
  for (const client of [ann!, ben!]) await use(client, "reimburse order price", "refund");
  for (const client of [ann!, ben!]) await untilFound(client, "reimburse", "refund");
  const queries = [
    "order",
    "goods price",
    "parcel address",
    "reimburse order",
    "customer",
    "count taxes of goods",
  ];
  const resultsOf = async (client: Client) => Promise.all(queries.map((query) => search(client, query)));
  const before = [await resultsOf(ann!), await resultsOf(ben!)];
  for (let round = 0; round < 60; round += 1) {
    await search(eve!, `${queries[round % queries.length]} order goods parcel ${round}`, 10);
    for (const name of ["prices", "stock", "taxes"])
      await eve!.callTool({ name: `shop__${name}`, arguments: {} });
  }
  await untilFound(eve!, "parcel", "stock");
  assert.deepEqual([await resultsOf(ann!), await resultsOf(ben!)], before);
});

test("learning can be turned off, and what was learned outlasts the gateway otherwise", async () => {
  await using server = await startShop();
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  {
    await using gateway = await startShopGateway(server, home);
    // A client of the modern era has no session: its identity alone connects a search and a call.
    const modern = await gateway.connectModern({ as: "ann" });
    await use(modern as unknown as Client, "reimburse order", "refund");
  }
  {
    await using gateway = await startShopGateway(server, home);
    assert.deepEqual(await search(await gateway.connect({ as: "ann" }), "reimburse"), ["refund"]);
  }
  await using gateway = await startShopGateway(server, home, { search: { learn: false } });
  const ann = await gateway.connect({ as: "ann" });
  assert.deepEqual(await search(ann, "reimburse"), []);
  await use(ann, "levy order", "taxes");
  await gateway.stop();
  assert.doesNotMatch(storedIn(home).join(), /levy/);
});

test("a word never shows a tool that its client may not find", async () => {
  await using server = await startShop();
  await using directory = await makeTemporaryDirectory();
  const policy = { clients: { dan: { deny: ["shop:refund"] } } };
  await using gateway = await startShopGateway(server, join(directory.path, "home"), { policy });
  for (const as of ["ann", "ben", "cat"])
    await use(await gateway.connect({ as }), "reimburse order", "refund");
  const eve = await gateway.connect({ as: "eve" });
  await untilFound(eve, "reimburse", "refund");
  const dan = await gateway.connect({ as: "dan" });
  assert.deepEqual(await search(dan, "reimburse"), []);
});

test("examples of toolspecs, and names of the tests of packages and saved tools, find tools before their first use", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  const testFile = JSON.stringify({
    name: "parrot a sentence",
    input: { message: "a" },
    expected: { message: "a" },
  });
  putPackages(home, [{ manifest: echoManifest, files: { "tests/echo.test.json": testFile } }]);
  const example = `
    examples:
      - description: pigeonholes of an emporium
        args: { owner: hobby shop, limit: 3 }
        request: { url: "https://api.acme.example/owners/hobby%20shop/repos?limit=3" }
`;
  const toolspec = sampleToolspec("acme")
    .replace("schemaVersion: 1", "schemaVersion: 2")
    .replace("  - name: get_repo", `${example.slice(1)}  - name: get_repo`);
  await using gateway = await startTestGateway(
    {
      toolspecs: [{ path: "./pair", id: "acme" }],
      packages: { "demo.echo": { endpoint: { url: "http://127.0.0.1:9/" }, trust_state: "verified" } },
    },
    {
      home,
      files: {
        "pair/manifest.yaml": sampleManifest("acme", { credentials: "" }),
        "pair/toolspec.yaml": toolspec,
      },
    },
  );
  const find = async (query: string) =>
    (await gateway.gateway.search(operator, query, 5)).map(({ id }) => id);
  assert.deepEqual(await find("pigeonhole"), ["acme:list_repos"]);
  assert.deepEqual(await find("hobby"), ["acme:list_repos"]);
  assert.deepEqual(await find("parrot"), ["demo.echo:echo"]);
  const client = await gateway.connect();
  const code = "return 1";
  await client.callTool({
    name: "save_tool",
    arguments: { name: "constant", description: "Returns one", inputSchema: {}, code },
  });
  const recorded = { name: "constant", record: true, caseName: "unicorn" };
  const tested = await client.callTool({ name: "test_saved_tool", arguments: recorded });
  assert.notEqual(tested.isError, true, JSON.stringify(tested));
  await waitUntil(async () => (await find("unicorn")).length === 1);
});
