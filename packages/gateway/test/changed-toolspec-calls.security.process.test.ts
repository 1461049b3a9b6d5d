/** Calls of a toolspec that reach it only after the configuration changed: in its queue, while a secret is read, again. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { refFor } from "@toolcrib/secrets";
import {
  makeTemporaryDirectory,
  sampleCatalog,
  sampleToolspec,
  waitUntil,
  writeFiles,
} from "@toolcrib/testing";
import { identityKey, localIdentity } from "@toolcrib/tool";
import { configIn, dataOf, setSecret, startTestGateway, textOf } from "./gateway-harness.ts";
import { canary, entry, startTestApi } from "./toolspec-harness.ts";

/** What a client reads of every tool that it may not list. */
const deniedWhileWaiting = /Unknown tool: "acme__list_repos"/;
/** The text of a result, or of the error for a tool that is not offered. */
const answerOf = (call: Promise<unknown>) => call.then(textOf, String);

/** Starts a gateway that offers the toolspec "acme" of an API, whose responses are held until they are sent. */
async function startChangingToolspec(
  credential: JsonObject | string,
  environment: { [name: string]: string } = {},
) {
  await using stack = new AsyncDisposableStack();
  const limits = { max_calls_per_server: 1 };
  const held: ServerResponse[] = [];
  const api = stack.use(await startTestApi((_request, response) => void held.push(response)));
  const directory = stack.use(await makeTemporaryDirectory());
  writeFiles(directory.path, inCatalog(sampleToolspec("acme")));
  const test = stack.use(
    await startTestGateway(
      { egress: api.egress, serve: { limits } },
      { secrets: { "acme-token": canary }, files: {}, clients: ["agent"], environment },
    ),
  );
  const apply = async ({ more, toolspec, ...document }: ToolspecChange = {}) => {
    if (toolspec !== undefined) writeFiles(directory.path, inCatalog(toolspec));
    const serve = { listen: "127.0.0.1:0", auth: "token", limits };
    const toolspecs = [entry("acme", credential, more)];
    const next = await configIn(directory.path, { toolspecs, egress: api.egress, serve, ...document });
    assert.equal((await test.gateway.applyConfig(next, ["toolcrib.json"])).error, undefined);
    const isReady = () => test.gateway.status().toolspecs.every(({ health }) => health.state === "ready");
    await waitUntil(isReady, { what: "the toolspec is ready" });
  };
  await apply();
  const client = await test.connect({ as: "agent" });
  const moved = stack.move();
  return {
    test,
    held,
    apply,
    call: () => answerOf(client.callTool({ name: "acme__list_repos", arguments: { owner: "a" } })),
    /** Resolves when so many calls are admitted. */
    admitted: (count: number) =>
      waitUntil(() => dataOf(test.audit(), "call.intent").length === count, {
        what: `${count} calls are admitted`,
      }),
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

/** Members of the changed configuration, of the entry of the toolspec (`more`), and the text of the toolspec. */
type ToolspecChange = JsonObject & { readonly more?: JsonObject; readonly toolspec?: string };

function inCatalog(toolspec: string): { readonly [path: string]: string } {
  const files = { ...sampleCatalog("acme"), "toolspecs/acme/0.1.0.yaml": toolspec };
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`catalog/${path}`, text]));
}

function respond(
  response: ServerResponse | undefined,
  status = 200,
  headers: { [name: string]: string } = {},
) {
  response?.writeHead(status, { "content-type": "application/json", ...headers });
  response?.end('"answered"');
}

const otherToolspec = sampleToolspec("acme").replace("type: integer", "type: string");
for (const [what, change, expected] of [
  ["is not sent when the policy denies it by then", { policy: { deny: ["acme:*"] } }, deniedWhileWaiting],
  [
    "is not sent when its definition changed",
    { toolspec: otherToolspec },
    /was not called: its definition changed/,
  ],
  [
    "is not sent when its tool is not enabled any more",
    { more: { tools: ["get_repo"] } },
    /it is not enabled/,
  ],
  ["is not sent when its toolspec was removed", { toolspecs: [] }, /Unknown tool/],
  ["is sent after a change that still allows it", { more: { labels: { team: "a" } } }, /answered/],
] as const) {
  test(`a call that waited in the queue of a toolspec ${what}`, async () => {
    await using setting = await startChangingToolspec("acme-token");
    const running = setting.call();
    await waitUntil(() => setting.held.length === 1, { what: "the first call runs" });
    const waiting = setting.call();
    await setting.admitted(2);
    await setting.apply(change as ToolspecChange);
    respond(setting.held[0]);
    assert.match(await running, /answered/);
    const isSent = expected.source === "answered";
    if (isSent) {
      await waitUntil(() => setting.held.length === 2, { what: "the second call runs" });
      respond(setting.held[1]);
    }
    assert.match(await waiting, expected);
    assert.equal(setting.held.length, isSent ? 2 : 1);
  });
}

test("a request of a toolspec is not sent again when the policy denies its call by then", async () => {
  for (const [status, headers] of [
    [503, {}],
    [302, { location: "/elsewhere" }],
  ] as const) {
    await using setting = await startChangingToolspec("acme-token");
    const running = setting.call();
    await waitUntil(() => setting.held.length === 1, { what: "the request was sent" });
    await setting.apply({ policy: { deny: ["acme:*"] } });
    respond(setting.held[0], status, headers);
    assert.match(await running, deniedWhileWaiting, `${status}`);
    assert.equal(setting.held.length, 1, `${status}`);
  }
});

test("a call that waited for the secret of its client is not sent when it is not allowed by then", async () => {
  for (const [change, expected] of [
    [{ policy: { deny: ["acme:*"] } }, deniedWhileWaiting],
    [{ toolspec: otherToolspec }, /was not called: its definition changed/],
  ] as const) {
    await using keychain = await startHeldKeychain();
    const credential = { store: "acme-token", per: "identity" };
    await using setting = await startChangingToolspec(credential, keychain.environment);
    const { home } = setting.test;
    const agent = localIdentity("token", "agent");
    const owner = { key: identityKey(agent), name: agent.name };
    const ref = refFor({ kind: "store", name: "acme-token", per: "identity" }, owner);
    await setSecret(home, ref.kind === "store" ? ref.name : assert.fail(), canary);
    keychain.useKeyOf(home);
    const waiting = setting.call();
    await waitUntil(keychain.isAsked, { what: "the secret is being read" });
    await setting.apply(change as ToolspecChange);
    keychain.answer();
    assert.match(await waiting, expected);
    assert.equal(setting.held.length, 0);
  }
});

/** A keychain with the key of a secret store, whose command answers only after `answer`. */
async function startHeldKeychain() {
  const directory = await makeTemporaryDirectory();
  const [asked, key, answered] = ["asked", "key", "answered"].map((name) => directory.join(name)) as [
    string,
    string,
    string,
  ];
  const script = `#!/bin/sh
: > '${asked}'
while [ ! -e '${answered}' ]; do sleep 0.02; done
cat '${key}'
`;
  for (const name of ["secret-tool", "security"])
    writeFileSync(directory.join(name), script, { mode: 0o700 });
  return {
    environment: {
      PATH: `${directory.path}:${process.env["PATH"]}`,
      TOOLCRIB_SECRETS_KEY: "keychain:toolcrib",
    },
    useKeyOf(home: string) {
      const text = readFileSync(join(home, "secrets", ".store", "key"), "utf8");
      writeFileSync(key, text.slice(text.indexOf(":") + 1));
    },
    isAsked: () => existsSync(asked),
    answer: () => writeFileSync(answered, ""),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}
