/** Entry: the client of the TypeScript SDK, version 2 (`@modelcontextprotocol/client`), in the feature table. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  createTaskSessionFromClient,
  type RawClientDispatch,
  resultFromTaskOutcome,
  toolDeclarationFromMcpTool,
} from "@modelcontextprotocol/ext-tasks/client";
import type { PlannedConnection } from "../plan.ts";
import { type Answers, type Declared, followPlan, type RanTasks } from "./follow-plan.ts";

const clientInfo = { name: "typescript-v2", version: "1.0.0" };
const modernVersion = "2026-07-28";

await followPlan(async (given, received, answers, capabilities) => {
  const { url, token } = given;
  const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: "auto" } });
  client.setRequestHandler("sampling/createMessage", ({ params }) => answers.sample(params));
  client.setRequestHandler("elicitation/create", ({ params }) =>
    answers.elicit(params.mode === "url" ? params : {}),
  );
  client.setRequestHandler("roots/list", () => answers.roots());
  client.setNotificationHandler("notifications/message", ({ params }) => received.add("log", params.data));
  client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
    received.add("update", params.uri),
  );
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport);
  const protocol = client.getNegotiatedProtocolVersion() ?? "";
  return {
    protocol,
    request: (method, params, options) => client.request({ method, params: { ...params } } as never, options),
    subscribe: (uri) =>
      protocol < "2026" ? client.subscribeResource({ uri }) : client.listen({ resourceSubscriptions: [uri] }),
    runTasks: (tool, args) => runTasks(client, given, answers, capabilities, tool, args),
    close: () => client.close(),
  };
});

/** The tasks of both revisions, of which the package of the extension is a client on this version of the SDK. */
async function runTasks(
  client: Client,
  given: PlannedConnection,
  answers: Answers,
  capabilities: Declared,
  name: string,
  args: object,
): Promise<RanTasks> {
  const { tools } = await client.listTools();
  const declarations = new Map(tools.map((tool) => [tool.name, toolDeclarationFromMcpTool(tool)]));
  const isModern = client.getProtocolEra() === "modern";
  const modern = {
    rawDispatch: rawDispatch(given),
    v2RequestFraming: { protocolVersion: modernVersion, clientInfo, clientCapabilities: capabilities },
  };
  await using session = createTaskSessionFromClient(client, {
    endpointId: given.id,
    tools: { currentTool: (tool) => declarations.get(tool) },
    onInputRequest: async () => answers.elicit({}) as never,
    ...((isModern ? modern : {}) as typeof modern),
  });
  const start = async () => {
    const execution = await session.callTool(name, { ...args }, { task: { preference: "require" } });
    if (execution.kind !== "task") throw new Error("the call did not become a task");
    return execution;
  };
  const statusOf = async (id: Parameters<typeof session.task>[0]) =>
    (await session.task(id).snapshot()).status;
  const isListed = async (id: string) => {
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await session.listTasks(cursor);
      if (page.tasks.some(({ taskId }) => taskId === id)) return true;
      cursor = page.nextCursor;
    }
    return false;
  };
  const execution = await start();
  const id = execution.handle.taskId;
  const running = await statusOf(id);
  const listed = isModern ? "none in this revision" : await isListed(id);
  const { outcome } = await execution.settle();
  const other = await start();
  await session.cancelTask(other.handle.taskId);
  return {
    running,
    listed,
    result: resultFromTaskOutcome(outcome),
    ended: outcome.status,
    cancelled: await statusOf(other.handle.taskId),
  };
}

/** Sends the requests of 2026-07-28 that the SDK does not know, as the package asks its host to. */
function rawDispatch({ url, token }: PlannedConnection): RawClientDispatch {
  let id = 0;
  return async (request) => {
    id += 1;
    const requestId = `task-${id}`;
    const { method, params } = request as unknown as { readonly method: string; readonly params: RawParams };
    const response = await fetch(url, {
      method: "POST",
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": modernVersion,
        "mcp-method": method,
        "mcp-name": params.name ?? params.taskId ?? "",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: requestId, method, params }),
    });
    const body = await response.text();
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const texts = isStream ? [...body.matchAll(/^data: ?(\{.*)$/gm)].map((match) => match[1] ?? "") : [body];
    const answer = texts.map((one) => JSON.parse(one) as RawAnswer).find((one) => one.id === requestId);
    if (answer === undefined) throw new Error(`no answer to ${method}: HTTP ${response.status}`);
    return answer.error === undefined
      ? { kind: "result", result: answer.result as never }
      : { kind: "error", error: answer.error as never };
  };
}

interface RawParams {
  readonly name?: string;
  readonly taskId?: string;
}

interface RawAnswer {
  readonly id?: string;
  readonly result?: unknown;
  readonly error?: unknown;
}
