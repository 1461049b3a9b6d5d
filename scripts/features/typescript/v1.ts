/** Entry: the client of the TypeScript SDK, version 1 (`@modelcontextprotocol/sdk`), in the feature table. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { capabilities, followPlan } from "./follow-plan.ts";

await followPlan(async ({ url, token }, received, answers) => {
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
    close: () => client.close(),
  };
});
