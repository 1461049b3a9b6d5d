/**
 * A client that knows nothing but the meta-tools completes tasks among more than 500 tools of real services: the
 * definitions of the catalog, served by one MCP server for each service.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { readCatalogPair } from "@toolcrib/config";
import { readRegularFile } from "@toolcrib/files";
import type { JsonObject } from "@toolcrib/json";
import { fastSample } from "@toolcrib/testing";
import type { ToolDefinition } from "@toolcrib/tool";
import { parseToolspec, toolDefinitions } from "@toolcrib/toolspec";
import {
  onHttp,
  type ScriptedServer,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  textOf,
} from "./gateway-harness.ts";

const services = [
  ...[
    "airtable",
    "bitbucket",
    "cloudflare",
    "discord",
    "dropbox",
    "github",
    "gitlab",
    "google-calendar",
    "hubspot",
  ],
  ...[
    "jira",
    "linear",
    "notion",
    "pagerduty",
    "sendgrid",
    "sentry",
    "shopify",
    "slack",
    "stripe",
    "telegram",
  ],
  ...["todoist", "trello", "twilio", "zendesk", "zoom"],
];
const catalogFolder = join(import.meta.dirname, "../../../catalog");

async function definitionsOf(name: string): Promise<readonly ToolDefinition[]> {
  const pair = await readCatalogPair(name, undefined, { readFile: readRegularFile, catalogFolder });
  assert.ok("toolspec" in pair);
  const { value } = parseToolspec(
    pair.toolspec as unknown as { readonly name: string; readonly text: string },
  );
  return toolDefinitions(value ?? assert.fail(name)).map(({ definition }) => definition as ToolDefinition);
}

/** A task in the words of a user, the values that it is about, and the tool that completes it. */
type Task = readonly [goal: string, values: JsonObject, tool: string, corrected?: JsonObject];

const tasks: readonly Task[] = [
  [
    "refund a payment to the customer on stripe",
    { payment_intent: "pi_1", amount: 1000 },
    "stripe:create_refund",
  ],
  ["create a stripe customer", { email: "jenny@example.com", name: "Jenny" }, "stripe:create_customer"],
  [
    "open a new issue in a github repository",
    { owner: "o", repo: "r", title: "Login fails" },
    "github:create_issue",
  ],
  ["read one github issue", { owner: "o", repo: "r", issue_number: 42 }, "github:get_issue"],
  ["search code on github", { q: "addClass repo:jquery/jquery" }, "github:search_code"],
  ["post a message to a slack channel", { channel: "C0123", text: "Deployed" }, "slack:post_message"],
  ["send a telegram message to a chat", { chat_id: "@example", text: "Deployed" }, "telegram:send_message"],
  ["send a message in a discord channel", { channel_id: "41", content: "Green" }, "discord:send_message"],
  ["create a folder in dropbox", { path: "/Reports/2026" }, "dropbox:create_folder"],
  ["create a task in todoist", { content: "Buy milk", due_string: "tomorrow" }, "todoist:create_task"],
  ["create a trello card in a list", { idList: "5abb", name: "Fix login" }, "trello:create_card"],
  ["schedule a zoom meeting", { userId: "me", topic: "Review", duration: 45 }, "zoom:create_meeting"],
  ["comment on a jira issue", { issue_key: "ENG-123", body: "Fixed" }, "jira:add_comment"],
  ["get a zendesk ticket", { ticket_id: 35436 }, "zendesk:get_ticket"],
  [
    "purge the cache of a cloudflare zone",
    { zone_id: "023e", files: ["https://www.example.com/app.js"] },
    "cloudflare:purge_cache",
  ],
  ["get an issue of sentry", { organization: "acme", issue_id: "45" }, "sentry:get_issue"],
  [
    "list records of an airtable table",
    { baseId: "app1", tableIdOrName: "Open tasks" },
    "airtable:list_records",
  ],
  // Their first calls are invalid, and the answer says how to correct them.
  [
    "list the issues of a github repository",
    { owner: "o", repo: "r", sate: "open", per_page: "50" },
    "github:list_issues",
    { owner: "o", repo: "r", state: "open", per_page: 50 },
  ],
  [
    "search messages in slack",
    { query: "deploy in:#ops", srot: "timestamp" },
    "slack:search_messages",
    { query: "deploy in:#ops", sort: "timestamp" },
  ],
  // Its result is long: the answer is at its end.
  ["list the projects of gitlab", { search: "crib" }, "gitlab:list_projects"],
];

let servers: readonly ScriptedServer[];
let test: TestGateway;
const received: { readonly tool: string; readonly args: JsonObject }[] = [];

before(async () => {
  const started = services.map(async (service) => {
    const tools = await definitionsOf(service);
    return startScriptedServer({
      tools: () => tools,
      call(_request, name, args) {
        received.push({ tool: `${service}:${name}`, args });
        const rows = name === "list_projects" ? Array.from({ length: 4000 }, (_, at) => `project ${at}`) : [];
        return { content: [{ type: "text", text: [...rows, `completed ${service}:${name}`].join("\n") }] };
      },
    });
  });
  servers = await Promise.all(started);
  test = await startTestGateway({
    tool_servers: services.map((service, at) => onHttp(service, (servers[at] as ScriptedServer).url)),
    serve: { mode: "search", results: { token_budget: 5000 } },
    profiles: { all: { mode: "full" } },
  });
});

after(async () => {
  await test[Symbol.asyncDispose]();
  for (const server of servers) await server[Symbol.asyncDispose]();
});

type Client = Pick<Awaited<ReturnType<TestGateway["connect"]>>, "callTool" | "listTools">;

const askTool = async (client: Client, name: string, args: JsonObject) =>
  textOf(await client.callTool({ name, arguments: args }));

/** Returns the arguments of a signature, and whether each is required. */
function argumentsOf(signature: string): ReadonlyMap<string, boolean> {
  const list = /^[^(]*\((.*?)\)(?: ->| —|$)/.exec(signature)?.[1] ?? "";
  const found = list.matchAll(/(?:^|, )("?)([\w.-]+)\1(\??): /g);
  return new Map([...found].map(([, , name = "", mark]) => [name, mark === ""] as const));
}

/** Returns how many of the values a tool takes; below 0 for one that needs others. */
function fitOf(signature: string, values: JsonObject): number {
  const known = argumentsOf(signature);
  if ([...known].some(([name, isRequired]) => isRequired && !Object.hasOwn(values, name))) return -1;
  return Object.keys(values).filter((name) => known.has(name)).length;
}

/** Completes a task with the meta-tools alone. @returns the last line of the result */
async function complete(client: Client, goal: string, values: JsonObject): Promise<string> {
  const found = await askTool(client, "search_tools", { query: goal, limit: 10 });
  // The first of those that take the most values.
  const [best = ""] = found.split("\n").sort((a, b) => fitOf(b, values) - fitOf(a, values));
  const name = /^[^(]+/.exec(best)?.[0] ?? "";
  let answer = await askTool(client, "call_tool", { name, arguments: values });
  const valid = /^These arguments are valid: (.*)$/m.exec(answer)?.[1];
  if (valid !== undefined)
    answer = await askTool(client, "call_tool", { name, arguments: JSON.parse(valid) });
  for (
    let more = /read_more\((.*)\)\]$/.exec(answer);
    more !== null;
    more = /read_more\((.*)\)\]$/.exec(answer)
  ) {
    answer = await askTool(client, "read_more", JSON.parse(more[1] ?? ""));
  }
  return answer.split("\n").findLast((line) => !line.startsWith("[")) ?? "";
}

describe("more than 500 tools of real services", () => {
  it("cost at most 2 % of their list in the mode full", async () => {
    assert.ok(test.gateway.status().tools >= 500, String(test.gateway.status().tools));
    const short = (await (await test.connect()).listTools()).tools;
    const full = (await (await test.connect({ profile: "all" })).listTools()).tools;
    assert.deepEqual(
      short.map(({ name }) => name),
      ["search_tools", "describe_tool", "call_tool", "read_more"],
    );
    assert.ok(full.length > 500);
    assert.ok(JSON.stringify(short).length <= 0.02 * JSON.stringify(full).length);
    const [endpoint] = test.gateway.status().discovery.endpoints;
    assert.ok(
      endpoint !== undefined && endpoint.tokens <= 0.02 * endpoint.fullTokens,
      JSON.stringify(endpoint),
    );
    const { listedTokens, savedTokens } = test.gateway.status().discovery;
    assert.ok(listedTokens > endpoint.fullTokens && savedTokens > 0.9 * endpoint.fullTokens);
  });

  it("complete 20 tasks for a client that knows the meta-tools alone", async () => {
    assert.equal(tasks.length, 20);
    for (const client of [await test.connect(), (await test.connectModern()) as unknown as Client]) {
      for (const [goal, values, tool, corrected] of fastSample(tasks)) {
        received.length = 0;
        assert.equal(await complete(client, goal, values), `completed ${tool}`, goal);
        assert.deepEqual(received, [{ tool, args: corrected ?? values }], goal);
      }
    }
  });
});
