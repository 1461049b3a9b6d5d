/**
 * Search by meaning, through a gateway and a real endpoint on loopback: what it finds, what is sent, what is kept, and
 * that a failure leaves search by words as it is.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { readToken } from "@toolcrib/auth";
import type { JsonObject } from "@toolcrib/json";
import { makeTemporaryDirectory, slowTest, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import {
  onHttp,
  type ScriptedServer,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  toolNamed,
} from "./gateway-harness.ts";

const operator = localIdentity("cli", "cli");
const secret = "correct-horse-battery";
const apiKey = "embeddings-key-8812";
const described = {
  refund: `Pay the price of an order back (${secret})`,
  stock: "Count the goods of the warehouse",
  parcels: "Follow a parcel to its address",
  salaries: "Reimburse the expenses of staff",
} as const;

/** Words with the same meaning, by dimension. */
const meanings = [
  ["refund", "reimburse", "money", "pay"],
  ["stock", "inventory", "goods", "warehouse"],
  ["parcels", "shipment", "parcel", "delivery"],
  ["salaries", "wages", "staff"],
] as const;

function vectorOf(content: string): readonly number[] {
  const words: readonly string[] = content.toLowerCase().match(/[a-z]+/g) ?? [];
  return meanings.map((known) => 0.01 + words.filter((word) => known.some((one) => one === word)).length);
}

interface Sent {
  readonly authorization: string | undefined;
  readonly model: string;
  readonly input: readonly string[];
}

/** An endpoint that computes the vector of a text from its words. */
interface EmbeddingsServer extends AsyncDisposable {
  readonly url: string;
  readonly sent: Sent[];
  /** Answers in another way. @default the vectors */
  answer: (response: ServerResponse, sent: Sent) => void;
}

function sendVectors(response: ServerResponse, { input }: Sent): void {
  // The order of the entries is that of their indexes, not that of the list.
  const data = input.map((one, index) => ({ object: "embedding", index, embedding: vectorOf(one) }));
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ object: "list", data: data.reverse() }));
}

async function startEmbeddings(): Promise<EmbeddingsServer> {
  const sent: Sent[] = [];
  const http = createServer(async (request, response) => {
    const { model, input } = JSON.parse(await text(request)) as Sent;
    const one = { authorization: request.headers.authorization, model, input };
    sent.push(one);
    server.answer(response, one);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const { port } = http.address() as AddressInfo;
  const server: EmbeddingsServer = {
    url: `http://127.0.0.1:${port}/v1/embeddings`,
    sent,
    answer: sendVectors,
    async [Symbol.asyncDispose]() {
      const closed = once(http, "close");
      http.close();
      http.closeAllConnections();
      await closed;
    },
  };
  return server;
}

function startShop(): Promise<ScriptedServer> {
  return startScriptedServer({
    tools: () =>
      Object.entries(described).map(([name, description]) => ({ ...toolNamed(name), description })),
    call: (_request, name) => ({ content: [{ type: "text", text: name }] }),
  });
}

function startShopGateway(
  shop: ScriptedServer,
  endpoint: EmbeddingsServer,
  home: string,
  settings: JsonObject = {},
): Promise<TestGateway> {
  const headers = { "X-Key": { secret_key_ref: { env: "KEY" } } };
  const transport = { kind: "streamable_http", url: shop.url, headers };
  const embeddings = {
    ...{ url: endpoint.url, model: "meanings", secret_key_ref: { env: "API_KEY" }, timeout_ms: 10_000 },
    ...settings,
  };
  return startTestGateway(
    {
      tool_servers: [onHttp("shop", shop.url, { transport })],
      search: { learn: false, embeddings },
      policy: { clients: { ben: { deny: ["shop:refund"] } } },
    },
    { clients: ["ann", "ben"], home, environment: { KEY: secret, API_KEY: apiKey } },
  );
}

async function search(client: Client, query: string, limit = 5): Promise<readonly string[]> {
  const result = await client.callTool({ name: "search_tools", arguments: { query, limit } });
  const { tools } = result.structuredContent as { readonly tools: readonly { readonly name: string }[] };
  return tools.map(({ name }) => name.replace("shop__", ""));
}

async function untilFetched({ gateway }: TestGateway): Promise<void> {
  await waitUntil(() => gateway.status().embeddings?.vectors === 4, { what: "4 vectors" });
}

/** The texts of definitions, which are sent together. */
function definitionsIn({ sent }: EmbeddingsServer): readonly string[] {
  return sent.filter(({ input }) => input.length > 1).flatMap(({ input }) => input);
}

test("search goes by meaning among the tools of the client, and what is sent has no secret", async () => {
  await using shop = await startShop();
  await using endpoint = await startEmbeddings();
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  {
    await using gateway = await startShopGateway(shop, endpoint, home);
    await untilFetched(gateway);
    const [ann, ben] = [await gateway.connect({ as: "ann" }), await gateway.connect({ as: "ben" })];
    // No tool has the word "inventory".
    assert.equal((await search(ann, "inventory"))[0], "stock");
    assert.equal((await search(ann, `money ${secret}`))[0], "refund");
    // "reimburse" is a word of one tool, and means another one more.
    const [first, second, ...others] = await gateway.gateway.search(operator, "reimburse money", 5, true);
    assert.deepEqual([first?.id, second?.id].sort(), ["shop:refund", "shop:salaries"]);
    const refund = [first, second].find((hit) => hit?.id === "shop:refund");
    assert.deepEqual([refund?.ranks?.words, refund?.ranks?.meaning], [undefined, 1]);
    const salaries = [first, second].find((hit) => hit?.id === "shop:salaries");
    assert.equal(salaries?.ranks?.words, 1);
    assert.equal(salaries?.parts?.[0]?.word, "reimburse");
    assert.equal(others.length, 2);
    // What a client may not use does not exist for it, whatever it means.
    assert.equal((await search(ben, "money")).includes("refund"), false);
    // The name of a tool is no text to send.
    const count = endpoint.sent.length;
    assert.equal((await search(ann, "shop__stock"))[0], "stock");
    // The same query of the same client is sent once; that of another one again.
    await search(ann, "inventory");
    assert.equal(endpoint.sent.length, count);
    await search(ben, "inventory");
    assert.equal(endpoint.sent.length, count + 1);

    const all = JSON.stringify(endpoint.sent.map(({ input }) => input));
    assert.doesNotMatch(all, new RegExp(`${secret}|${apiKey}`));
    assert.deepEqual(
      new Set(endpoint.sent.map(({ authorization }) => authorization)),
      new Set([`Bearer ${apiKey}`]),
    );
    assert.equal(definitionsIn(endpoint).length, 4);
    assert.doesNotMatch(JSON.stringify(gateway.logger.records), new RegExp(apiKey));
    assert.equal(gateway.gateway.status().embeddings?.reason, undefined);
    const status = await fetch(new URL("/api/v1/status", await gateway.endpoint()), {
      headers: { authorization: `Bearer ${readToken(home, "ann")}` },
    });
    assert.equal(status.status, 200);
    assert.doesNotMatch(await status.text(), /meanings/);
  }
  // The vectors are kept, readable by their owner only, and without texts.
  const folder = join(home, "embeddings");
  const [file, ...more] = readdirSync(folder);
  assert.match(file ?? "", /^[0-9a-f]{40}\.vectors$/);
  assert.deepEqual(more, []);
  assert.equal(statSync(join(folder, file!)).mode & 0o777, 0o600);
  endpoint.sent.length = 0;
  {
    await using gateway = await startShopGateway(shop, endpoint, home);
    await untilFetched(gateway);
    assert.equal((await gateway.gateway.search(operator, "inventory", 5))[0]?.id, "shop:stock");
    assert.deepEqual(definitionsIn(endpoint), []);
  }
  // A damaged file is fetched again, and replaced.
  writeFileSync(join(folder, file!), '{"version":1,"length":4,"sha256":"00"}\nxx');
  {
    await using gateway = await startShopGateway(shop, endpoint, home);
    await untilFetched(gateway);
    assert.equal(definitionsIn(endpoint).length, 4);
    const codes = gateway.logger.records.map(({ fields }) => (fields as { readonly code?: string }).code);
    assert.equal(codes.includes("EMBEDDINGS_FILE_UNREADABLE"), true);
  }
  assert.equal(statSync(join(folder, file!)).size > 4 * (32 + 4 * 4), true);
});

test("an endpoint that does not answer in time leaves search by words as it is", async () => {
  await using shop = await startShop();
  await using endpoint = await startEmbeddings();
  await using directory = await makeTemporaryDirectory();
  await using gateway = await startShopGateway(shop, endpoint, join(directory.path, "home"), {
    timeout_ms: 50,
  });
  await untilFetched(gateway);
  endpoint.answer = (response) => response.flushHeaders();
  const hits = await gateway.gateway.search(operator, "goods of the warehouse", 5, true);
  assert.deepEqual(
    hits.map(({ id, ranks }) => [id, ranks]),
    [["shop:stock", undefined]],
  );
  assert.match(gateway.gateway.status().embeddings?.reason ?? "", /did not answer a query within 50 ms/);
});

test("an endpoint that fails or lies leaves search by words as it is", slowTest, async () => {
  await using shop = await startShop();
  await using endpoint = await startEmbeddings();
  await using directory = await makeTemporaryDirectory();
  const status = (code: number) => (response: ServerResponse) => {
    response.writeHead(code).end(`the key was ${apiKey}`);
  };
  endpoint.answer = status(500);
  // No machine is too slow for an endpoint that answers.
  await using gateway = await startShopGateway(shop, endpoint, join(directory.path, "home"), {
    timeout_ms: 10_000,
  });
  const { logger } = gateway;
  const reason = () => gateway.gateway.status().embeddings?.reason;
  const byWords = async () => {
    const hits = await gateway.gateway.search(operator, "goods of the warehouse", 5, true);
    assert.deepEqual(
      hits.map(({ id, ranks }) => [id, ranks]),
      [["shop:stock", undefined]],
    );
  };
  await waitUntil(() => reason()?.includes("status 500"));
  await byWords();
  // One text that the endpoint does not take keeps no other one waiting.
  endpoint.answer = (response, sent) => {
    if (sent.input.some((one) => one.includes("parcel"))) status(400)(response);
    else sendVectors(response, sent);
  };
  await waitUntil(() => gateway.gateway.status().embeddings?.vectors === 3, { what: "3 vectors" });
  endpoint.answer = sendVectors;
  await untilFetched(gateway);
  await waitUntil(() => reason() === undefined);

  // An answer that is not one vector for each text.
  const wrong = [
    "nothing",
    JSON.stringify({ data: [] }),
    JSON.stringify({ data: [{ index: 0, embedding: ["x"] }] }),
    JSON.stringify({ data: [{ index: 0, embedding: [0, 0, 0, 0] }] }),
    JSON.stringify({ data: [{ index: 7, embedding: [1, 0, 0, 0] }] }),
  ];
  const answers = wrong.map((body) => (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  let at = 0;
  endpoint.answer = (response) => answers[at % answers.length]!(response);
  const before = endpoint.sent.length;
  await waitUntil(async () => {
    await byWords();
    const failed = endpoint.sent.length - before;
    at = failed;
    return failed >= 2;
  });
  assert.match(reason() ?? "", /answer of the embeddings endpoint/);
  endpoint.answer = sendVectors;
  await waitUntil(async () => {
    const [hit] = await gateway.gateway.search(operator, "inventory", 5, true);
    return hit?.ranks?.meaning === 1;
  });
  assert.equal(reason(), undefined);
  // Each finding is logged once, and none quotes the endpoint.
  const findings = logger.records.filter(({ message }) => message.includes("embeddings do not work"));
  assert.equal(new Set(findings.map(({ fields }) => JSON.stringify(fields))).size, findings.length);
  assert.equal(findings.length >= 3, true);
  assert.doesNotMatch(JSON.stringify(findings), new RegExp(apiKey));
});

test("definitions past the vectors that are kept are found by words, and the status says so", async () => {
  // Vectors of the greatest length: 2,048 of them take all bytes that are kept.
  const [length, kept, count] = [8192, 2048, 2060];
  await using shop = await startScriptedServer({
    tools: () =>
      Array.from({ length: count }, (_, at) => ({
        ...toolNamed(`tool-${at}`),
        description: at === count - 1 ? "Follow a parcel" : "Count goods",
      })),
  });
  await using endpoint = await startEmbeddings();
  endpoint.answer = (response, { input }) => {
    const embedding = [1, ...Array.from({ length: length - 1 }, () => 0)];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ data: input.map((_, index) => ({ index, embedding })) }));
  };
  await using directory = await makeTemporaryDirectory();
  await using gateway = await startShopGateway(shop, endpoint, join(directory.path, "home"));
  await waitUntil(() => gateway.gateway.status().embeddings?.reason !== undefined);
  const { embeddings } = gateway.gateway.status();
  const excess = count - kept;
  assert.match(
    embeddings?.reason ?? "",
    new RegExp(`^${excess} of ${count} definitions have no vector: ${kept} are kept$`),
  );
  const logged = gateway.logger.records.map(({ fields }) => (fields as { code?: unknown }).code);
  assert.ok(logged.includes("EMBEDDINGS_TOO_MANY"));
  const hits = await gateway.gateway.search(operator, "follow a parcel", 10, true);
  assert.ok(hits.some(({ id }) => id === `shop:tool-${count - 1}`));
});
