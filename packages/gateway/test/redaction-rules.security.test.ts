/** `audit.redact`: hidden arguments are in no record, in whatever way the tool is called; who approves a call sees them. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import {
  dataOf,
  onHttp,
  somebody,
  startScriptedServer,
  startTestGateway,
  toolNamed,
} from "./gateway-harness.ts";

/** A text that must not be found anywhere in the home. */
const hidden = "h1dden-value-0815";

const redact = [
  { tool: "s:put", arguments: ["text", "user.mail", "/rows/*/a.b~1c", "list.1"] },
  { tool: "*:all", arguments: ["*"] },
];

/** Each call, and the preview that its record has. */
const cases: readonly (readonly [tool: string, args: JsonObject, preview: JsonObject])[] = [
  [
    "s__put",
    {
      text: hidden,
      user: { mail: hidden, name: "n" },
      rows: [{ "a.b/c": hidden, d: 1 }, 2],
      list: ["x", hidden],
    },
    {
      text: "[redacted]",
      user: { mail: "[redacted]", name: "n" },
      rows: [{ "a.b/c": "[redacted]", d: 1 }, 2],
      list: ["x", "[redacted]"],
    },
  ],
  ["s:put", { text: { deep: [hidden] }, other: "shown" }, { text: "[redacted]", other: "shown" }],
  // An object in the form of a text is hidden as a whole.
  ["s__put", { user: JSON.stringify({ mail: hidden }) }, { user: "[redacted]" }],
  ["s__all", { a: hidden, b: [hidden] }, { a: "[redacted]", b: "[redacted]" }],
  ["s__open", { text: "shown" }, { text: "shown" }],
];

function homeText(folder: string): string {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

test("hidden arguments are in no record, also through call_tool and with a misspelled name", async () => {
  const names = ["put", "all", "open"];
  await using server = await startScriptedServer({
    tools: () => names.map((name) => toolNamed(name)),
    call: () => ({ content: [] }),
  });
  const document = { tool_servers: [onHttp("s", server.url)], audit: { redact } };
  await using test = await startTestGateway(document);
  const { gateway } = test;
  for (const [name, args] of cases) {
    assert.equal((await gateway.call(somebody, name, args)).kind, "result");
    await gateway.call(somebody, "toolcrib:call_tool", { name, arguments: args });
  }
  for (const name of ["s__putt", "nothing:here", 7])
    await gateway.call(somebody, "call_tool", { name, arguments: { text: hidden, other: 1 } });
  await gateway.call(somebody, "call_tool", { name: "s:put", arguments: JSON.stringify({ text: hidden }) });
  await test.stop();
  const records = [...dataOf(test.audit(), "call.intent"), ...dataOf(test.audit(), "call.denied")];
  const previews = records.map(({ preview }) => JSON.stringify(preview));
  for (const [name, , preview] of cases) {
    assert.ok(previews.includes(JSON.stringify(preview)), `${name} ${previews.join("\n")}`);
    const called = { name, arguments: preview };
    assert.ok(previews.includes(JSON.stringify(called)), `call_tool ${name} ${previews.join("\n")}`);
  }
  for (const record of records) assert.match(record.argumentsDigest ?? "", /^sha256:[0-9a-f]{64}$/);
  assert.doesNotMatch(homeText(test.home), new RegExp(hidden));
});

test("hidden arguments are shown to the operator who approves the call, and are in no record", async () => {
  const received: JsonObject[] = [];
  await using server = await startScriptedServer({
    tools: () => [toolNamed("put")],
    call(_request, _name, args) {
      received.push(args);
      return { content: [] };
    },
  });
  const declared = onHttp("s", server.url, { trust_state: "unverified", first_contact: "pin" });
  await using test = await startTestGateway(
    { tool_servers: [declared], audit: { redact } },
    { clients: ["agent"] },
  );
  const client = await test.connect({ as: "agent" });
  const call = (text: string) => client.callTool({ name: "s__put", arguments: { text, to: "x" } });
  await call(hidden);
  const [pending] = (await test.gateway.approvals.waiting()).calls;
  assert.deepEqual(pending?.arguments, { text: hidden, to: "x" });
  await test.gateway.approvals.decideCall(pending?.id ?? "", "approved", somebody);
  assert.equal((await call("another")).isError, true);
  assert.notEqual((await call(hidden)).isError, true);
  assert.deepEqual(received, [{ text: hidden, to: "x" }]);
  await test.stop();
  assert.doesNotMatch(JSON.stringify(test.audit()), new RegExp(hidden));
});

test("a rule that matches no tool of a running server is named in the status", async () => {
  await using server = await startScriptedServer({ tools: () => [toolNamed("put")] });
  const rules = [
    { tool: "s:putt", arguments: ["a"] },
    { tool: "s:put", arguments: ["a"] },
  ];
  await using test = await startTestGateway({
    tool_servers: [onHttp("s", server.url)],
    audit: { redact: rules },
  });
  const found = test.gateway.status().idleRules.map(({ path, pattern, hint }) => [path, pattern, hint]);
  assert.deepEqual(found, [["audit.redact[0]", "s:putt", 'did you mean "s:put"?']]);
});
