/** Resources of the conformance server: text, bytes, a template, and one for subscriptions. */

import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { redPixelPng } from "./samples.ts";

export function registerResources(server: McpServer): void {
  registerText(server, "static-text", "This is the content of the static text resource.");
  server.registerResource(
    "static-binary",
    "test://static-binary",
    { title: "Static binary", description: "An image that never changes", mimeType: "image/png" },
    (uri) => ({ contents: [{ uri: uri.href, mimeType: "image/png", blob: redPixelPng }] }),
  );
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { title: "Template", description: "Data by id", mimeType: "application/json" },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: "application/json",
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  );
  registerText(server, "watched-resource", "Watched resource content");
  registerSubscriptions(server);
}

function registerText(server: McpServer, name: string, text: string): void {
  server.registerResource(
    name,
    `test://${name}`,
    { title: name, description: `The text resource ${name}`, mimeType: "text/plain" },
    (uri) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text }] }),
  );
}

/** The subscriptions of this connection; other URIs get no updates. */
function registerSubscriptions(server: McpServer): void {
  const watched = new Set<string>();
  server.server.setRequestHandler("resources/subscribe", ({ params }) => {
    watched.add(params.uri);
    return {};
  });
  server.server.setRequestHandler("resources/unsubscribe", ({ params }) => {
    watched.delete(params.uri);
    return {};
  });
}
