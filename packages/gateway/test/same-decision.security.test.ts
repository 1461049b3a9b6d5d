/**
 * One decision about a call, whichever way it is made: by the clients of both eras, of one server and of standard
 * input and output, through `call_tool` and from a composite, and by a program that embeds the gateway, as the
 * command line and the registry do.
 */

import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { startStdioServer } from "@toolcrib/mcp";
import { localIdentity } from "@toolcrib/tool";
import {
  callsIn,
  onHttp,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";

const agent = localIdentity("token", "agent");

/** The answer to a call, without what differs between two equal calls. */
interface Answer {
  readonly code: string;
  readonly text: string;
}

type Call = (name: string) => Promise<Answer>;

/** Refused calls: their tool, their code, and a part of their text. */
const cases: readonly (readonly [tool: string, code: string, text: RegExp])[] = [
  ["denied", "TOOL_NOT_FOUND", /^Unknown tool: "NAME"/],
  ["nil", "TOOL_NOT_FOUND", /^Unknown tool: "NAME"/],
  ["waiting", "TOOL_UNAVAILABLE", /"NAME" cannot be called: "w:waiting" waits for approval/],
  ["asked", "APPROVAL_REQUIRED", /"NAME" was not called: each call needs the operator's approval/],
  ["limited", "BUDGET_EXCEEDED", /limit "money"/],
  ["paused", "CALL_PAUSED", /paused/],
  ["blocked", "MUTABILITY_VIOLATION", /"NAME" was not called: it declares destructiveHint: true/],
];

/** The server of each tool. */
const serverOf: { readonly [tool: string]: string } = { waiting: "w", asked: "a", blocked: "r" };

test("a refused call gets the same code and the same text on every way to make it", async () => {
  const received: string[] = [];
  const startServer = (...names: string[]) =>
    startScriptedServer({
      tools: () => names.map((name) => toolNamed(name, { annotations: { destructiveHint: true } })),
      call(_request, name) {
        received.push(name);
        return { content: [{ type: "text", text: "called" }] };
      },
    });
  await using s = await startServer("denied", "limited", "paused");
  await using w = await startServer("waiting");
  await using a = await startServer("asked");
  await using r = await startServer("blocked");
  await using setting = await startTestGateway(
    {
      tool_servers: [
        onHttp("s", s.url),
        onHttp("w", w.url, { trust_state: "unverified" }),
        onHttp("a", a.url, { trust_state: "unverified", first_contact: "pin" }),
        onHttp("r", r.url, { trust_state: "verified", mutability_class: "read_only" }),
      ],
      policy: { deny: ["s:denied"] },
      guards: {
        limits: [{ name: "money", tools: ["s:limited"], budget: { cost: 1 }, every: "day" }],
        costs: { "s:limited": 2 },
      },
      execution: { enabled: true },
    },
    { clients: ["agent"] },
  );
  await setting.gateway.prepared();
  await setting.gateway.pauses.pause({ kind: "tool", name: "s:paused" }, localIdentity("cli", "cli"));
  await using stdio = startStdioClient(setting);
  const legacy = await setting.connect({ as: "agent" });
  const modern = await setting.connectModern({ as: "agent" });
  const own = new Map(
    await Promise.all(
      ["s", "w", "a", "r"].map(
        async (id) => [id, await setting.connect({ as: "agent", server: id })] as const,
      ),
    ),
  );
  const wire = (tool: string) => `${serverOf[tool] ?? "s"}__${tool}`;
  const ways: { readonly [way: string]: Call } = {
    legacy: (tool) => answerOf(wire(tool), legacy.callTool({ name: wire(tool) })),
    modern: (tool) => answerOf(wire(tool), modern.callTool({ name: wire(tool), arguments: {} })),
    "by id": (tool) => {
      const id = `${serverOf[tool] ?? "s"}:${tool}`;
      return answerOf(
        tool === "denied" || tool === "nil" || tool === "waiting" ? id : wire(tool),
        legacy.callTool({ name: id }),
      );
    },
    "endpoint of its server": (tool) =>
      answerOf(tool, own.get(serverOf[tool] ?? "s")?.callTool({ name: tool }) ?? assert.fail()),
    "stdio, legacy": (tool) => answerOf(wire(tool), stdio.call(wire(tool), "legacy")),
    "stdio, modern": (tool) => answerOf(wire(tool), stdio.call(wire(tool), "modern")),
    call_tool: (tool) =>
      answerOf(
        wire(tool),
        legacy.callTool({ name: "call_tool", arguments: { name: wire(tool), arguments: {} } }),
      ),
    "call_tool, modern": (tool) =>
      answerOf(
        wire(tool),
        modern.callTool({ name: "call_tool", arguments: { name: wire(tool), arguments: {} } }),
      ),
  };
  for (const [tool, code, pattern] of cases) {
    const expected = await ways["legacy"]?.(tool);
    assert.equal(expected?.code, code, `${tool}: ${expected?.text}`);
    assert.match(expected?.text ?? "", pattern);
    for (const [way, call] of Object.entries(ways))
      assert.deepEqual(await call(tool), expected, `${tool} by ${way}`);
    // A program in this process is trusted with the reason of a denial.
    const outcome = await setting.gateway.call(agent, wire(tool), {});
    const ofProgram =
      outcome.kind === "failed"
        ? (outcome.error as unknown as JsonObject)["code"]
        : outcome.kind === "denied"
          ? outcome.code
          : "";
    assert.equal(ofProgram, tool === "denied" ? "POLICY_DENIED" : code, `${tool} by a program`);
    // A composite finds the tools that its caller may call; others do not exist in it.
    const program = await legacy.callTool({
      name: "eval_starlark",
      arguments: { code: `return ${serverOf[tool] ?? "s"}.${tool}()` },
    });
    assert.equal(program.isError, true, tool);
    const inComposite = /^(?:denied|nil|waiting)$/.test(tool)
      ? /undefined|has no|unknown|not found/i
      : new RegExp(pattern.source.replace('"NAME"', "[^ ]+").replaceAll('"', '\\\\?"'));
    assert.match(textOf(program), inComposite, `${tool}: ${textOf(program)}`);
  }
  assert.deepEqual(received, []);
  await setting.stop();
  const calls = callsIn(setting.audit()).filter((line) => !line.startsWith("toolcrib:"));
  assert.deepEqual(
    calls.filter((line) => !line.includes("denied")),
    [],
    "every call is recorded as denied",
  );
});

/** Returns an error result or a JSON-RPC error in one form. @param name of the called tool, which is replaced */
async function answerOf(name: string, answer: Promise<unknown>): Promise<Answer> {
  const { code, text } = await answer.then(
    (result) => {
      assert.equal((result as JsonObject)["isError"], true, textOf(result));
      const meta = (result as JsonObject)["_meta"] as JsonObject;
      return { code: String(meta["toolcrib/code"]), text: textOf(result) };
    },
    ({ message, data }: { readonly message: string; readonly data?: JsonObject }) => {
      const hint = data?.["hint"] === undefined ? "" : `\nHint: ${String(data["hint"])}`;
      // The first generation of the SDK and the gateway put other words around the same text.
      const plain = message.replace(/^MCP error -?\d+: /, "").replace(` (${String(data?.["hint"])})`, "");
      return { code: String(data?.["code"]), text: `${plain}${hint}` };
    },
  );
  return {
    code,
    text: text
      .replace(`"${name}"`, '"NAME"')
      .replace(/\bcall:[0-9a-f]{16}/g, "CALL")
      .replace(/in [\d.]+ (?:s|min|h)\b/g, "in TIME"),
  };
}

/** A client of both eras over a pipe, with the identity of the other clients. */
function startStdioClient({ gateway }: TestGateway) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = startStdioServer(
    gateway.service,
    { input, output },
    { view: "", identity: agent, sessionId: "stdio" },
  );
  const waiting = new Map<unknown, (message: JsonObject) => void>();
  createInterface({ input: output }).on("line", (line) => {
    const message = JSON.parse(line) as JsonObject;
    waiting.get(message["id"])?.(message);
  });
  let lastId = 0;
  const ask = async (method: string, params: JsonObject): Promise<JsonObject> => {
    lastId += 1;
    const { promise, resolve } = Promise.withResolvers<JsonObject>();
    waiting.set(lastId, resolve);
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params })}\n`);
    const { result, error } = await promise;
    if (error !== undefined) throw error;
    return result as JsonObject;
  };
  const clientInfo = { name: "pipe", version: "1" };
  const opened = ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  const modernMeta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": clientInfo,
  };
  return {
    async call(name: string, era: "legacy" | "modern"): Promise<JsonObject> {
      await opened;
      const params = { name, arguments: {} };
      return ask("tools/call", era === "legacy" ? params : { ...params, _meta: modernMeta });
    },
    async [Symbol.asyncDispose]() {
      input.end();
      await server[Symbol.asyncDispose]();
    },
  };
}
