/** Entry: the client of the TypeScript SDK, version 1 (`@modelcontextprotocol/sdk`), in the feature table. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { followPlan, type RanTasks } from "./follow-plan.ts";

await followPlan(async ({ url, token }, received, answers, capabilities) => {
  const client = new Client({ name: "typescript-v1", version: "1.0.0" }, { capabilities });
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => answers.sample(params));
  client.setRequestHandler(ElicitRequestSchema, ({ params }) =>
    answers.elicit(params.mode === "url" ? params : {}),
  );
  client.setRequestHandler(ListRootsRequestSchema, () => answers.roots());
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) =>
    received.add("log", params.data),
  );
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) =>
    received.add("update", params.uri),
  );
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport as Transport);
  return {
    protocol: transport.protocolVersion ?? "",
    request: (method, params, options) =>
      client.request({ method, params: { ...params } }, ResultSchema, options),
    subscribe: (uri) => client.subscribeResource({ uri }),
    runTasks: (tool, args) => runTasks(client, tool, args),
    close: () => client.close(),
  };
});

/** The tasks of 2025-11-25, of which this version of the SDK is a client. */
async function runTasks(client: Client, name: string, args: object): Promise<RanTasks> {
  const { tasks } = client.experimental;
  const start = async () => {
    const params = { name, arguments: { ...args }, task: { ttl: 60_000 } };
    const { task } = await client.request({ method: "tools/call", params }, CreateTaskResultSchema);
    return task.taskId;
  };
  const isListed = async (id: string) => {
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await tasks.listTasks(cursor);
      if (page.tasks.some(({ taskId }) => taskId === id)) return true;
      cursor = page.nextCursor;
    }
    return false;
  };
  const statusOf = async (id: string) => (await tasks.getTask(id)).status;
  const id = await start();
  const running = await statusOf(id);
  const listed = await isListed(id);
  const result = await tasks.getTaskResult(id, CallToolResultSchema);
  const other = await start();
  await tasks.cancelTask(other);
  return { running, listed, result, ended: await statusOf(id), cancelled: await statusOf(other) };
}
