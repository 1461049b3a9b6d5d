/** Where the startable fixtures are, on source and on the build alike. */

import { fileURLToPath } from "node:url";

const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";

/** Entry: the echo server on stdio. `node <path> [flags]`; flags in `EchoOptions`. */
export const echoStdioPath = pathOf("echo-stdio");

/** Entry: the echo server on streamable HTTP, or on HTTP with SSE with `--transport sse`; prints its URL first. */
export const echoHttpPath = pathOf("echo-http");

/** Entry: the server that passes the MCP conformance suite, on stdio. */
export const conformanceStdioPath = pathOf("conformance-stdio");

/** Entry: the server that passes the MCP conformance suite, on streamable HTTP; prints its URL first. */
export const conformanceHttpPath = pathOf("conformance-http");

/** Entry: a small issue tracker on stdio, `github` or `zenhub` as its first argument says. */
export const trackerStdioPath = pathOf("tracker-stdio");

/** Entry for `node --import`: a process whose names and connections a test watches; see `watched-network.ts`. */
export const watchedNetworkPath = pathOf("hosts/watched-network");

/** The program and arguments that start the fixture at `path` on this process's Node. */
export function fixtureCommand(
  path: string,
  ...flags: readonly string[]
): { command: string; args: string[] } {
  return { command: process.execPath, args: [path, ...flags] };
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`./${name}.${extension}`, import.meta.url));
}
