/** A gateway in its own process, started with the command line. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ServerProcess, startServerProcess } from "@toolcrib/testing";
import { commandLine } from "../transcript.ts";

const root = join(import.meta.dirname, "../../../..");
/** The three real servers of the quickstart. */
export const quickstartConfig = join(root, "examples/quickstart/toolcrib.yaml");

/** A gateway that serves HTTP, and the data that clients need to connect. */
export interface ServedGateway extends AsyncDisposable {
  readonly process: ServerProcess;
  /** The URL without a trailing slash. */
  readonly baseUrl: string;
  readonly token: string;
}

/** Starts `toolcrib serve`. @param listen where it listens. @default a free port */
export async function serveGateway(
  config: string,
  home: string,
  env: { readonly [name: string]: string } = {},
  listen = "127.0.0.1:0",
): Promise<ServedGateway> {
  const args = [...commandLine, "serve", "--config", config, "--home", home, "--listen", listen];
  const server = await startServerProcess(process.execPath, args, {
    urlPattern: /http:\/\/127\.0\.0\.1:\d+\/mcp/,
    env: { NO_COLOR: "1", ...env },
  });
  return {
    process: server,
    baseUrl: server.url.replace(/\/mcp$/, ""),
    token: readFileSync(join(home, "tokens/default"), "utf8").trim(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
