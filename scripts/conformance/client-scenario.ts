/**
 * One scenario for clients of the conformance suite: a gateway is started with the server of the scenario, and a client
 * of the SDK lists and calls through it what the scenario is about. Where a call fails because a person has to act, the
 * operator does what the message says: a login with the command, or a setting. Everything between the gateway and the
 * server, and between the gateway and the authorization server, is done by the gateway and its command.
 */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type AuthSettings, startTestedGateway, type TestedGateway } from "./tested-gateway.ts";

/** A scenario as the suite describes it to the command. */
export interface ScenarioRequest {
  readonly scenario: string;
  /** The URL of the server. */
  readonly url: string;
  /** The revision of MCP that the server speaks. */
  readonly revision: string;
  /** Data of the scenario, such as the credentials of a registered client. */
  readonly context: ScenarioContext;
}

interface ScenarioContext {
  readonly toolCalls?: readonly Call[];
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
}

/** The result of the command. */
export interface ScenarioOutcome {
  readonly code: number;
  /** The log of the run, for the results of the suite. */
  readonly log: string;
}

interface Call {
  readonly name: string;
  readonly arguments?: { readonly [name: string]: unknown };
}

type Tool = Awaited<ReturnType<Client["listTools"]>>["tools"][number];

/** Times that the operator acts on a message before the scenario fails. */
const maxActions = 4;

/** Runs one scenario. */
export async function runClientScenario(request: ScenarioRequest): Promise<ScenarioOutcome> {
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  let gatewayLog = "";
  let code = 1;
  try {
    await using gateway = await startTestedGateway(request.url, authOf(request));
    try {
      await useServer(request, gateway, log);
      code = 0;
    } finally {
      gatewayLog = gateway.log();
    }
  } catch (error) {
    code = 1;
    log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  return { code, log: `${lines.join("\n")}\n${gatewayLog}` };
}

/** Returns the settings that the operator knows before the first call. */
function authOf({ scenario, context }: ScenarioRequest): AuthSettings | undefined {
  if (!scenario.startsWith("auth/")) return undefined;
  const { client_id: id, client_secret: secret, private_key_pem: key } = context;
  return {
    ...(scenario.startsWith("auth/client-credentials") ? { grant: "client_credentials" } : {}),
    ...(id === undefined
      ? { client_metadata_url: "https://conformance-test.local/client-metadata.json" }
      : { client_id: id }),
    ...(secret === undefined ? {} : { client_secret: secret }),
    ...(key === undefined ? {} : { private_key: key }),
  };
}

/** Uses the server as the scenario needs it, and acts on messages for the operator. */
async function useServer(
  request: ScenarioRequest,
  gateway: TestedGateway,
  log: (line: string) => void,
): Promise<void> {
  for (let actions = 0; ; actions += 1) {
    try {
      await useOnce(request, gateway, log);
      return;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      log(`the client sees: ${problem}`);
      if (actions === maxActions || !(await gateway.actOn(problem, log))) throw error;
    }
  }
}

/** Lists and calls with one client. */
async function useOnce(
  { scenario, revision, context }: ScenarioRequest,
  gateway: TestedGateway,
  log: (line: string) => void,
) {
  await using client = await connect(gateway.url, revision);
  const tools = (await client.listTools()).tools;
  log(`tools: ${tools.map(({ name }) => name).join(" ")}`);
  for (const call of context.toolCalls ?? callsOf(scenario, tools)) {
    const result = await client.callTool({ name: call.name, arguments: { ...call.arguments } });
    log(`${call.name}: ${JSON.stringify(result)}`);
    if (result.isError === true) throw new Error(JSON.stringify(result.content));
  }
  if (scenario !== "http-standard-headers") return;
  for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
  for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
}

/** Returns the calls of a scenario: each tool once, unless it needs arguments or an absence of calls. */
function callsOf(scenario: string, tools: readonly Tool[]): readonly Call[] {
  switch (scenario) {
    case "json-schema-ref-no-deref":
      return [];
    case "tools_call":
      return [{ name: "add_numbers", arguments: { a: 5, b: 3 } }];
    case "json-schema-2020-12-preservation": {
      const schema = tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema;
      return [{ name: "json_schema_echo", arguments: { schema } }];
    }
    default:
      // Without a login a server has no tools, and the call says so.
      if (scenario.startsWith("auth/")) return [{ name: "test-tool" }];
      return tools.map(({ name, inputSchema }) => ({ name, arguments: argumentsFor(inputSchema) }));
  }
}

/** Returns a text for each argument that a tool requires. */
function argumentsFor({ required = [] }: Tool["inputSchema"]): { readonly [name: string]: string } {
  return Object.fromEntries(required.map((name) => [name, "text"]));
}

/** Connects a client of the era of `revision` that accepts what a server suggests when it is asked. */
async function connect(url: string, revision: string): Promise<Client & AsyncDisposable> {
  const isModern = revision >= "2026";
  const client = new Client(
    { name: "conformance-client", version: "1.0.0" },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
      ...(isModern ? { versionNegotiation: { mode: "auto" } } : {}),
    },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => {
    const fields = Object.keys("requestedSchema" in params ? params.requestedSchema.properties : {});
    const content: { [name: string]: boolean } = fields.includes("confirmed") ? { confirmed: true } : {};
    return { action: "accept", content };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}
