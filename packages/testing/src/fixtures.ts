/** Paths of the fixtures that run as processes, in the sources and in the build. */

import { fileURLToPath } from "node:url";

const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";

/** Entry: the echo server on stdio. `node <path> [flags]`; flags in `EchoOptions`. */
export const echoStdioPath = pathOf("echo-stdio");

/** Entry: a server on stdio that misbehaves; its first argument selects how, see `hostile-stdio.ts`. */
export const hostileStdioPath = pathOf("hostile-stdio");

/** Entry: the echo server on streamable HTTP, or on HTTP with SSE with `--transport sse`; prints its URL first. */
export const echoHttpPath = pathOf("echo-http");

/** Entry: the server that passes the MCP conformance suite, on stdio. */
export const conformanceStdioPath = pathOf("conformance-stdio");

/** Entry: the server that passes the MCP conformance suite, on streamable HTTP; prints its URL first. */
export const conformanceHttpPath = pathOf("conformance-http");

/** Entry: the server that passes the suite of 2025-11-25, on the first generation of the SDK; stdio, or HTTP with `--http`. */
export const conformanceV1Path = pathOf("conformance-v1");

/** Entry: a server with tasks of 2025-11-25 on stdio, see `tasks/tasks-v1-server.ts`. */
export const tasksV1StdioPath = pathOf("tasks-v1-stdio");

/** Entry: a server with tasks of 2026-07-28 on stdio, see `tasks/tasks-modern-server.ts`. */
export const tasksModernStdioPath = pathOf("tasks-modern-stdio");

/** Entry: a small issue tracker on stdio; its first argument selects `github` or `zenhub`. */
export const trackerStdioPath = pathOf("tracker-stdio");

/** Entry for `node --import`: a test observes the name lookups and connections of the process; see `watched-network.ts`. */
export const watchedNetworkPath = pathOf("hosts/watched-network");

/** Returns the program and arguments that start the fixture at `path` with the Node of this process. */
export function fixtureCommand(
  path: string,
  ...flags: readonly string[]
): { command: string; args: string[] } {
  return { command: process.execPath, args: [path, ...flags] };
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`./${name}.${extension}`, import.meta.url));
}
