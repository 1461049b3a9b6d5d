/**
 * Definitions that wait or change at a server that the policy hides from a client, or in a part of a server that it
 * hides: neither named, nor listed, nor notified, in both eras.
 */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { JsonObject } from "@toolcrib/json";
import { slowTest, waitUntil } from "@toolcrib/testing";
import type { ToolDefinition } from "@toolcrib/tool";
import {
  onHttp,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";

const unverified = { trust_state: "unverified" };
const waitingTool = "list_waiting_servers";

const namesOf = async (client: Pick<Client, "listTools">) =>
  (await client.listTools()).tools.map(({ name }) => name);

async function approveAll({ gateway }: TestGateway, server: string): Promise<void> {
  const { digest } = gateway.approvals.definitions(server);
  await gateway.approvals.approveDefinitions(server, digest, {
    issuer: "toolcrib:cli",
    subject: "cli",
    name: "cli",
    roles: ["operator"],
  });
}

it("a client learns of waiting servers and definitions only as far as the policy lets it list them", async () => {
  await using open = await startScriptedServer({ tools: () => [toolNamed("a"), toolNamed("b")] });
  await using vault = await startScriptedServer({
    tools: () => [toolNamed("x"), toolNamed("y")],
    prompts: () => [{ name: "p" }],
    resources: () => [{ uri: "r://1", name: "r" }],
    instructions: "The vault",
  });
  await using test = await startTestGateway(
    {
      tool_servers: [onHttp("open", open.url, unverified), onHttp("vault", vault.url, unverified)],
      policy: {
        clients: {
          // One client is denied the server, the other each of its parts.
          whole: { deny: ["vault:*"] },
          parts: { deny: ["vault:x", "vault:y", "vault:prompts/*", "vault:resources/*", "open:b"] },
          none: { allow: ["nothing:*"] },
        },
      },
    },
    { clients: ["whole", "parts", "none", "free"] },
  );
  await test.gateway.prepared();
  const waitingFor = async (as: string) => {
    const client = await test.connect({ as });
    const modern = await test.connectModern({ as });
    const isListed = (await namesOf(client)).includes(waitingTool);
    assert.equal(
      (await modern.listTools()).tools.some(({ name }) => name === waitingTool),
      isListed,
    );
    for (const one of [client, modern]) {
      assert.equal((one.getInstructions() ?? "").includes(waitingTool), isListed, as);
    }
    if (isListed) return textOf(await client.callTool({ name: waitingTool }));
    const answers = await Promise.all(
      [waitingTool, "list_nothing"].map((name) =>
        client.callTool({ name }).catch(({ message }: Error) => message.replace(name, "NAME")),
      ),
    );
    assert.deepEqual(answers[0], answers[1]);
    await assert.rejects(modern.callTool({ name: waitingTool, arguments: {} }), /Unknown tool/);
    const described = await client.callTool({ name: "describe_tool", arguments: { name: waitingTool } });
    assert.match(textOf(described), /Unknown tool/);
    return undefined;
  };
  const line = (server: string, what: string) =>
    `${server}: ${what}. The operator can see and approve them in a terminal: toolcrib approve ${server}`;
  assert.equal(
    await waitingFor("free"),
    `${line("open", "2 new tools")}\n${line("vault", "5 new definitions")}`,
  );
  assert.equal(await waitingFor("whole"), line("open", "2 new tools"));
  assert.equal(await waitingFor("parts"), line("open", "1 new tool"));
  assert.equal(await waitingFor("none"), undefined);
  await approveAll(test, "open");
  // Only the server that is hidden waits.
  for (const as of ["whole", "parts", "none"]) assert.equal(await waitingFor(as), undefined, as);
  assert.equal(await waitingFor("free"), line("vault", "5 new definitions"));
});

/** Lists of a server that a test changes, one entry of each hidden from the client `ci`. */
interface Lists {
  tools: ToolDefinition[];
  prompts: JsonObject[];
  resources: JsonObject[];
}

const kinds = ["tools", "prompts", "resources"] as const;

it("a client is notified only of changes of the lists that it sees, in both eras", async () => {
  const lists: Lists = {
    tools: [toolNamed("seen"), toolNamed("hidden")],
    prompts: [{ name: "seen" }, { name: "hidden" }],
    resources: [
      { uri: "r://seen", name: "r" },
      { uri: "r://hidden", name: "r" },
    ],
  };
  await using server = await startScriptedServer({
    tools: () => lists.tools,
    prompts: () => lists.prompts,
    resources: () => lists.resources,
  });
  const deny = ["s:hidden*", "s:prompts/hidden*", "s:resources/r://hidden*"];
  await using test = await startTestGateway(
    { tool_servers: [onHttp("s", server.url)], policy: { clients: { ci: { deny } } } },
    { clients: ["ci", "free"] },
  );
  const heardBy = async (as: string) => {
    const heard: string[] = [];
    for (const where of [{}, { server: "s" }]) {
      const client = await test.connect({ as, ...where });
      client.fallbackNotificationHandler = async ({ method }) =>
        void heard.push(`legacy ${method.split("/")[1]}`);
      const modern = await test.connectModern({ as, ...where });
      for (const kind of kinds) {
        modern.setNotificationHandler(
          `notifications/${kind}/list_changed`,
          () => void heard.push(`modern ${kind}`),
        );
      }
      await modern.listen({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true });
    }
    return heard;
  };
  const ofCi = await heardBy("ci");
  const ofFree = await heardBy("free");
  const expected = (kind: string) => [`legacy ${kind}`, `legacy ${kind}`, `modern ${kind}`, `modern ${kind}`];
  const changed = async (kind: (typeof kinds)[number], isSeenByCi: boolean) => {
    server.notify(`notifications/${kind}/list_changed`);
    await waitUntil(() => ofFree.length === 4 && ofCi.length >= (isSeenByCi ? 4 : 0), { what: kind });
    assert.deepEqual([ofFree.sort(), ofCi.sort()], [expected(kind), isSeenByCi ? expected(kind) : []], kind);
    ofFree.length = 0;
    ofCi.length = 0;
  };
  lists.tools = [toolNamed("seen"), toolNamed("hidden", { description: "Another one" })];
  await changed("tools", false);
  lists.prompts = [{ name: "seen" }, { name: "hidden", description: "Another one" }];
  await changed("prompts", false);
  lists.resources = [
    { uri: "r://seen", name: "r" },
    { uri: "r://hidden2", name: "r" },
  ];
  await changed("resources", false);
  lists.tools = [toolNamed("seen", { description: "Another one" }), ...lists.tools.slice(1)];
  await changed("tools", true);
  lists.prompts = [{ name: "seen", description: "Another one" }, ...lists.prompts.slice(1)];
  await changed("prompts", true);
  lists.resources = [{ uri: "r://seen", name: "other" }, ...lists.resources.slice(1)];
  await changed("resources", true);
  // The last entry that the client could use: the server as a whole is hidden from it then.
  lists.tools = lists.tools.slice(1);
  await changed("tools", true);
  // The same lists again, and then a change: no notification arrives before that of the change.
  for (const kind of kinds) server.notify(`notifications/${kind}/list_changed`);
  lists.tools = [toolNamed("seen"), ...lists.tools];
  await changed("tools", true);
});

it("a client is not notified of updates of resources that the policy hides from it", async () => {
  await using server = await startScriptedServer({
    resources: () => [{ uri: "r://dir", name: "r" }],
    other: ({ method }) => (method === "resources/subscribe" ? {} : undefined),
  });
  await using test = await startTestGateway(
    {
      tool_servers: [onHttp("s", server.url)],
      policy: { clients: { ci: { deny: ["s:resources/r://dir/hidden*"] } } },
    },
    { clients: ["ci", "free"] },
  );
  const heard: string[] = [];
  for (const as of ["ci", "free"]) {
    const client = await test.connect({ as });
    client.fallbackNotificationHandler = async ({ params }) =>
      void heard.push(`${as} ${String(params?.["uri"])}`);
    await client.subscribeResource({ uri: "r://dir" });
  }
  for (const uri of ["r://dir/hidden/1", "r://dir/seen", "r://dir"]) {
    server.notify("notifications/resources/updated", { uri });
  }
  await waitUntil(() => heard.length >= 5, { what: () => heard.join() });
  assert.deepEqual(heard.sort(), [
    "ci r://dir",
    "ci r://dir/seen",
    "free r://dir",
    "free r://dir/hidden/1",
    "free r://dir/seen",
  ]);
});

it(
  "replaced policies are notified to the clients whose lists they change, and end updates of what they hide",
  slowTest,
  async () => {
    let tools = [toolNamed("a"), toolNamed("b")];
    await using server = await startScriptedServer({
      tools: () => tools,
      resources: () => [{ uri: "r://dir", name: "r" }],
      other: ({ method }) => (method === "resources/subscribe" ? {} : undefined),
    });
    const policyOf = (tool: string) => `
    permit(principal, action, resource) when { resource is Tool && resource.name == "a" };
    permit(principal == Client::"dev", action, resource) when { resource.name == "${tool}" };
    permit(principal == Client::"dev", action, resource) when { resource is Resource && "${tool}" == "b" };`;
    const files = { "main.cedar": policyOf("b") };
    await using test = await startTestGateway(
      {
        tool_servers: [onHttp("s", server.url)],
        policy: { files: ["main.cedar"], clients: { ci: {}, dev: {} } },
      },
      { clients: ["ci", "dev"], files },
    );
    const heard: string[] = [];
    for (const as of ["ci", "dev"]) {
      const client = await test.connect({ as });
      client.fallbackNotificationHandler = async ({ method }) => void heard.push(`${as} ${method}`);
      if (as === "dev") await client.subscribeResource({ uri: "r://dir" });
    }
    writeFileSync(join(test.home, "..", "main.cedar"), policyOf("c"));
    await waitUntil(() => heard.length >= 2, { what: () => heard.join() });
    server.notify("notifications/resources/updated", { uri: "r://dir" });
    tools = [toolNamed("a", { description: "Another one" })];
    server.notify("notifications/tools/list_changed");
    await waitUntil(() => heard.length >= 4, { what: () => heard.join() });
    assert.deepEqual(heard.sort(), [
      "ci notifications/tools/list_changed",
      "dev notifications/resources/list_changed",
      "dev notifications/tools/list_changed",
      "dev notifications/tools/list_changed",
    ]);
  },
);
