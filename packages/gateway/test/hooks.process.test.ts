/** Hooks: what they decide about calls and results, on every way to make a call, and what is recorded. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { localIdentity } from "@toolcrib/tool";
import { dataOf, textOf } from "./gateway-harness.ts";
import { answering, outcomeOf, program, send, shell, startHookServer, withHooks } from "./hooks-harness.ts";
import { startTestApi } from "./toolspec-harness.ts";

const operator = localIdentity("cli", "cli");

const denyAddresses = program(
  "no-addresses",
  `return /\\b10\\.\\d+\\.\\d+\\.\\d+/.test(JSON.stringify(q.arguments)) ? { decision: "deny", message: "no addresses of ours" } : { decision: "allow" };`,
);

test("a hook that denies holds on every way to make a call", () =>
  withHooks({ before_call: [denyAddresses] }, async ({ test, received }) => {
    const refused =
      /(?:s__)?read\\?" was not called: the hook \\?"no-addresses\\?" refused it: no addresses of ours/;
    const args = { host: "10.1.2.3" };
    const client = await test.connect({ as: "agent" });
    const modern = await test.connectModern({ as: "agent" });
    const atServer = await test.connect({ as: "agent", server: "s" });
    for (const result of [
      await client.callTool({ name: "s__read", arguments: args }),
      await modern.callTool({ name: "s__read", arguments: args }),
      await atServer.callTool({ name: "read", arguments: args }),
      await client.callTool({ name: "call_tool", arguments: { name: "s__read", arguments: args } }),
      await client.callTool({ name: "eval_starlark", arguments: { code: 'return s.read(host="10.1.2.3")' } }),
    ]) {
      assert.match(textOf(result), refused);
    }
    assert.match(await outcomeOf(test, "s:read", args), /^HOOK_DENIED: /);
    // The operator is asked about, too.
    assert.match(await outcomeOf(test, "s:read", args, "cli"), /^HOOK_DENIED: /);
    assert.deepEqual(received, []);
    assert.match(await outcomeOf(test, "s:read", { host: "example.com" }), /^done/);
    await test.stop();
    const denied = dataOf(test.audit(), "call.denied");
    assert.equal(denied.length, 7);
    for (const { rule, code, hooks } of denied) {
      assert.deepEqual([rule, code], ["hook.no-addresses", "HOOK_DENIED"]);
      const [record] = hooks ?? [];
      assert.deepEqual(
        [record?.hook, record?.decision, record?.reason],
        ["no-addresses", "deny", "no addresses of ours"],
      );
      assert.equal(typeof record?.durationMs, "number");
    }
    const intents = dataOf(test.audit(), "call.intent").filter(({ tool }) => tool === "s:read");
    assert.deepEqual(
      intents.map(({ hooks }) => hooks?.map(({ hook, decision }) => `${hook} ${decision}`)),
      [["no-addresses allow"]],
    );
  }));

const policies = `
permit (principal, action, resource);
@id("no-etc")
forbid (principal, action == Action::"call", resource)
when { context.arguments.hasTag("path") && context.arguments.getTag("path") like "/etc/*" };
`;

test("replaced arguments are authorized, validated and recorded as what they are now", async () => {
  await using server = await startHookServer(({ arguments: args }, response) => {
    const { path } = args as { readonly path?: string };
    const replaced: { readonly [path: string]: JsonObject } = {
      good: { path: "/tmp/x" },
      bad: { path: "/etc/passwd" },
      wrong: { size: "many" },
    };
    const value = replaced[path ?? ""];
    send(response, value === undefined ? { decision: "allow" } : { decision: "replace", arguments: value });
  });
  await withHooks(
    { before_call: [{ name: "rewrite", url: server.url }] },
    async ({ test, received }) => {
      assert.equal(await outcomeOf(test, "s:write", { path: "good" }), 'done {"path":"/tmp/x"}');
      // The policy decides about what is sent.
      assert.match(await outcomeOf(test, "s:write", { path: "bad" }), /^denied: /);
      // And about what was asked: a hook does not make a denied call possible.
      assert.match(await outcomeOf(test, "s:write", { path: "/etc/good" }), /^denied: /);
      assert.match(
        await outcomeOf(test, "s:write", { path: "wrong" }),
        /Invalid arguments for "s__write":\n- \/size/,
      );
      assert.deepEqual(received, [{ name: "write", args: { path: "/tmp/x" } }]);
      assert.equal(server.questions.length, 3);
      await test.stop();
      const [intent] = dataOf(test.audit(), "call.intent");
      assert.deepEqual(intent?.preview, { path: "/tmp/x" });
      const [record] = intent?.hooks ?? [];
      assert.equal(record?.decision, "replace");
      assert.equal(record?.digest, intent?.argumentsDigest);
      assert.notEqual(record?.replacedDigest, record?.digest);
      const [denied] = dataOf(test.audit(), "call.denied");
      assert.match(denied?.rule ?? "", /no-etc/);
      assert.deepEqual(denied?.preview, { path: "/etc/passwd" });
      assert.equal(denied?.hooks?.[0]?.decision, "replace");
    },
    { document: { policy: { files: ["policies/main.cedar"] } }, files: { "policies/main.cedar": policies } },
  );
});

test("an approval is bound to the arguments that are sent", async () => {
  let size = 1;
  await using server = await startHookServer((_question, response) =>
    send(response, { decision: "replace", arguments: { size } }),
  );
  await withHooks(
    { before_call: [{ name: "size", url: server.url }] },
    async ({ test, received }) => {
      assert.match(await outcomeOf(test, "s:write", { size: 9 }), /^APPROVAL_REQUIRED/);
      const [call] = (await test.gateway.approvals.waiting()).calls;
      assert.deepEqual(call?.arguments, { size: 1 });
      await test.gateway.approvals.decideCall(call?.id ?? "", "approved", operator);
      size = 2;
      assert.match(await outcomeOf(test, "s:write", { size: 9 }), /^APPROVAL_REQUIRED/);
      size = 1;
      assert.equal(await outcomeOf(test, "s:write", { size: 9 }), 'done {"size":1}');
      assert.deepEqual(
        received.map(({ args }) => args),
        [{ size: 1 }],
      );
    },
    { declaration: { trust_state: "unverified", first_contact: "pin" } },
  );
});

test("hooks about results see what the client would get, and withhold or replace it", async () => {
  await using server = await startHookServer(({ result, error, arguments: args }, response) => {
    const text = JSON.stringify(result ?? error);
    if (text.includes("withhold")) send(response, { decision: "deny", message: "not for you" });
    else if (text.includes("10.0.0.7"))
      send(response, { decision: "replace", error: { message: "the address is hidden" } });
    else if (text.includes("card"))
      send(response, {
        decision: "replace",
        result: { content: [{ type: "text", text: `card ****, asked ${JSON.stringify(args)}` }] },
      });
    else send(response, { decision: "allow", message: "nothing found" });
  });
  await withHooks(
    { after_call: [{ name: "cards", url: server.url }, shell("second", answering({ decision: "allow" }))] },
    async ({ test, received }) => {
      assert.equal(
        await outcomeOf(test, "s:read", { of: "card 4111" }),
        'card ****, asked {"of":"card 4111"}',
      );
      assert.match(
        await outcomeOf(test, "s:read", { of: "withhold" }),
        /^RESULT_WITHHELD: "s__read" was called, and its result is withheld: the hook "cards" refused it: not for you$/,
      );
      // An error is no way around the hooks.
      assert.match(await outcomeOf(test, "s:fail"), /: the address is hidden$/);
      assert.equal(await outcomeOf(test, "s:read", { of: "x" }), 'done {"of":"x"}');
      assert.equal(received.length, 4);
      await test.stop();
      const completed = dataOf(test.audit(), "call.completed").map(({ outcome, code, hooks }) => [
        outcome,
        code,
        hooks?.map(({ hook, decision }) => `${hook} ${decision}`).join(),
      ]);
      assert.deepEqual(completed, [
        ["ok", undefined, "cards replace,second allow"],
        ["failed", "RESULT_WITHHELD", "cards deny"],
        ["failed", "UPSTREAM_ERROR", "cards replace,second allow"],
        ["ok", undefined, "cards allow,second allow"],
      ]);
      const [, withheld] = dataOf(test.audit(), "call.completed");
      assert.equal(withheld?.hooks?.[0]?.reason, "not for you");
    },
  );
});

test("hooks are asked about the tools and clients of their patterns, resources and prompts included", async () => {
  await using server = await startHookServer((_question, response) => send(response, { decision: "deny" }));
  const { url } = server;
  await withHooks(
    {
      before_call: [
        { name: "notes", url, tools: ["s:resources/note:*", "s:prompts/*"] },
        { name: "other", url, tools: ["s:read"], clients: ["other"] },
        { name: "own", url, tools: ["toolcrib:search_tools"] },
      ],
    },
    async ({ test }) => {
      const client = await test.connect({ as: "agent" });
      await assert.rejects(client.readResource({ uri: "note://1" }), /the hook "notes" refused it/);
      await assert.rejects(client.getPrompt({ name: "s__greet" }), /the hook "notes" refused it/);
      assert.match(await outcomeOf(test, "s:read"), /^done/);
      assert.match(await outcomeOf(test, "s:read", {}, "other"), /^HOOK_DENIED/);
      assert.match(
        textOf(await client.callTool({ name: "search_tools", arguments: { query: "x" } })),
        /"own" refused it/,
      );
      assert.deepEqual(
        server.questions.map(({ method, tool, client: by }) => [method, tool, (by as JsonObject)["name"]]),
        [
          ["resources/read", "s:resources/note://1", "agent"],
          ["prompts/get", "s:prompts/greet", "agent"],
          ["tools/call", "s:read", "other"],
          ["tools/call", "toolcrib:search_tools", "agent"],
        ],
      );
    },
  );
});

test("a hook does not replace the resource or prompt that was asked for", async () => {
  await using server = await startHookServer(({ arguments: args, phase, result }, response) => {
    if (phase === "after_call") {
      const text = JSON.stringify(result).replaceAll("read", "checked");
      send(response, { decision: "replace", result: JSON.parse(text) as JsonObject });
      return;
    }
    const asked = args as JsonObject;
    const replaced = asked["uri"] === undefined ? { ...asked, arguments: { who: "b" } } : { uri: "note://2" };
    send(response, { decision: "replace", arguments: replaced });
  });
  const { url } = server;
  await withHooks(
    {
      before_call: [
        { name: "uri", url, tools: ["s:resources/note://1"] },
        { name: "who", url, tools: ["s:prompts/*"] },
      ],
      after_call: [{ name: "check", url, tools: ["s:resources/*"] }],
    },
    async ({ test }) => {
      const client = await test.connect({ as: "agent" });
      await assert.rejects(
        client.readResource({ uri: "note://1" }),
        /it replaces "uri", which names what is asked for/,
      );
      const prompt = await client.getPrompt({ name: "s__greet", arguments: { who: "a" } });
      assert.match(JSON.stringify(prompt), /who\\*":\\*"b/);
      const other = await client.readResource({ uri: "note://3" });
      assert.equal((other.contents[0] as { readonly text?: string } | undefined)?.text, "checked");
    },
  );
});

test("a hook at an https URL is asked through the egress, with its secret", async () => {
  const secret = "s3cret-of-the-hook-0815";
  await using api = await startTestApi(({ target }, response) => {
    if (target === "/moved") response.writeHead(302, { location: "https://api.beta.example/" }).end();
    else send(response, { decision: "deny", message: `known: ${secret}` });
  });
  const headers = { Authorization: { prefix: "Bearer ", secret_key_ref: "hook" }, "X-Team": "core" };
  const at = (host: string, path: string) => ({ url: `https://${host}${path}`, headers });
  await withHooks(
    {
      before_call: [
        { name: "moved", tools: ["s:write"], ...at("api.acme.example", "/moved") },
        { name: "dlp", tools: ["s:read"], ...at("api.acme.example", "/check") },
        { name: "internal", tools: ["s:fail"], url: "https://nowhere.example/check" },
      ],
    },
    async ({ test }) => {
      const refused = await outcomeOf(test, "s:read");
      assert.match(refused, /^HOOK_DENIED: .* refused it: known: \[secret hook\]$/);
      assert.deepEqual(api.headersNamed("authorization"), [`Bearer ${secret}`]);
      assert.deepEqual(api.headersNamed("x-team"), ["core"]);
      assert.match(
        await outcomeOf(test, "s:write"),
        /^HOOK_FAILED: .*it redirects \(status 302\), which is not followed/,
      );
      assert.match(
        await outcomeOf(test, "s:fail"),
        /^HOOK_FAILED: .*it could not be reached \(EGRESS_UNREACHABLE\)/,
      );
      await test.stop();
      assert.doesNotMatch(JSON.stringify([test.audit(), test.logger.records]), new RegExp(secret));
      assert.deepEqual(
        dataOf(test.audit(), "secret.used").map(({ server, host }) => [server, host]),
        [
          ["hook:dlp", "api.acme.example"],
          ["hook:moved", "api.acme.example"],
        ],
      );
    },
    { document: { egress: api.egress }, files: {}, secrets: { hook: secret } },
  );
});

test("a hook without its secret denies, and the start says so", () =>
  withHooks(
    {
      before_call: [
        shell("lost", answering({ decision: "allow" }), { env: { TOKEN: { secret_key_ref: "missing" } } }),
      ],
    },
    async ({ test, received }) => {
      assert.match(
        await outcomeOf(test, "s:read"),
        /^HOOK_FAILED: .*the hook "lost" did not check it: it could not be asked$/,
      );
      assert.deepEqual(received, []);
      const errors = test.logger.records.filter(({ level }) => level === "error");
      assert.match(JSON.stringify(errors), /hook cannot be asked.*|Hook \\"lost\\" cannot start.*missing/);
    },
  ));

test("a command with a scoped network reaches its hosts and nothing else", async () => {
  await using api = await startTestApi((_request, response) =>
    send(response, { decision: "deny", message: "asked" }),
  );
  await using local = await startHookServer((_question, response) => send(response, { decision: "allow" }));
  const body = `
    const closed = await fetch(${JSON.stringify(local.url)}, { method: "POST", body: "{}" }).then(({ status }) => status, () => "closed");
    await fetch("https://other.example/").catch(() => undefined);
    const answer = await (await fetch("https://api.acme.example/check", { method: "POST", body: JSON.stringify(q) })).json();
    return { ...answer, message: answer.message + " " + closed };
  `;
  const scope = { network_egress: "scoped", egress_allow: ["api.acme.example"] };
  await withHooks(
    { before_call: [program("scoped", body, scope)] },
    async ({ test }) => {
      assert.match(await outcomeOf(test, "s:read"), /the hook "scoped" refused it: asked (?:403|closed)$/);
      assert.deepEqual(local.questions, []);
      await test.stop();
      const refused = dataOf(test.audit(), "egress.denied").map(({ server, host }) => `${server} ${host}`);
      assert.ok(refused.includes("hook:scoped other.example"), refused.join());
    },
    { document: { egress: api.egress }, files: {} },
  );
});

test("what a client sends besides the arguments does not pass a hook by", async () => {
  const metas: unknown[] = [];
  await using server = await startHookServer((_question, response) => send(response, { decision: "allow" }));
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await withHooks(
    { before_call: [{ name: "look", url: server.url, tools: ["s:read"] }] },
    async ({ test }) => {
      const client = await test.connect({ as: "agent" });
      const _meta = { traceparent, "com.example/note": "10.0.0.7" };
      await client.callTool({ name: "s__read", arguments: {}, _meta });
      await client.callTool({ name: "s__write", arguments: {}, _meta });
      assert.deepEqual(
        metas.map((meta) =>
          Object.keys(meta as JsonObject)
            .filter((key) => !/progress|protocol|client/i.test(key))
            .sort(),
        ),
        [["traceparent"], ["com.example/note", "traceparent"]],
      );
    },
    { onMeta: (meta) => metas.push(meta) },
  );
});
