/** The gateway as its users start it: the command in a process of its own. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ServerProcess, startServerProcess } from "@toolcrib/testing";

const root = join(import.meta.dirname, "../../../..");
const entry = fileURLToPath(new URL(import.meta.resolve("@toolcrib/cli")));

/** Arguments of node that run the command, on source or on the build as the tests do. */
export const commandLine: readonly string[] = entry.endsWith(".ts")
  ? ["--conditions=toolcrib-source", join(root, "packages/cli/src/bin.ts")]
  : [join(root, "packages/cli/dist/bin.js")];

/** The three real servers of the quickstart. */
export const quickstartConfig = join(root, "examples/quickstart/toolcrib.yaml");

/** A gateway that serves HTTP, and what clients need to reach it. */
export interface ServedGateway extends AsyncDisposable {
  readonly process: ServerProcess;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly token: string;
}

/** Start `toolcrib serve` on a free port. */
export async function serveGateway(
  config: string,
  home: string,
  env: { readonly [name: string]: string } = {},
): Promise<ServedGateway> {
  const args = [...commandLine, "serve", "--config", config, "--home", home, "--listen", "127.0.0.1:0"];
  const server = await startServerProcess(process.execPath, args, {
    urlPattern: /http:\/\/127\.0\.0\.1:\d+\/mcp/,
    env: { NO_COLOR: "1", ...env },
    timeoutMs: 30_000,
  });
  return {
    process: server,
    baseUrl: server.url.replace(/\/mcp$/, ""),
    token: readFileSync(join(home, "tokens/default"), "utf8").trim(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
