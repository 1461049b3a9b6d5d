/** Clients that can be asked share the session of a server until it has asked once; then they get sessions of their own. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { startEchoHttpServer, waitUntil } from "@toolcrib/testing";
import {
  createAskableClient,
  createCall,
  createClient,
  echoStdio,
  failureOf,
  type RememberedServer,
  startSource,
} from "./source-harness.ts";

test("clients that can be asked share the process of a server that asks nothing", async () => {
  await using source = await startSource({ transport: echoStdio(), isInteractive: "learnt" });
  const clients = ["ada", "alan", "grace"].map((name) => createAskableClient(name));
  const texts = await Promise.all(
    clients.map((client, at) => source.text("echo", { text: `${at}` }, createCall({ client }))),
  );
  assert.deepEqual(texts, ["0", "1", "2"]);
  assert.equal(source.server.facts().clientSessions, 0);
});

test("a question on the shared session reaches nobody; from the next call on, it reaches its client", async () => {
  const saved: RememberedServer[] = [];
  await using source = await startSource({
    transport: echoStdio(),
    isInteractive: "learnt",
    remember: (definitions) => void saved.push(definitions),
  });
  const [ada, alan] = [createAskableClient("ada"), createAskableClient("alan")];
  const refused = await failureOf(source.call("ask_sampling", {}, createCall({ client: ada })));
  assert.match(
    refused.message,
    /"sampling\/createMessage" was refused on the session .* that all clients share/,
  );
  assert.deepEqual([ada.asked, alan.asked], [[], []]);
  assert.match(await source.text("ask_sampling", {}, createCall({ client: ada })), /ada/);
  assert.match(await source.text("ask_sampling", {}, createCall({ client: alan })), /alan/);
  assert.equal(source.server.facts().clientSessions, 2);
  // A client without that capability goes on sharing.
  const plain = createClient({ capabilities: { roots: {} } });
  await source.call("echo", {}, createCall({ client: plain }));
  assert.equal(source.server.facts().clientSessions, 2);
  await waitUntil(() => saved.at(-1)?.asks?.includes("sampling") === true);
});

test("what a server asked for is remembered", async () => {
  const remembered: RememberedServer = {
    capabilities: { extensions: { "example.com/x": {} } },
    instructions: undefined,
    tools: [],
    resources: [],
    resourceTemplates: [],
    prompts: [],
    asks: ["elicitation", "__proto__", "tools"],
  };
  await using source = await startSource({ transport: echoStdio(), isInteractive: "learnt", remembered });
  const client = createAskableClient("ada");
  assert.match(await source.text("ask_elicitation", {}, createCall({ client })), /ada/);
  const other = createClient({ capabilities: { tools: {} } });
  await source.call("echo", {}, createCall({ client: other }));
  assert.equal(source.server.facts().clientSessions, 1);
  // So are its extensions: the first call of a client that has one of them is not made on the shared session.
  const extended = createClient({ capabilities: { extensions: { "example.com/x": {} } } });
  await source.call("echo", {}, createCall({ client: extended }));
  assert.equal(source.server.facts().clientSessions, 2);
});

test("a question on the stream of its call reaches the client of that call at once", async () => {
  await using echo = await startEchoHttpServer();
  const transport = { kind: "streamable_http", url: echo.url, headers: {} } as const;
  await using source = await startSource({ transport, isInteractive: "learnt" });
  const clients = [createAskableClient("ada"), createAskableClient("alan")];
  const texts = await Promise.all(
    clients.map((client) => source.text("ask_sampling", {}, createCall({ client }))),
  );
  assert.match(texts[0] ?? "", /ada/);
  assert.match(texts[1] ?? "", /alan/);
});
