import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { isCodedError } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { createRegistry, type Registry, type RegistryConfig } from "@toolcrib/registry";
import { createPauseStore, openAuditReader } from "@toolcrib/store";
import {
  checkGolden,
  makeTemporaryDirectory,
  startEchoHttpServer,
  startEchoSseServer,
  waitUntil,
} from "@toolcrib/testing";

const echoSchema = { type: "object", properties: { message: { type: "string" } }, required: ["message"] };

async function startedRegistry(config: RegistryConfig = {}): Promise<Registry> {
  const registry = createRegistry({ serverInfo: { name: "my-mcp", version: "1.0.0" }, ...config });
  registry.registerLocal("echo", "Echoes back input", echoSchema, ({ message }) => ({ echo: message }), {
    namespace: "utility",
    tags: ["Echo", "debug", "echo "],
  });
  await registry.start();
  return registry;
}

async function thrownBy(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    assert.ok(isCodedError(error), String(error));
    const { rpcCode } = error as { readonly rpcCode?: number };
    return `${error.code} (JSON-RPC ${rpcCode})\n${error.message}${error.hint === undefined ? "" : `\nhint: ${error.hint}`}`;
  }
  assert.fail("nothing was thrown");
}

describe("createRegistry()", () => {
  it("executes a local tool by its namespaced id and maps its structured result", async () => {
    await using registry = await startedRegistry();
    assert.deepEqual(await registry.execute("utility:echo", { message: "hi" }), { echo: "hi" });
  });

  it("normalizes tags, and lists namespaces and tools by tags", async () => {
    await using registry = await startedRegistry();
    registry.registerLocal("plain", "No namespace", { type: "object" }, () => "text");
    assert.deepEqual(registry.getTool("utility:echo")?.tags, ["debug", "echo"]);
    assert.deepEqual(registry.namespaces(), ["", "utility"]);
    assert.deepEqual(
      registry.listTools({ tags: ["ECHO"] }).tools.map(({ id }) => id),
      ["utility:echo"],
    );
    assert.equal(await registry.execute("plain"), "text");
  });

  it("keeps several versions of a tool", async () => {
    await using registry = await startedRegistry();
    for (const version of ["1.0.0", "2.0.0"]) {
      registry.registerLocal("add", "Adds", { type: "object" }, () => version, {
        namespace: "math",
        version,
      });
    }
    assert.equal(await registry.execute("math:add:1.0.0"), "1.0.0");
    assert.equal(await registry.execute("math:add:2.0.0"), "2.0.0");
    assert.equal(await registry.execute("math:add"), "1.0.0");
  });

  it("maps results of a backend: structured content, else the single text, else the content list", async () => {
    await using server = await startEchoHttpServer({});
    await using registry = await startedRegistry();
    registry.registerBackend({ name: "remote", url: server.url });
    await waitUntil(() => registry.health().backends["remote"]?.state === "ready");
    assert.equal(await registry.execute("remote:echo", { text: "hello" }), "hello");
    const structured = (await registry.execute("remote:structured", { value: 1 })) as object;
    assert.equal(typeof structured, "object");
    assert.ok(registry.namespaces().includes("remote"));
  });

  it("reads sse:// URLs as the legacy SSE transport", async () => {
    await using server = await startEchoSseServer({});
    await using registry = createRegistry();
    registry.registerBackend({ name: "legacy", url: server.url.replace("http://", "sse://") });
    await registry.start();
    assert.equal(registry.health().backends["legacy"]?.state, "ready");
    assert.equal(await registry.execute("legacy:echo", { text: "hello" }), "hello");
  });

  it("prefers the local backend of a tool, and a selector overrides this", async () => {
    await using server = await startEchoHttpServer({});
    const local = { type: "object", properties: { text: { type: "string" } } };
    await using byDefault = createRegistry();
    byDefault.registerLocal("echo", "Local", local, () => "from here", { namespace: "both" });
    byDefault.registerBackend({ name: "both", url: server.url });
    await byDefault.start();
    assert.equal(await byDefault.execute("both:echo", { text: "from there" }), "from here");
    await using remoteFirst = createRegistry({
      backendSelector: (all) => all.find(({ kind }) => kind === "mcp") ?? all[0],
    });
    remoteFirst.registerLocal("echo", "Local", local, () => "from here", { namespace: "both" });
    remoteFirst.registerBackend({ name: "both", url: server.url });
    await remoteFirst.start();
    assert.equal(await remoteFirst.execute("both:echo", { text: "from there" }), "from there");
  });

  it("reports changes, and rejects cursors from before a change", async () => {
    await using registry = await startedRegistry();
    let changes = 0;
    const unsubscribe = registry.onChange(({ kind }) => {
      if (kind === "tools") changes += 1;
    });
    for (let at = 0; at < 5; at += 1)
      registry.registerLocal(`t${at}`, "A tool", { type: "object" }, () => at);
    assert.equal(changes, 5);
    const page = registry.listTools({ limit: 2 });
    assert.equal(page.tools.length, 2);
    assert.equal(registry.listTools({ limit: 2, cursor: page.nextCursor }).tools.length, 2);
    registry.registerLocal("later", "A tool", { type: "object" }, () => 0);
    assert.match(
      await thrownBy(() => registry.listTools({ limit: 2, cursor: page.nextCursor })),
      /CURSOR_STALE/,
    );
    unsubscribe();
  });

  it("finds tools by their purpose", async () => {
    await using registry = await startedRegistry();
    registry.registerLocal("send_mail", "Send an e-mail message to somebody", { type: "object" }, () => null);
    assert.equal(registry.search("write an email", 1)[0]?.id, "send_mail");
  });

  it("keeps an audit trail if it is configured", async () => {
    await using directory = await makeTemporaryDirectory();
    const auditHome = join(directory.path, "home");
    await using registry = await startedRegistry({ auditHome });
    await registry.execute("utility:echo", { message: "hi" });
    await registry.stop();
    await using reader = await openAuditReader({ home: auditHome });
    const records = await reader.list({ tool: "utility:echo" });
    assert.deepEqual(records.map(({ type }) => type).toSorted(), ["call.completed", "call.intent"]);
  });
});

describe("the registry's errors", () => {
  it("contain the cause and a fix", async () => {
    const lines: string[] = [];
    const add = async (sentinel: string, work: () => unknown) => {
      lines.push(`${sentinel}\n${await thrownBy(work)}\n`);
    };
    const fresh = createRegistry();
    await add("ErrNotStarted", () => fresh.execute("utility:echo", {}));
    await add("ErrNotStarted (serving)", () => fresh.serveHttp());
    await fresh.stop();
    await add("ErrNotStarted (stopped)", () => fresh.execute("utility:echo", {}));
    await using registry = await startedRegistry();
    await add("ErrAlreadyStarted", () => registry.start());
    await add("ErrToolNotFound", () => registry.execute("utility:ecko", {}));
    await add("ErrBackendNotFound", () => registry.unregisterBackend("nowhere"));
    await add("ErrHandlerNotFound", () =>
      registry.registerLocal("nothing", "No function", { type: "object" }, undefined as never),
    );
    registry.registerLocal("broken", "Always fails", { type: "object" }, () => {
      throw new Error("the disk is full");
    });
    await add("ErrExecutionFailed (the tool failed)", () => registry.execute("broken", {}));
    await add("ErrExecutionFailed (bad arguments)", () => registry.execute("utility:echo", { message: 1 }));
    await using strict = await startedRegistry({ policy: { deny: ["utility:*"] } });
    await add("ErrExecutionFailed (denied)", () => strict.execute("utility:echo", { message: "hi" }));
    await add("ErrInvalidRequest (arguments)", () => registry.execute("utility:echo", [] as never));
    await add("ErrInvalidRequest (name)", () =>
      registry.registerLocal("a b", "Bad", { type: "object" }, () => null),
    );
    await add("ErrInvalidRequest (twice)", () =>
      registry.registerLocal("echo", "Again", echoSchema, () => null, { namespace: "utility" }),
    );
    await add("ErrInvalidRequest (URL)", () =>
      registry.registerBackend({ name: "x", url: "ftp://example.com" }),
    );
    await add("ErrInvalidRequest (backend name)", () =>
      registry.registerBackend({ name: "a__b", url: "http://x" }),
    );
    checkGolden(join(import.meta.dirname, "golden/registry-errors.txt"), lines.join("\n"));
  });

  it("name the missing backend when a selector selects none", async () => {
    await using server = await startEchoHttpServer({});
    await using registry = createRegistry({ backendSelector: () => undefined });
    registry.registerLocal("echo", "Local", { type: "object" }, () => "here", { namespace: "both" });
    registry.registerBackend({ name: "both", url: server.url });
    await registry.start();
    assert.match(
      await thrownBy(() => registry.execute("both:echo", { text: "x" })),
      /^REGISTRY_BACKEND_NOT_FOUND/,
    );
  });
});

describe("a served registry", () => {
  const servers: Server[] = [];
  after(() => {
    for (const server of servers) server.close();
  });

  async function listen(handler: Parameters<typeof createServer>[1]): Promise<URL> {
    const server = createServer(handler as never);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  }

  it("lets SDK clients call namespaced tools over streamable HTTP", async () => {
    await using registry = await startedRegistry();
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(await listen(registry.serveHttp() as never)));
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === "utility__echo"));
    const result = await client.callTool({ name: "utility__echo", arguments: { message: "hi" } });
    assert.deepEqual(result.structuredContent, { echo: "hi" });
    await client.close();
  });

  it("distinguishes clients by the identity that the program returns, and refuses requests without one", async () => {
    await using home = await makeTemporaryDirectory();
    const identityOf = (subject: string) => ({ issuer: "https://id.test", subject, name: "same", roles: [] });
    const policy = {
      clients: { jane: { identity: identityOf("jane"), allow: undefined, deny: ["utility:*"] } },
    };
    await using registry = await startedRegistry({ policy, auditHome: home.path });
    const authenticate = ({ headers: { authorization = "" } }: IncomingMessage) => {
      if (authorization === "Bearer broken") throw new Error("the identity provider does not answer");
      const [, subject] = /^Bearer (jane|john)$/.exec(authorization) ?? [];
      return subject === undefined ? undefined : Promise.resolve(identityOf(subject));
    };
    const urls = [
      await listen(registry.serveHttp({ authenticate }) as never),
      await listen(registry.serveSse("/mcp", { authenticate }) as never),
    ];
    const namesFor = async (subject: string, url: URL, Transport: typeof StreamableHTTPClientTransport) => {
      const client = new Client({ name: "test", version: "1" });
      const requestInit = { headers: { authorization: `Bearer ${subject}` } };
      await client.connect(new Transport(url, { requestInit }));
      const { tools } = await client.listTools();
      if (subject === "john") await client.callTool({ name: "utility__echo", arguments: { message: "hi" } });
      await client.close();
      return tools.map(({ name }) => name).filter((name) => name.startsWith("utility__"));
    };
    for (const [at, url] of urls.entries()) {
      const Transport = (at === 0 ? StreamableHTTPClientTransport : SSEClientTransport) as never;
      assert.deepEqual(await namesFor("jane", url, Transport), []);
      assert.deepEqual(await namesFor("john", url, Transport), ["utility__echo"]);
      for (const authorization of ["", "Bearer other", "Bearer broken"]) {
        const response = await fetch(url, { method: "POST", headers: { authorization }, body: "{}" });
        assert.equal(response.status, 401);
        assert.equal(JSON.parse(await response.text()).error.data.code, "REGISTRY_UNAUTHORIZED");
      }
    }
    await registry.stop();
    await using reader = await openAuditReader({ home: home.path });
    const records = await reader.list({ type: "call.intent" });
    const clients = records.map(({ data }) => (data as { readonly client: object }).client);
    assert.equal(clients.length, 2);
    for (const client of clients) {
      const { issuer, subject } = client as { readonly issuer: string; readonly subject: string };
      assert.deepEqual([issuer, subject], ["https://id.test", "john"]);
    }
  });

  it("records a client as anonymous where the program passes no authentication", async () => {
    await using home = await makeTemporaryDirectory();
    await using registry = await startedRegistry({ auditHome: home.path });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(await listen(registry.serveHttp() as never)));
    await client.callTool({ name: "utility__echo", arguments: { message: "hi" } });
    await client.close();
    await registry.execute("utility:echo", { message: "hi" });
    await registry.stop();
    await using reader = await openAuditReader({ home: home.path });
    const records = await reader.list({ type: "call.intent" });
    assert.deepEqual(
      records.map(({ data }) => (data as { readonly client: { readonly issuer: string } }).client.issuer),
      ["toolcrib:library", "toolcrib:anonymous"],
    );
  });

  it("asks functions of the program about calls and results, of its own and of clients", async () => {
    const questions: JsonObject[] = [];
    await using registry = await startedRegistry({
      hooks: {
        beforeCall: {
          greeter: {
            tools: ["utility:*"],
            ask(question) {
              questions.push(question);
              const { message } = question["arguments"] as { readonly message: string };
              if (message === "no") return { decision: "deny", message: "be polite" };
              if (message === "throw") throw new Error("inner");
              return { decision: "replace", arguments: { message: `${message}!` } };
            },
          },
        },
        afterCall: {
          checker: {
            ask: async ({ result }) =>
              JSON.stringify(result).includes("card") ? { decision: "deny" } : { decision: "allow" },
          },
        },
      },
    });
    const call = (message: string) => registry.execute("utility:echo", { message });
    assert.deepEqual(await call("hi"), { echo: "hi!" });
    assert.match(await thrownBy(() => call("no")), /the hook "greeter" refused it: be polite/);
    assert.match(
      await thrownBy(() => call("throw")),
      /the hook "greeter" did not check it: it could not be asked/,
    );
    assert.match(await thrownBy(() => call("card")), /its result is withheld: the hook "checker" refused it/);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new SSEClientTransport(await listen(registry.serveSse("/mcp") as never)));
    const refused = await client.callTool({ name: "utility__echo", arguments: { message: "no" } });
    assert.match(JSON.stringify(refused), /be polite/);
    await client.close();
    assert.deepEqual(
      questions.map(({ phase, hook, tool }) => [phase, hook, tool]),
      Array.from({ length: 5 }, () => ["before_call", "greeter", "utility:echo"]),
    );
    assert.match(
      await thrownBy(() => createRegistry({ hooks: { beforeCall: { a: { tols: [] } } } } as never)),
      /Unknown option "hooks.beforeCall.a.tols"/,
    );
  });

  it("refuses what the operator of its home paused", async () => {
    await using home = await makeTemporaryDirectory();
    await using pauses = createPauseStore(home.path, { randomBytes });
    const pause = { kind: "server", name: "utility", pausedAt: Date.now() } as const;
    await pauses.put({ ...pause, pausedBy: { issuer: "toolcrib:cli", subject: "cli" } });
    await using registry = await startedRegistry({ auditHome: home.path });
    const call = () => registry.execute("utility:echo", { message: "hi" });
    assert.match(
      await thrownBy(call),
      /^REGISTRY_EXECUTION_FAILED .*\n"utility:echo" failed: "utility__echo" was not called: server "utility" is paused/,
    );
    await pauses.delete(pause);
    await waitUntil(async () => (await call().catch(() => undefined)) !== undefined);
  });

  it("lets SDK clients call namespaced tools over legacy SSE", async () => {
    await using registry = await startedRegistry();
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new SSEClientTransport(await listen(registry.serveSse("/mcp") as never)));
    const result = await client.callTool({ name: "utility__echo", arguments: { message: "hi" } });
    assert.deepEqual(result.structuredContent, { echo: "hi" });
    await client.close();
  });
});
