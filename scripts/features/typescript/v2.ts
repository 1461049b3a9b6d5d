/** Entry: the client of the TypeScript SDK, version 2 (`@modelcontextprotocol/client`), in the feature table. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { capabilities, followPlan } from "./follow-plan.ts";

await followPlan(async ({ url, token }, received, answers) => {
  const client = new Client(
    { name: "typescript-v2", version: "1.0.0" },
    { capabilities, versionNegotiation: { mode: "auto" } },
  );
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
    close: () => client.close(),
  };
});
