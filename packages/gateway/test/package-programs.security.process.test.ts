/** Starlark programs of installed packages: what they reach, whatever they and their manifests say. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { echoStdio, startTestGateway, type TestGateway } from "./gateway-harness.ts";
import { type PackageContent, putPackages } from "./package-harness.ts";

/** Returns a package whose program is `code`. */
function programPackage(
  code: string,
  {
    tools = ["echo:echo"],
    approved = tools,
    ...more
  }: { tools?: string[]; approved?: string[] } & JsonObject = {},
): PackageContent {
  return {
    manifest: {
      toolId: "acme.text.run",
      name: "Run",
      version: "1.0.0",
      description: "Runs a program.",
      capabilities: ["composite"],
      endpoint: { type: "starlark", source: "main.star", tools, timeoutMs: 5000 },
      input_schema: { type: "object", properties: { text: { type: "string", default: "x" } } },
      output_schema: {},
      ...more,
    },
    files: { "main.star": code },
    approvedTools: approved,
  };
}

/** Runs `check` with a gateway that has two echo servers and the package, called by a client. */
async function withProgram(
  content: PackageContent,
  check: (
    call: (
      args?: JsonObject,
    ) => Promise<{ readonly text: string; readonly isError: boolean; readonly value: unknown }>,
    gateway: TestGateway,
  ) => Promise<void>,
  config: JsonObject = {},
): Promise<void> {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  putPackages(home, [content]);
  await using gateway = await startTestGateway(
    {
      tool_servers: [echoStdio("echo"), echoStdio("other")],
      packages: { "acme.text.run": { trust_state: "certified" } },
      ...config,
    },
    { home },
  );
  const client = await gateway.connect();
  await check(async (args = {}) => {
    const result = await client.callTool({ name: "acme.text.run", arguments: args });
    const [block] = result.content as { text: string }[];
    return { text: block?.text ?? "", isError: result.isError === true, value: result["structuredContent"] };
  }, gateway);
}

/** The tools of the calls that began, and whether each was a call within the first one. */
function callsIn(gateway: TestGateway): readonly (readonly [string, boolean])[] {
  const intents = gateway.audit().flatMap((record) => (record.type === "call.intent" ? [record.data] : []));
  return intents.map(({ tool, parentId }) => [
    tool,
    parentId !== undefined && parentId === intents[0]?.callId,
  ]);
}

test("a program calls its tools within the call of its package, and returns its value", async () => {
  await withProgram(
    programPackage('print("ran")\nreturn {"said": echo.echo(text=params.text)}'),
    async (call, gateway) => {
      assert.deepEqual((await call({ text: "hello" })).value, { said: "hello" });
      assert.deepEqual((await call()).value, { said: "x" }, "defaults are applied");
      await gateway.stop();
      assert.deepEqual(callsIn(gateway).slice(0, 2), [
        ["acme.text.run:run", false],
        ["echo:echo", true],
      ]);
    },
  );
});

test("a program reaches no tool that it does not declare, however it names it", async () => {
  for (const code of [
    'return other.echo(text="x")',
    'return tools["other:echo"](text="x")',
    'name = "other" + ":echo"\nreturn tools[name](text="x")',
    'return [tools[name](text="x") for name in params.get("names", ["other__echo"])]',
    'return getattr(tools, "other" + "__echo")(text="x")',
    'return save_tool(name="x", code="return 1")',
    'return tools["save_tool"](name="x")',
    'return tools["acme.text.run"]()',
  ]) {
    await withProgram(programPackage(code), async (call, gateway) => {
      const { isError, text } = await call();
      assert.ok(isError, code);
      assert.match(text, /PACKAGE_PROGRAM_FAILED|The program of "acme\.text\.run" failed/);
      await gateway.stop();
      assert.deepEqual(callsIn(gateway), [["acme.text.run:run", false]], code);
    });
  }
});

test("a program sees the declared tools alone", async () => {
  await withProgram(programPackage("return dir(tools)"), async (call) => {
    assert.equal((await call()).text, '["echo__echo"]');
  });
});

test("a program whose reach is wider than its approval does not run", async () => {
  const content = programPackage('return other.echo(text="x")', {
    tools: ["echo:echo", "other:echo"],
    approved: ["echo:echo"],
  });
  await withProgram(content, async (call, gateway) => {
    await assert.rejects(call(), /is not available/);
    const status = JSON.stringify(gateway.gateway.status());
    assert.match(status, /other:echo, which was not approved: install it again/);
    await gateway.stop();
    assert.deepEqual(
      callsIn(gateway).filter(([tool]) => tool === "other:echo"),
      [],
    );
  });
});

test("a tool that does not exist here is named before anything is called", async () => {
  const content = programPackage('echo.echo(text="first")\nreturn github.search()', {
    tools: ["echo:echo", "github:search"],
  });
  await withProgram(content, async (call, gateway) => {
    const { isError, text } = await call();
    assert.ok(isError);
    assert.match(text, /it needs a tool that does not exist here: github:search/i);
    await gateway.stop();
    assert.deepEqual(callsIn(gateway), [["acme.text.run:run", false]]);
  });
});

test("a tool that its caller may not call does not exist for its program", async () => {
  const policy = { deny: ["echo:*"] };
  await withProgram(
    programPackage('return echo.echo(text="x")'),
    async (call, gateway) => {
      const { isError, text } = await call();
      assert.ok(isError);
      assert.match(text, /does not exist here: echo:echo/);
      await gateway.stop();
      assert.deepEqual(callsIn(gateway), [["acme.text.run:run", false]]);
    },
    { policy },
  );
});

test("endless and greedy programs end at the limits of composites", async () => {
  const config = { execution: { maxSteps: 100_000, maxMemory: "8MB", maxToolCalls: 5 } };
  for (const [code, type] of [
    ["for i in range(1000000000):\n  pass\nreturn 1", "resource_error"],
    ["def f(n):\n  return f(n + 1)\nreturn f(0)", "resource_error"],
    ['text = "x" * 1000\nfor i in range(60):\n  text = text + text\nreturn len(text)', "resource_error"],
    ['for i in range(10):\n  echo.echo(text="x")\nreturn 1', "resource_error"],
  ] as const) {
    await withProgram(
      programPackage(code),
      async (call, gateway) => {
        const { isError, text } = await call();
        assert.ok(isError, code);
        assert.match(text, new RegExp(type), code);
        await gateway.stop();
        assert.ok(callsIn(gateway).length <= 6);
      },
      config,
    );
  }
});
