/**
 * The stdio transport on the client edge, over streams that somebody else owns
 * (the launcher of the process).
 */

import type { Readable, Writable } from "node:stream";
import { mcpConnectionClosed } from "../codes.ts";
import { createLineWriter, readLines } from "../framing/lines.ts";
import { McpError } from "../mcp-error.ts";
import type { ClientTransport } from "./transport.ts";

/** Options of `createStdioTransport`. */
export interface StdioTransportOptions {
  /** Longest line in bytes. @default 67,108,864 */
  readonly lineMaxBytes?: number;
}

/** Create a transport over a server's standard streams. */
export function createStdioTransport(
  streams: { readonly stdin: Writable; readonly stdout: Readable },
  options: StdioTransportOptions = {},
): ClientTransport {
  const { stdin, stdout } = streams;
  const write = createLineWriter(stdin);
  let isClosed = false;
  return {
    kind: "stdio",
    async open(receiver) {
      const end = (cause?: Error) => {
        if (isClosed) return;
        isClosed = true;
        receiver.closed(new McpError(mcpConnectionClosed, "The server closed its output", { cause }));
      };
      readLines(
        stdout,
        {
          message: (value) => receiver.message(value),
          garbage: (reason, text) => receiver.garbage(`standard output: ${reason}: ${text}`),
        },
        options.lineMaxBytes ?? 64 * 1024 * 1024,
      );
      stdout.once("end", () => end());
      stdout.once("close", () => end());
      stdout.once("error", end);
      // A write to a dead server fails here; the end of its output says so too.
      stdin.on("error", end);
    },
    send(message) {
      write(message);
    },
    async close() {
      isClosed = true;
      stdin.end();
    },
  };
}
