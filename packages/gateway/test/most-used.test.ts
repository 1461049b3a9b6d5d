/** The mode auto above its budget: the tools that each client itself used most, chosen when the gateway starts. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import { makeTemporaryDirectory, slowTest, waitUntil } from "@toolcrib/testing";
import { onHttp, startScriptedServer, startTestGateway, toolNamed } from "./gateway-harness.ts";

it(
  "serve.mode: auto lists the tools that a client used most, and no call changes the list",
  slowTest,
  async () => {
    await using server = await startScriptedServer({
      tools: () => Array.from({ length: 40 }, (_, at) => toolNamed(`tool_${at}`)),
      call: (_request, name) => ({ content: [], isError: name === "tool_9" }),
    });
    await using directory = await makeTemporaryDirectory();
    const home = join(directory.path, "home");
    const own = ["search_tools", "describe_tool", "call_tool", "read_more"];
    /** Runs a gateway of the home, and returns the list of each client, before and after its calls. */
    const run = async (used: readonly string[], list: { token_budget: number; most_used: number }) => {
      const serve = { mode: "auto", list };
      await using test = await startTestGateway(
        { tool_servers: [onHttp("s", server.url)], serve },
        { home, clients: ["a", "b"] },
      );
      const a = await test.connect({ as: "a" });
      const names = async (client: typeof a) => (await client.listTools()).tools.map(({ name }) => name);
      const first = await names(a);
      for (const name of used) await a.callTool({ name, arguments: {} });
      assert.deepEqual(await names(a), first);
      return { ofA: first, ofB: await names(await test.connect({ as: "b" })) };
    };
    const list = { token_budget: 900, most_used: 2 };
    const used = [
      "s__tool_7",
      "s__tool_3",
      "s__tool_3",
      "s__tool_5",
      "s__tool_5",
      "s__tool_5",
      "s__tool_9",
      "s__tool_9",
      "s__tool_9",
    ];
    assert.deepEqual(await run([...used, "s__tool_9"], list), { ofA: own, ofB: own });
    // In the order of the list, not of their use; calls that failed do not count, and other clients see none of it.
    const expected = [...own, "s__tool_3", "s__tool_5"];
    // The start of a gateway waits two seconds for the trail, in which a busy machine may not read it: another start does.
    const whenRead = (calls: readonly string[]) =>
      waitUntil(async () => {
        const lists = await run(calls, list);
        return lists.ofA.length > own.length && lists;
      });
    assert.deepEqual(await whenRead(["s__tool_5"]), { ofA: expected, ofB: own });
    assert.deepEqual(await whenRead([]), { ofA: expected, ofB: own });
    // They fit into the budget, or are not listed.
    assert.deepEqual((await run([], { token_budget: 1, most_used: 8 })).ofA, own);
    assert.deepEqual((await run([], { token_budget: 900, most_used: 0 })).ofA, own);
  },
);
