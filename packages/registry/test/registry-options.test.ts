/** The options of a registry: backends that share a namespace, search, listing, and what is refused. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { isCodedError } from "@toolcrib/diagnostics";
import { createRegistry, type Registry, type RegistryConfig } from "@toolcrib/registry";
import { checkGolden, startEchoHttpServer, startEchoSseServer, waitUntil } from "@toolcrib/testing";

const anyInput = { type: "object" };

function idsOf(registry: Registry, options: Parameters<Registry["listTools"]>[0] = {}): readonly string[] {
  return registry.listTools(options).tools.map(({ id }) => id);
}

/** Serves `registry` to `use` over streamable HTTP. */
async function withClient<Result>(
  registry: Registry,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  const server = createServer(registry.serveHttp() as never);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const client = new Client({ name: "test", version: "1" });
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)) as never);
    return await use(client);
  } finally {
    await client.close();
    server.close();
  }
}

async function listedNames(registry: Registry): Promise<readonly string[]> {
  return withClient(registry, async (client) => (await client.listTools()).tools.map(({ name }) => name));
}

describe("backends that serve one namespace", () => {
  it("are alternatives among which the selector chooses for each call", async () => {
    await using first = await startEchoHttpServer({});
    await using second = await startEchoSseServer({});
    let preferred = "second";
    const offered = new Set<string>();
    await using registry = createRegistry({
      backendSelector: (backends) => {
        for (const { kind, source } of backends) offered.add(`${kind} ${source.id}`);
        return backends.find(({ source }) => source.id === preferred);
      },
    });
    registry.registerBackend({ name: "first", namespace: "echo", url: first.url });
    registry.registerBackend({
      name: "second",
      namespace: "echo",
      url: second.url.replace("http://", "sse://"),
    });
    await registry.start();
    assert.deepEqual(registry.namespaces(), ["echo"]);
    assert.equal(idsOf(registry).filter((id) => id === "echo:echo").length, 1);
    assert.equal(await registry.execute("echo:echo", { text: "a" }), "a");
    assert.deepEqual([...offered].sort(), ["mcp first", "mcp second"]);
    preferred = "neither";
    await assert.rejects(registry.execute("echo:echo", { text: "a" }), /chose no backend of "echo:echo"/);
    preferred = "first";
    await registry.unregisterBackend("second");
    assert.equal(await registry.execute("echo:echo", { text: "b" }), "b");
    await registry.unregisterBackend("first");
    assert.deepEqual(registry.namespaces(), []);
  });

  it("are waited for by their namespace while they start", async () => {
    await using server = await startEchoHttpServer({});
    await using registry = createRegistry();
    await registry.start();
    registry.registerBackend({ name: "late", namespace: "echo", url: server.url });
    assert.equal(await registry.execute("echo:echo", { text: "waited" }), "waited");
  });

  it("are reachable by the namespace in the policy, also for changes of lists", async () => {
    await using server = await startEchoHttpServer({});
    await using registry = createRegistry({ policy: { allow: ["echo:echo", "own:*"] } });
    await registry.start();
    await withClient(registry, async (client) => {
      let changes = 0;
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
        changes += 1;
      });
      await client.listTools();
      registry.registerBackend({ name: "remote", namespace: "echo", url: server.url });
      await waitUntil(() => changes === 1);
      registry.registerLocal("new", "A new tool", anyInput, () => null, { namespace: "own" });
      await waitUntil(() => changes === 2);
      const names = (await client.listTools()).tools.map(({ name }) => name);
      assert.ok(names.includes("echo__echo") && names.includes("own__new"));
      assert.ok(!names.includes("echo__structured"));
    });
  });
});

it("the selector of a registry is asked only where there is a choice, and never about Toolcrib's own tools", async () => {
  const asked: string[] = [];
  await using registry = createRegistry({
    backendSelector: (backends) => {
      asked.push(...backends.map(({ tool }) => tool.id));
      return backends[0];
    },
  });
  registry.registerLocal("add", "Adds", anyInput, () => 3);
  await registry.start();
  assert.equal(await registry.execute("add"), "3");
  await registry.execute("toolcrib:search_tools", { query: "add" });
  assert.deepEqual(asked, []);
});

describe("the search of a registry", () => {
  async function found(search: RegistryConfig["search"]): Promise<readonly string[]> {
    await using registry = createRegistry({ search });
    registry.registerLocal("invoice", "Makes a document for customers", anyInput, () => null);
    registry.registerLocal("send", "Sends an invoice, each invoice by mail", anyInput, () => null);
    await registry.start();
    return registry.search("invoice").map(({ id }) => id);
  }

  it("ranks by its options", async () => {
    assert.deepEqual(await found(undefined), ["invoice", "send"]);
    assert.deepEqual(await found({ fields: { name: { boost: 0.1 }, description: { boost: 5 } } }), [
      "send",
      "invoice",
    ]);
    assert.deepEqual(await found({ k1: 2, fields: { name: { boost: 0 } } }), ["send"]);
  });
});

describe("the listing of a registry", () => {
  async function startedWith(listing: RegistryConfig["listing"]): Promise<Registry> {
    const registry = createRegistry({ listing });
    registry.registerLocal("add", "Adds", anyInput, () => 3);
    registry.registerLocal("remove", "Removes", anyInput, () => 4);
    await registry.start();
    return registry;
  }

  it("can be that of Toolcrib's own tools, with pinned tools", async () => {
    await using registry = await startedWith({ mode: "search", pinned: ["add"] });
    assert.deepEqual((await listedNames(registry)).toSorted(), [
      "add",
      "call_tool",
      "describe_tool",
      "read_more",
      "search_tools",
    ]);
  });

  it("can be without Toolcrib's own tools, which then do not exist", async () => {
    await using registry = await startedWith({ ownTools: false, hidden: ["remove"] });
    assert.deepEqual(await listedNames(registry), ["add"]);
    await assert.rejects(registry.execute("toolcrib:search_tools", { query: "add" }), /No tool has the id/);
    assert.equal(await registry.execute("remove"), "4");
  });

  it("of the program has Toolcrib's own tools if it asks for them", async () => {
    await using registry = await startedWith({});
    assert.deepEqual(idsOf(registry), ["add", "remove"]);
    assert.deepEqual(idsOf(registry, { ownTools: true }).toSorted(), [
      "add",
      "remove",
      "toolcrib:call_tool",
      "toolcrib:describe_tool",
      "toolcrib:search_tools",
    ]);
  });
});

describe("options that a registry does not know", () => {
  it("are refused with what is allowed", async () => {
    await using registry = createRegistry();
    await registry.start();
    const url = "http://127.0.0.1:1/mcp";
    const cases: readonly (readonly [title: string, work: () => unknown])[] = [
      ["unknown option", () => createRegistry({ backendSelektor: () => undefined } as never)],
      ["no object", () => createRegistry([] as never)],
      ["unknown option of the policy", () => createRegistry({ policy: { alow: ["a:*"] } } as never)],
      ["wrong list of the policy", () => createRegistry({ policy: { deny: "a:*" } } as never)],
      [
        "unknown rule of a client",
        () => createRegistry({ policy: { clients: { jane: { denny: ["a:*"] } } } } as never),
      ],
      ["negative k1", () => createRegistry({ search: { k1: -1 } })],
      ["no number", () => createRegistry({ search: { k1: Number.NaN } })],
      ["b above 1", () => createRegistry({ search: { fields: { name: { b: 2 } } } })],
      ["unknown field", () => createRegistry({ search: { fields: { nmae: { boost: 1 } } } } as never)],
      ["unknown mode", () => createRegistry({ listing: { mode: "serach" } } as never)],
      ["mode without tools", () => createRegistry({ listing: { mode: "search", ownTools: false } })],
      [
        "unknown option of a backend",
        () => registry.registerBackend({ name: "x", url, maxRetry: 1 } as never),
      ],
      ["no name", () => registry.registerBackend({ url } as never)],
      ["negative retries", () => registry.registerBackend({ name: "x", url, maxRetries: -1 })],
      ["part of a retry", () => registry.registerBackend({ name: "x", url, maxRetries: 1.5 })],
      ["negative interval", () => registry.registerBackend({ name: "x", url, retryInterval: -250 })],
      [
        "a secret in the wrong place",
        () => registry.registerBackend({ name: "x", url, headers: "Bearer abc" } as never),
      ],
      [
        "a header that is no text",
        () => registry.registerBackend({ name: "x", url, headers: { "X-Key": 1 } } as never),
      ],
      ["reserved namespace", () => registry.registerBackend({ name: "x", namespace: "toolcrib", url })],
      [
        "unknown option of a tool",
        () => registry.registerLocal("t", "T", anyInput, () => 0, { tag: ["a"] } as never),
      ],
      ["unknown option of a list", () => registry.listTools({ namespce: "a" } as never)],
      ["negative limit", () => registry.listTools({ limit: -1 })],
      ["unknown option of a handler", () => registry.serveHttp({ authentication: () => undefined } as never)],
      ["unknown option of a call", () => registry.execute("a", {}, { onprogress: () => undefined } as never)],
    ];
    const lines: string[] = [];
    for (const [title, work] of cases) {
      try {
        await work();
        lines.push(`${title}\nnothing was refused`);
      } catch (error) {
        assert.ok(isCodedError(error), String(error));
        lines.push(`${title}\n${error.code}\n${error.message}\nhint: ${error.hint}`);
      }
    }
    checkGolden(join(import.meta.dirname, "golden/registry-options.txt"), `${lines.join("\n\n")}\n`);
    assert.deepEqual(registry.health().backends, {});
  });

  it("do not include undefined values", async () => {
    await using registry = createRegistry({ search: undefined, policy: { allow: undefined } } as never);
    await registry.start();
    assert.equal(registry.health().state, "started");
  });
});
