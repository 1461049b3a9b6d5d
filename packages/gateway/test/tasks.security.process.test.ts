/** Results of tasks: who may read them after the operator decided otherwise, and what they pass after a restart. */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { CallToolResultSchema, CreateTaskResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { readToken, tokenDirectory } from "@toolcrib/auth";
import type { JsonObject } from "@toolcrib/json";
import { loadTasksV1, makeTemporaryDirectory, serveV1, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { callsIn, onHttp, readAudit, startTestGateway, textOf } from "./gateway-harness.ts";
import { program as hook } from "./hooks-harness.ts";

const { createTaskProgram, createTasksV1Server } = await loadTasksV1();

const operator = localIdentity("cli", "operator");

/** Connections to `target` that wait while the gate is closed. */
async function startGate(target: string) {
  const { port, pathname } = new URL(target);
  const sockets = new Set<Socket>();
  let opened = Promise.resolve();
  let open = () => {};
  let isRefusing = false;
  let cutting: string | undefined;
  const server = createServer((client) => {
    client.on("error", () => {});
    if (isRefusing) {
      client.destroy();
      return;
    }
    sockets.add(client);
    void opened.then(() => {
      const upstream = connect(Number(port), "127.0.0.1");
      sockets.add(upstream);
      upstream.on("error", () => client.destroy());
      client.on("close", () => upstream.destroy());
      client.on("data", (data) => {
        if (cutting === undefined || !data.includes(cutting)) return;
        cutting = undefined;
        for (const socket of sockets) socket.destroy();
      });
      client.pipe(upstream).pipe(client);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    close() {
      ({ promise: opened, resolve: open } = Promise.withResolvers<void>());
      for (const socket of sockets) socket.destroy();
    },
    open() {
      isRefusing = false;
      open();
    },
    /** Ends all connections, and each new one at once. */
    refuse() {
      isRefusing = true;
      for (const socket of sockets) socket.destroy();
    },
    /** Ends all connections before the next request with this text reaches the server. */
    cut(text: string) {
      cutting = text;
    },
    get isCut() {
      return cutting === undefined;
    },
    async [Symbol.asyncDispose]() {
      open();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function begin(client: Client, name: string, args: JsonObject, ttl = 60_000): Promise<string> {
  const params = { name, arguments: args, task: { ttl } };
  const { task } = await client.request({ method: "tools/call", params }, CreateTaskResultSchema);
  return task.taskId;
}

/** The text of the result of a task, which says why it is withheld where it is. */
async function read(client: Client, id: string): Promise<string> {
  return textOf(await client.experimental.tasks.getTaskResult(id, CallToolResultSchema));
}

const untilEnded = (client: Client, id: string) =>
  waitUntil(async () => (await client.experimental.tasks.getTask(id)).status === "completed");

describe("the result of a task that ended", () => {
  test("is withheld while its tool is denied, paused, quarantined or gone, and kept", async () => {
    using program = createTaskProgram();
    await using served = await serveV1(() => createTasksV1Server(program));
    await using folder = await makeTemporaryDirectory();
    const home = join(folder.path, "home");
    const jobs = onHttp("jobs", served.url);
    const start = (document: JsonObject, files?: { readonly [path: string]: string }) =>
      startTestGateway({ tool_servers: [jobs], ...document }, { clients: ["ada"], home, files });
    let open = "";
    let secret = "";
    {
      await using gateway = await start({});
      const ada = await gateway.connect({ as: "ada" });
      open = await begin(ada, "jobs__slow", { text: "open" });
      secret = await begin(ada, "jobs__slow", { text: "secret" });
      await Promise.all([open, secret].map((id) => untilEnded(ada, id)));
      // Paused, and read again.
      for (const [kind, name] of [
        ["tool", "jobs:slow"],
        ["server", "jobs"],
        ["client", "ada"],
        ["all", ""],
      ] as const) {
        await gateway.gateway.pauses.pause({ kind, name }, operator);
        assert.match(await read(ada, open), /withheld: its calls are paused\nHint: it is kept/, kind);
        const { statusMessage } = await ada.experimental.tasks.getTask(open);
        assert.match(statusMessage ?? "", /withheld/);
        await gateway.gateway.pauses.resume({ kind, name }, operator);
        assert.equal(await read(ada, open), "open");
      }
    }
    /** Returns what `ada` reads of the two tasks under another configuration. */
    const readBoth = async (document: JsonObject, files?: { readonly [path: string]: string }) => {
      await using gateway = await start(document, files);
      const ada = await gateway.connect({ as: "ada" });
      return [await read(ada, open), await read(ada, secret)].map((text) => text.split("\n")[0]);
    };
    const denied = "The result of the task is withheld: the policy does not allow this call";
    const clients = { ada: { deny: ["jobs:slow"] } };
    // A tool that is not listed for a client does not exist for it, and neither do its tasks.
    await assert.rejects(readBoth({ policy: { clients } }), /Task not found/);
    // A policy about arguments decides about those of the call.
    const cedar = `permit(principal, action, resource);
      forbid(principal, action == Action::"call", resource == Tool::"jobs:slow")
        when { context.arguments.hasTag("text") && context.arguments.getTag("text") == "secret" };`;
    assert.deepEqual(await readBoth({ policy: { files: ["main.cedar"] } }, { "main.cedar": cedar }), [
      "open",
      denied,
    ]);
    const unverified = { ...jobs, trust_state: "unverified" };
    const held = "The result of the task is withheld: its tool is quarantined";
    assert.deepEqual(await readBoth({ tool_servers: [unverified] }), [held, held]);
    const gone = "The result of the task is withheld: its server is not configured";
    assert.deepEqual(await readBoth({ tool_servers: [] }), [gone, gone]);
    // A server that is down takes nothing back.
    const down = onHttp("jobs", "http://127.0.0.1:1/mcp");
    assert.deepEqual(await readBoth({ tool_servers: [down] }), ["open", "secret"]);
    assert.deepEqual(await readBoth({}), ["open", "secret"]);
  });
});

describe("the result of a task that a restart resumed", () => {
  test("passes hooks and redaction, and is denied where the policy changed", async () => {
    using program = createTaskProgram();
    await using served = await serveV1(() => createTasksV1Server(program));
    await using folder = await makeTemporaryDirectory();
    const home = join(folder.path, "home");
    const key = "kq7-Zt19-pwX3-mmd2";
    const transport = {
      kind: "streamable_http",
      url: served.url,
      headers: { "X-Key": { secret_key_ref: { env: "SERVER_SECRET" } } },
    };
    const replace = `
      const [{ text }] = q.result.content;
      const result = { ...q.result, content: [{ type: "text", text: text.replace("4111 1111", "[card]") }] };
      return { decision: "replace", result };`;
    const document = {
      tool_servers: [onHttp("jobs", served.url, { transport })],
      hooks: { after_call: [hook("cards", replace, { tools: ["jobs:report"] })] },
    };
    const start = () =>
      startTestGateway(document, { clients: ["ada"], home, environment: { SERVER_SECRET: key } });
    let id = "";
    {
      await using gateway = await start();
      const ada = await gateway.connect({ as: "ada" });
      id = await begin(ada, "jobs__report", { text: `paid with 4111 1111, key ${key}` });
      assert.equal(program.ran.length, 1);
    }
    {
      await using gateway = await start();
      const ada = await gateway.connect({ as: "ada" });
      const result = read(ada, id);
      await ada.callTool({ name: "jobs__release", arguments: {} });
      const text = await result;
      assert.match(text, /^paid with \[card\], key /);
      assert.doesNotMatch(text, /4111|kq7-Zt19/);
    }
    const records = readAudit(home);
    assert.deepEqual(
      callsIn(records).filter((line) => line.includes("report")),
      ["jobs:report intent, completed ok"],
    );
    const completed = records.find(
      ({ type, data }) => type === "call.completed" && JSON.stringify(data).includes("jobs:report"),
    );
    assert.match(JSON.stringify(completed?.data), /"cards"/);
    assert.doesNotMatch(JSON.stringify(records), /kq7-Zt19/);
  });
});

describe("limits of tasks", () => {
  test("come from the configuration, and status and metrics show what is used", async () => {
    using program = createTaskProgram();
    await using served = await serveV1(() => createTasksV1Server(program));
    const limits = { max_tasks: 3, task_ttl_seconds: 5, task_ttl_max_seconds: 7 };
    const document = { tool_servers: [onHttp("jobs", served.url)], serve: { limits } };
    await using gateway = await startTestGateway(document, { clients: ["ada", "bob"] });
    const ada = await gateway.connect({ as: "ada" });
    const bob = await gateway.connect({ as: "bob" });
    const ended = await begin(ada, "jobs__slow", { text: "done" });
    await untilEnded(ada, ended);
    assert.equal((await ada.experimental.tasks.getTask(ended)).ttl, 7000);
    await begin(ada, "jobs__report", {});
    await assert.rejects(begin(ada, "jobs__slow", {}), /This client's share of the tasks/);
    await begin(bob, "jobs__report", {});
    await assert.rejects(begin(bob, "jobs__slow", {}), /All 3 tasks that are kept at a time are in use/);
    // A refused task is no call, and plain calls go on.
    assert.equal(textOf(await bob.callTool({ name: "jobs__plain", arguments: {} })), "plain");
    const { resultBytes, ...counts } = gateway.gateway.status().tasks;
    assert.deepEqual(counts, { running: 2, asking: 0, ended: 1, refused: 2 });
    assert.ok(resultBytes > 0);
    const headers = { authorization: `Bearer ${readToken(gateway.home, "ada")}` };
    const metrics = await (await fetch(new URL("/metrics", await gateway.endpoint()), { headers })).text();
    assert.match(metrics, /^toolcrib_tasks\{state="working"\} 2$/m);
    assert.match(metrics, /^toolcrib_tasks\{state="ended"\} 1$/m);
    assert.match(metrics, /^toolcrib_tasks_refused_total 2$/m);
  });
});

describe("a token that was revoked", () => {
  /** Answers of the gateway to a request in a session. */
  const statusIn = async (endpoint: URL, session: string, token: string) => {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-session-id": session,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
    });
    await response.text();
    return response.status;
  };
  const sessionOf = ({ transport }: Client) => transport?.sessionId ?? "";
  const statesOf = (program: ReturnType<typeof createTaskProgram>) =>
    program.store.getAllTasks().map(({ status }) => status);

  for (const isRunning of [true, false]) {
    const when = isRunning ? "while the gateway runs" : "while no gateway runs";
    test(`loses its tasks and sessions for good ${when}; a later token of its name does not get them`, async () => {
      using program = createTaskProgram();
      await using served = await serveV1(() => createTasksV1Server(program));
      await using folder = await makeTemporaryDirectory();
      const home = join(folder.path, "home");
      const document = { tool_servers: [onHttp("jobs", served.url)] };
      const revoke = () => rmSync(join(tokenDirectory(home), "ada"));
      let task = "";
      let session = "";
      {
        await using gateway = await startTestGateway(document, { clients: ["ada"], home });
        const ada = await gateway.connect({ as: "ada" });
        session = sessionOf(ada);
        task = await begin(ada, "jobs__report", { text: "done" });
        const before = readToken(home, "ada");
        assert.equal(await statusIn(await gateway.endpoint(), session, before), 200);
        if (isRunning) {
          revoke();
          await waitUntil(() => statesOf(program).join() === "cancelled");
          await waitUntil(() => gateway.gateway.status().sessions === 0);
          assert.equal(gateway.gateway.status().tasks.running, 0);
        }
      }
      if (!isRunning) {
        assert.deepEqual(statesOf(program), ["working"]);
        revoke();
      }
      await using gateway = await startTestGateway(document, { clients: ["ada"], home });
      const endpoint = await gateway.endpoint();
      assert.equal(await statusIn(endpoint, session, readToken(home, "ada")), 404);
      const ada = await gateway.connect({ as: "ada" });
      await assert.rejects(read(ada, task), /Task not found/);
      await waitUntil(() => statesOf(program).join() === "cancelled");
      await waitUntil(() => gateway.gateway.status().tasks.running === 0);
    });
  }

  /** Creates a task of a client, ends the gateway, and revokes the token of the client. */
  const leaveRevoked = async (document: JsonObject, home: string) => {
    await using gateway = await startTestGateway(document, { clients: ["ada"], home });
    const ada = await gateway.connect({ as: "ada" });
    await begin(ada, "jobs__report", { text: "done" });
    rmSync(join(tokenDirectory(home), "ada"));
  };

  test("loses its tasks in a gateway that does not listen, as one that serves standard streams", async () => {
    using program = createTaskProgram();
    await using served = await serveV1(() => createTasksV1Server(program));
    await using folder = await makeTemporaryDirectory();
    const home = join(folder.path, "home");
    const document = { tool_servers: [onHttp("jobs", served.url)] };
    await leaveRevoked(document, home);
    assert.deepEqual(statesOf(program), ["working"]);
    await using gateway = await startTestGateway(document, { clients: [], home });
    await waitUntil(() => statesOf(program).join() === "cancelled");
    await waitUntil(() => gateway.gateway.status().tasks.running === 0);
  });

  test("loses its tasks at a server that answers only after the gateway noticed", async () => {
    using program = createTaskProgram();
    await using served = await serveV1(() => createTasksV1Server(program));
    await using gate = await startGate(served.url);
    await using folder = await makeTemporaryDirectory();
    const home = join(folder.path, "home");
    const document = { tool_servers: [onHttp("jobs", gate.url)] };
    await leaveRevoked(document, home);
    assert.deepEqual(statesOf(program), ["working"]);
    gate.close();
    await using gateway = await startTestGateway(document, { home, clients: [], isAwaited: false });
    // Long enough for several checks of the tokens. The outcome does not depend on it.
    await delay(2500);
    assert.deepEqual(statesOf(program), ["working"]);
    gate.open();
    await waitUntil(() => statesOf(program).join() === "cancelled");
    await waitUntil(() => gateway.gateway.status().tasks.running === 0);
  });

  for (const when of ["is away when the gateway notices", "loses the connection with the cancellation"]) {
    test(`loses its tasks at a server that ${when}`, async () => {
      using program = createTaskProgram();
      await using served = await serveV1(() => createTasksV1Server(program));
      await using gate = await startGate(served.url);
      const document = { tool_servers: [onHttp("jobs", gate.url)] };
      await using gateway = await startTestGateway(document, { clients: ["ada"] });
      const ada = await gateway.connect({ as: "ada" });
      const task = await begin(ada, "jobs__report", { text: "done" });
      assert.equal((await ada.experimental.tasks.getTask(task)).status, "working");
      if (when.startsWith("loses")) gate.cut("tasks/cancel");
      else gate.refuse();
      rmSync(join(tokenDirectory(gateway.home), "ada"));
      if (when.startsWith("loses")) await waitUntil(() => gate.isCut);
      // Long enough for two checks of the tokens. The outcome does not depend on it.
      else await delay(2500);
      assert.deepEqual(statesOf(program), ["working"]);
      gate.open();
      await waitUntil(() => statesOf(program).join() === "cancelled");
      await waitUntil(() => gateway.gateway.status().tasks.running === 0);
    });
  }

  test("loses its task also where the gateway ends before the server is back", async () => {
    using program = createTaskProgram();
    await using served = await serveV1(() => createTasksV1Server(program));
    await using gate = await startGate(served.url);
    await using folder = await makeTemporaryDirectory();
    const home = join(folder.path, "home");
    const document = { tool_servers: [onHttp("jobs", gate.url)] };
    {
      await using gateway = await startTestGateway(document, { clients: ["ada"], home });
      const ada = await gateway.connect({ as: "ada" });
      await begin(ada, "jobs__report", { text: "done" });
      gate.cut("tasks/cancel");
      rmSync(join(tokenDirectory(home), "ada"));
      await waitUntil(() => gate.isCut);
      gate.refuse();
    }
    assert.deepEqual(statesOf(program), ["working"]);
    gate.open();
    await using gateway = await startTestGateway(document, { clients: [], home });
    await waitUntil(() => statesOf(program).join() === "cancelled");
    await waitUntil(() => gateway.gateway.status().tasks.running === 0);
  });
});
