/** A composite has exactly the permissions of its caller, and names of tools cannot be abused. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { JsonObject } from "@toolcrib/json";
import { slowTest, waitUntil } from "@toolcrib/testing";
import {
  approve,
  callsIn,
  configOf,
  onHttp,
  somebody,
  startScriptedServer,
  startTestGateway,
  startWaitingServer,
  toolNamed,
} from "./gateway-harness.ts";

/** Calls a tool and returns its structured result. */
async function call(client: Pick<Client, "callTool">, name: string, given: object = {}): Promise<JsonObject> {
  const result = await client.callTool({ name, arguments: { ...given } });
  return (result.structuredContent ?? { isError: result.isError, content: result.content }) as JsonObject;
}

const save = (client: Pick<Client, "callTool">, name: string, code: string) =>
  call(client, "save_tool", { name, description: "d", inputSchema: {}, code });

function typeOf(answer: JsonObject): unknown {
  return (answer["error"] as JsonObject | undefined)?.["type"];
}

describe("the authority of a composite", () => {
  it("is decided again after a wait for the lists of servers", async () => {
    const listed = Promise.withResolvers<void>();
    const received: string[] = [];
    await using server = await startScriptedServer({
      async tools() {
        await listed.promise;
        return [toolNamed("get")];
      },
      call(_request, name) {
        received.push(name);
        return { content: [] };
      },
    });
    const document = (deny: readonly string[]) => ({
      tool_servers: [onHttp("s", server.url)],
      serve: { listen: "127.0.0.1:0", list_wait_seconds: 30 },
      policy: { clients: { guest: { deny } } },
    });
    await using test = await startTestGateway(document([]), { clients: ["guest"], isAwaited: false });
    const guest = await test.connect({ as: "guest" });
    const names = ["eval_starlark", "search_tools"];
    const answers = [
      guest.callTool({ name: "eval_starlark", arguments: { code: "return s.get()" } }),
      guest.callTool({ name: "search_tools", arguments: { query: "get" } }),
    ];
    await waitUntil(() => names.every((name) => callsIn(test.audit()).some((call) => call.includes(name))), {
      what: "the calls are admitted",
    });
    const denying = configOf(document(["toolcrib:*"]));
    assert.equal((await test.gateway.applyConfig(denying, ["toolcrib.json"])).error, undefined);
    listed.resolve();
    const texts = await Promise.all(answers.map((answer) => answer.then(JSON.stringify, String)));
    assert.deepEqual(
      texts.map((text) => /Unknown tool: "\w+"/.exec(text)?.[0]),
      names.map((name) => `Unknown tool: "${name}"`),
    );
    assert.deepEqual(received, []);
  });

  it("is that of its caller: denied tools stay denied by every route", slowTest, async () => {
    let deletions = 0;
    await using server = await startScriptedServer({
      tools: () => [toolNamed("get"), toolNamed("delete")],
      call(_request, name) {
        if (name === "delete") deletions += 1;
        return { content: [], structuredContent: { name } };
      },
    });
    await using test = await startTestGateway(
      {
        tool_servers: [onHttp("s", server.url)],
        policy: { clients: { guest: { deny: ["s:delete"] } } },
      },
      { clients: ["owner", "guest"] },
    );
    const owner = await test.connect({ as: "owner" });
    const guest = await test.connect({ as: "guest" });

    await save(owner, "wipe", "return s.delete().name");
    await save(owner, "outer", "return saved.wipe()");
    await save(owner, "chosen", 'return tools[params.get("name", "s__delete")]().name');
    for (const name of ["wipe", "outer", "chosen"])
      assert.equal((await call(owner, name))["result"], "delete");
    assert.equal(deletions, 3);
    await save(owner, "recorded", "return s.delete().name");
    await call(owner, "test_saved_tool", { name: "recorded", record: true });
    assert.equal(deletions, 4);
    for (const name of ["wipe", "outer", "chosen", "recorded"]) await approve(test, name);

    const refused: readonly (readonly [string, object, readonly string[]])[] = [
      ["wipe", {}, ["policy_error"]],
      ["outer", {}, ["policy_error"]],
      ["chosen", {}, ["policy_error", "runtime_error"]],
      ["eval_starlark", { code: "return s.delete()" }, ["validation_error"]],
      ["eval_starlark", { code: 'return tools["s__delete"]()' }, ["validation_error"]],
      ["eval_starlark", { code: 'n = "delete"\nreturn tools["s:" + n]()' }, ["runtime_error"]],
      ["eval_starlark", { code: "return getattr(s, 'del' + 'ete')()" }, ["runtime_error"]],
      ["eval_starlark", { code: "return saved.wipe()" }, ["policy_error"]],
      ["eval_starlark", { code: "return saved.outer()" }, ["policy_error"]],
      ["recorded", {}, ["policy_error"]],
      ["test_saved_tool", { name: "recorded", record: true }, ["policy_error", "validation_error", "none"]],
    ];
    for (const [name, given, types] of refused) {
      const answer = await call(guest, name, given);
      assert.ok(types.includes(String(typeOf(answer) ?? "none")), `${name}: ${JSON.stringify(answer)}`);
    }
    assert.equal(typeOf(await save(guest, "own", "return s.delete()")), "validation_error");
    assert.equal((await call(guest, "recorded", { dry_run: true }))["result"], undefined);
    const caught = "try:\n    saved.wipe()\nexcept Error as e:\n    return 'refused'";
    assert.equal((await call(guest, "eval_starlark", { code: caught }))["result"], "refused");
    assert.equal(deletions, 4);

    await test.stop();
    const denied = callsIn(test.audit()).filter((line) => line.startsWith("s:delete denied"));
    assert.ok(denied.length >= 5, denied.join("\n"));
  });

  it("does not include the gateway's own tools", async () => {
    await using test = await startTestGateway({});
    const client = await test.connect();
    for (const name of ["save_tool", "toolcrib:delete_saved_tool", "call_tool", "eval_starlark"]) {
      const answer = await call(client, "eval_starlark", { code: `return tools[str("${name}")]({})` });
      assert.equal(typeOf(answer), "runtime_error", JSON.stringify(answer));
    }
    const listed = await call(client, "eval_starlark", { code: "return [name for name in tools]" });
    assert.deepEqual(listed["result"], []);
  });

  it("includes tools that existed when it was saved, and no later tool of the same name", async () => {
    let names = ["get"];
    await using server = await startScriptedServer({
      tools: () => names.map((name) => toolNamed(name)),
      call: () => ({ content: [], structuredContent: { from: "the server" } }),
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const client = await test.connect();
    await save(client, "uses", 'return tools["s.get"]()');
    assert.deepEqual((await call(client, "uses"))["result"], { from: "the server" });
    names = [];
    server.notify("notifications/tools/list_changed");
    const isListed = () => test.gateway.listTools(somebody).some(({ id }) => id === "s:get");
    await waitUntil(() => !isListed());
    assert.equal((await save(client, "s.get", 'return {"from": "an impostor"}'))["status"], "created");
    assert.equal(typeOf(await call(client, "uses")), "tool_error");
    names = ["get"];
    server.notify("notifications/tools/list_changed");
    await waitUntil(isListed);
    assert.deepEqual((await call(client, "uses"))["result"], { from: "the server" });
    assert.deepEqual(
      test.gateway.status().quarantined.map(({ id }) => id),
      ["saved:s.get"],
    );
  });

  it("ends with its call, and pending inner calls are cancelled", async () => {
    await using server = await startWaitingServer();
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const client = await test.connect();
    await save(client, "waits", "return parallel([lambda: s.wait(), lambda: s.wait()])");
    const controller = new AbortController();
    const running = client.callTool({ name: "waits" }, undefined, { signal: controller.signal });
    await waitUntil(() => server.counts.waiting === 2);
    controller.abort(new Error("changed my mind"));
    await assert.rejects(running);
    await waitUntil(() => server.counts.cancelled === 2);
    assert.equal(server.counts.waiting, 0);
  });
});

describe("the name of a saved tool", () => {
  it("cannot be a path, or the name of another tool", async () => {
    await using server = await startScriptedServer({
      tools: () => [toolNamed("get")],
      call: () => ({ content: [] }),
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("github", server.url)] });
    const client = await test.connect();
    assert.equal((await save(client, "summary", "return 1"))["status"], "created");
    const refused = [
      "",
      "..",
      "../escape",
      "a/b",
      "a\\b",
      "/etc/passwd",
      ".hidden",
      "a\u0000b",
      "con",
      "x".repeat(65),
      "nаme",
      "save_tool",
      "Save-Tool",
      "search_tools",
      "call_tool",
      "github__get",
      "GitHub__Get",
      "github.get",
      "github__not_listed_yet",
      "saved__other",
      "Summary",
    ];
    for (const name of refused) {
      const answer = await save(client, name, "return 2");
      assert.equal(typeOf(answer), "validation_error", `${JSON.stringify(name)}: ${JSON.stringify(answer)}`);
    }
    for (const name of ["../summary", "summary.json", "__proto__"]) {
      assert.equal(typeOf(await call(client, "show_saved_tool", { name })), "validation_error", name);
      assert.equal(typeOf(await call(client, "delete_saved_tool", { name })), "validation_error", name);
    }
    assert.equal((await call(client, "summary"))["result"], 1);
    assert.deepEqual(
      readdirSync(join(test.home, "tools")).filter((name) => name.endsWith(".json") && !name.startsWith(".")),
      ["summary.json"],
    );
    assert.equal(test.gateway.listTools(somebody).filter(({ origin }) => origin === "saved").length, 1);
  });
});

describe("the name and code of a saved tool", () => {
  it("may have the name of a server that their owner does not see", async () => {
    await using server = await startScriptedServer({ tools: () => [toolNamed("search")] });
    await using test = await startTestGateway(
      {
        tool_servers: [onHttp("hidden", server.url), onHttp("down", "http://127.0.0.1:1/mcp")],
        policy: { clients: { guest: { deny: ["hidden:*", "down:*"] } } },
      },
      { clients: ["guest"] },
    );
    const guest = await test.connect({ as: "guest" });
    for (const name of ["hidden", "down", "none"])
      assert.match(JSON.stringify(await save(guest, name, "return 1")), /"created":true|"name":/, name);
    for (const name of ["hidden__search", "down__search", "none__search"])
      assert.match(JSON.stringify(await save(guest, name, "return 1")), /are those of servers/, name);
    // The tools of the server and the saved tool of its name stand side by side.
    const ids = test.gateway.listTools(somebody).map(({ id }) => id);
    assert.ok(ids.includes("hidden:search"));
  });

  it("are refused if the name has a meaning already, or the code is empty", async () => {
    await using server = await startScriptedServer({
      tools: () => [toolNamed("search")],
      call: () => ({ content: [] }),
    });
    // A server that is down keeps its name.
    const down = onHttp("down", "http://127.0.0.1:1/mcp");
    await using test = await startTestGateway({ tool_servers: [onHttp("github", server.url), down] });
    const client = await test.connect();
    const problemsOf = async (name: string, code: string) => JSON.stringify(await save(client, name, code));
    const meanings = ["len", "sorted", "return", "params", "json", "tools", "saved"];
    for (const name of [...meanings, "github", "GitHub", "down", "d0wn"]) {
      assert.match(await problemsOf(name, "return 1"), /METATOOL_NAME_RESERVED/, name);
    }
    assert.match(await problemsOf("any__name", "return 1"), /names with .*__.* are those of servers/);
    for (const code of ["", " \n"])
      assert.match(await problemsOf("one", code), /Cannot use .*code.*it is empty/);
    assert.match(await problemsOf("two", "return github__search()"), /write github\.search\({…}\)/);
    assert.match(
      await problemsOf("three", 'load("x.star", "y")\nreturn y'),
      /composites have no other modules/,
    );
    assert.match(await problemsOf("four", 'return github["search"]()'), /tools\[.*github\.search/);
    assert.match(await problemsOf("five", "return github.search()"), /created/);
  });
});
