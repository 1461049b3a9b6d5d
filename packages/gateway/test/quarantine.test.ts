/** Quarantined definitions are reported once and remembered across restarts. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import type { SourcePins } from "@toolcrib/store";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import type { ToolDefinition } from "@toolcrib/tool";
import {
  dataOf,
  onHttp,
  readAudit,
  type ScriptedServer,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  toolNamed,
} from "./gateway-harness.ts";

/** The lists of the server "s", which a test changes. */
interface Lists {
  tools: ToolDefinition[];
  prompts: JsonObject[];
}

const badTool = (description: unknown = 1) => toolNamed("bad", { description: description as string });
const badPrompt = { name: "bad", title: 1 };

async function startServer(lists: Lists): Promise<ScriptedServer> {
  return startScriptedServer({
    tools: () => [toolNamed("sound"), ...lists.tools],
    prompts: () => lists.prompts,
  });
}

type Setup = (lists: Lists, server: ScriptedServer, start: () => Promise<TestGateway>) => Promise<void>;

/** Runs `test` with a server and with a function that starts gateways of one home. */
async function withServer(test: Setup): Promise<void> {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const lists: Lists = { tools: [badTool()], prompts: [badPrompt] };
  await using server = await startServer(lists);
  await test(lists, server, async () => {
    const started = await startTestGateway({ tool_servers: [onHttp("s", server.url)] }, { home });
    await started.gateway.prepared();
    return started;
  });
}

const findingsOf = (test: TestGateway) => test.gateway.status().quarantined;
const idsOf = (test: TestGateway) => findingsOf(test).map(({ id }) => id);
const loggedIn = ({ logger }: TestGateway) =>
  logger.records.flatMap(({ message, fields }) =>
    message === "definition is quarantined" ? [(fields as { readonly tool: string }).tool] : [],
  );
const recordedIn = (home: string) => dataOf(readAudit(home), "server.quarantined").map(({ tool }) => tool);
const pinsIn = (home: string) => readdirSync(join(home, "pins"));
/** The names of the definitions that the pins of the home quarantine. */
const heldIn = (home: string) =>
  pinsIn(home).flatMap((name) => {
    const { records } = JSON.parse(readFileSync(join(home, "pins", name), "utf8"));
    const pins = (records as SourcePins[]).flatMap((source) => source.pins);
    return pins.flatMap((pin) => (pin.state.kind === "quarantined" ? [pin.name] : []));
  });

describe("a quarantined definition", () => {
  it("is reported once, and keeps its time across restarts", () =>
    withServer(async (_lists, _server, start) => {
      const ids = ["s:bad", "s:prompts/bad"];
      let first: ReturnType<typeof findingsOf> = [];
      const before = Date.now();
      {
        await using test = await start();
        first = findingsOf(test);
        assert.deepEqual(idsOf(test), ids);
        for (const { since } of first) {
          assert.ok(Date.parse(since) >= before - 1 && Date.parse(since) <= Date.now());
        }
        assert.deepEqual(loggedIn(test).sort(), ids);
      }
      for (let count = 0; count < 2; count += 1) {
        await using test = await start();
        assert.deepEqual(findingsOf(test), first);
        assert.deepEqual(loggedIn(test), []);
        await test.stop();
        assert.deepEqual(recordedIn(test.home).sort(), ids);
      }
    }));

  it("is reported again when it changed, and not when it is listed again", () =>
    withServer(async (lists, server, start) => {
      let changed: string | undefined;
      {
        await using test = await start();
        const [unchanged] = findingsOf(test);
        lists.tools = [toolNamed("other"), badTool()];
        server.notify("notifications/tools/list_changed");
        await waitUntil(() => test.gateway.status().tools === 2);
        assert.deepEqual(findingsOf(test)[0], unchanged);
        lists.tools = [badTool(2)];
        server.notify("notifications/tools/list_changed");
        await waitUntil(() => loggedIn(test).length === 3);
        assert.equal(loggedIn(test).filter((tool) => tool === "s:bad").length, 2);
        changed = findingsOf(test).find(({ id }) => id === "s:bad")?.since;
        assert.ok(changed !== undefined && unchanged !== undefined && changed >= unchanged.since);
      }
      await using test = await start();
      assert.equal(findingsOf(test).find(({ id }) => id === "s:bad")?.since, changed);
      assert.deepEqual(loggedIn(test), []);
    }));

  it("is forgotten when it became valid or disappeared, while the gateway runs", () =>
    withServer(async (lists, server, start) => {
      await using test = await start();
      lists.tools = [toolNamed("bad")];
      server.notify("notifications/tools/list_changed");
      await waitUntil(() => idsOf(test).length === 1);
      lists.tools = [badTool()];
      server.notify("notifications/tools/list_changed");
      await waitUntil(() => idsOf(test).length === 2);
      assert.deepEqual(loggedIn(test), ["s:bad", "s:prompts/bad", "s:bad"]);
      lists.tools = [];
      lists.prompts = [];
      server.notify("notifications/tools/list_changed");
      server.notify("notifications/prompts/list_changed");
      await waitUntil(() => idsOf(test).length === 0);
      await test.stop();
      assert.deepEqual(heldIn(test.home), []);
    }));

  it("is forgotten when it became valid or disappeared, while no gateway runs", () =>
    withServer(async (lists, _server, start) => {
      await (await start()).stop();
      lists.tools = [];
      lists.prompts = [];
      {
        await using test = await start();
        assert.deepEqual(findingsOf(test), []);
        await test.stop();
        assert.deepEqual(heldIn(test.home), []);
      }
    }));

  it("is remembered while its server is not available", () =>
    withServer(async (_lists, server, start) => {
      let since: string | undefined;
      {
        await using test = await start();
        since = findingsOf(test)[0]?.since;
      }
      await server[Symbol.asyncDispose]();
      await using test = await start();
      // Its definitions are remembered, and so is the time of the finding.
      assert.equal(findingsOf(test)[0]?.since, since);
      await test.stop();
      const [name = ""] = pinsIn(test.home);
      const { records } = JSON.parse(readFileSync(join(test.home, "pins", name), "utf8"));
      assert.equal(new Date(records[0].pins[0].firstSeenAt).toISOString(), since);
      assert.deepEqual(records[0].pins[0].state, {
        kind: "quarantined",
        code: "TOOL_DEFINITION_INVALID",
        member: "description",
        reason: '"s:bad" is malformed: description must be a string',
      });
    }));

  it("is reported at each start while its file is damaged, and the file is not replaced", () =>
    withServer(async (_lists, _server, start) => {
      const first = await start();
      await first.stop();
      const [name = ""] = pinsIn(first.home);
      const path = join(first.home, "pins", name);
      const text = readFileSync(path, "utf8");
      writeFileSync(path, "{");
      for (let count = 0; count < 2; count += 1) {
        await using test = await start();
        assert.deepEqual(loggedIn(test).sort(), ["s:bad", "s:prompts/bad"]);
        await test.stop();
        assert.deepEqual(pinsIn(test.home), [name]);
        assert.equal(readFileSync(path, "utf8"), "{");
        const messages = test.logger.records.map(({ message }) => message);
        assert.equal(messages.filter((message) => message === "pins could not be read").length, 1);
      }
      // The operator restores the file from a backup.
      writeFileSync(path, text);
      await using test = await start();
      assert.deepEqual(loggedIn(test), []);
    }));
});
