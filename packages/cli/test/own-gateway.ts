/** A gateway of the command with arguments of Node and files that a test chooses, and a client of it. */

import { writeFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  echoStdioPath,
  fixtureCommand,
  type ServerProcess,
  startServerProcess,
  type TemporaryDirectory,
  waitUntil,
} from "@toolcrib/testing";
import { cleanEnvironment } from "./transcript.ts";

/** A gateway with one server, whose tools its client lists. Disposing it closes both. */
export interface OwnGateway extends AsyncDisposable {
  readonly process: ServerProcess;
  readonly client: Client;
}

/**
 * Starts `node ...args serve` with a server `s`, and connects a client, which waits until it lists the tools of the server.
 *
 * @param args options of Node, and the file that starts the command.
 * @param directory for the configuration and the home.
 * @param transport how the server starts. @default an echo server on stdio
 */
export async function startOwnGateway(
  args: readonly string[],
  directory: TemporaryDirectory,
  transport: { readonly command: string; readonly args: readonly string[] } = fixtureCommand(echoStdioPath),
): Promise<OwnGateway> {
  await using opening = new AsyncDisposableStack();
  const config = directory.join("toolcrib.yaml");
  const server = JSON.stringify({ kind: "stdio", ...transport });
  writeFileSync(
    config,
    `tool_servers:\n  - id: s\n    transport: ${server}\n    trust_state: verified\nserve:\n  auth: none\n`,
  );
  const command = [...args, "serve", "--config", config, "--listen", "127.0.0.1:0"];
  const gateway = opening.use(
    await startServerProcess(process.execPath, command, {
      urlPattern: /http:\/\/127\.0\.0\.1:\d+\/mcp/,
      env: { ...cleanEnvironment(directory.path), TOOLCRIB_HOME: directory.join("home") },
    }),
  );
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url)));
  opening.defer(() => client.close());
  await waitUntil(async () => (await client.listTools()).tools.some(({ name }) => name.startsWith("s__")));
  const resources = opening.move();
  return { process: gateway, client, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
