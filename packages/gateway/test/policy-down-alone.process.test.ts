/** A gateway whose policy engine failed too often, in a process of its own, as the engine is that of the process. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { startEchoHttpServer } from "@toolcrib/testing";
import { onHttp, somebody, startTestGateway, textOf } from "./gateway-harness.ts";

const policies = `
permit(principal, action == Action::"list", resource) when { resource.name != "env" && principal.name != "other" };
permit(principal, action == Action::"call", resource) when { resource.name != "env" && context.arguments.hasTag("text") && context.arguments.getTag("text") != principal.name };
permit(principal, action == Action::"call", resource) when { context.arguments.hasTag("name") };`;

test("while the policy engine is down, every name that a client does not know has one answer, which says to repeat the call", async (t) => {
  const renewals: (() => void)[] = [];
  const { setTimeout } = globalThis;
  t.mock.method(globalThis, "setTimeout", (run: () => void, ms: number, ...args: unknown[]) => {
    if (run.name !== "endRenewal") return setTimeout(run as (...given: unknown[]) => void, ms, ...args);
    renewals.push(run);
    return setTimeout(() => {}, 0);
  });
  await using a = await startEchoHttpServer({ builtin: ["echo", "env"] });
  await using started = await startTestGateway(
    { tool_servers: [onHttp("a", String(a.url))], policy: { files: ["main.cedar"] } },
    { clients: ["ci", "dev"], files: { "main.cedar": policies } },
  );
  const dev = await started.connect({ as: "dev" });
  assert.ok((await dev.listTools()).tools.some(({ name }) => name === "a__echo"));
  const answer = (client: Client, name: string, args: object) =>
    client.callTool({ name, arguments: { ...args } }).then((result) => textOf(result as never), String);
  const direct = (client: Client, name: string) => answer(client, name, { text: "hello" });
  const meta = (client: Client, name: string) =>
    answer(client, "call_tool", { name, arguments: { text: "hello" } });

  const require = createRequire(new URL("../../cedar/package.json", import.meta.url));
  const isDown = () => started.gateway.status().policy?.engine?.isDown === true;
  for (let failures = 0; !isDown(); failures += 1) {
    assert.ok(failures < 20, "the engine is loaded again and again");
    const engine = require("@cedar-policy/cedar-wasm/nodejs") as { statefulIsAuthorized: () => unknown };
    const failing = t.mock.method(engine, "statefulIsAuthorized", () => {
      throw new Error("memory access out of bounds");
    });
    await started.gateway.call(somebody, "a:echo", { text: `failure ${failures}` });
    failing.mock.restore();
  }
  // Nothing was decided about this one before.
  const ci = await started.connect({ as: "ci" });
  const names = ["a__echo", "a__env", "a__nothing", "b__nothing"];
  for (const name of names) {
    const expected = `"${name}" was not called: the policy engine failed; try again in a minute`;
    assert.equal(await direct(ci, name), `McpError: MCP error -32602: ${expected}`);
    assert.match(await meta(ci, name), /was not called: the policy engine failed; try again in a minute/);
  }
  // This one knows that the tool exists.
  assert.match(
    await direct(dev, "a__echo"),
    /^"a__echo" was not called: the policy engine failed; try again/,
  );
  // The operator may know everything.
  const unknown = await started.gateway.call(somebody, "a:nothing", {});
  assert.match(unknown.kind === "failed" ? unknown.error.message : unknown.kind, /Unknown tool: "a:nothing"/);

  for (const end of renewals) end();
  assert.equal(await direct(ci, "a__echo"), "hello");
  for (const name of names.slice(1)) assert.match(await direct(ci, name), /Unknown tool/);
});
