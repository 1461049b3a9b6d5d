/**
 * The stdio transport on the client edge, over streams that somebody else owns
 * (the launcher of the process).
 */

import type { Readable, Writable } from "node:stream";
import { createLineWriter, readLines } from "../framing/lines.ts";
import { McpError } from "../mcp-error.ts";
import type { ClientTransport, TransportReceiver } from "./transport.ts";

/** Options of `createStdioTransport`. */
export interface StdioTransportOptions {
  /** Longest line in bytes. @default 67,108,864 */
  readonly lineMaxBytes?: number;
  /** Bytes that may wait for the server to read them; while more wait, requests fail. @default 67,108,864 */
  readonly unreadMaxBytes?: number;
}

/** Create a transport over a server's standard streams. */
export function createStdioTransport(
  streams: { readonly stdin: Writable; readonly stdout: Readable },
  options: StdioTransportOptions = {},
): ClientTransport {
  const { stdin, stdout } = streams;
  const unreadMaxBytes = options.unreadMaxBytes ?? 64 * 1024 * 1024;
  const write = createLineWriter(stdin);
  let receiver: TransportReceiver | undefined;
  let isClosed = false;
  return {
    kind: "stdio",
    async open(to) {
      receiver = to;
      const end = (text: string, cause?: Error) => {
        if (isClosed) return;
        isClosed = true;
        to.closed(new McpError("MCP_CONNECTION_CLOSED", text, { cause }));
      };
      readLines(
        stdout,
        {
          message: (value) => to.message(value),
          garbage: (reason, text) => to.garbage(`standard output: ${reason}: ${text}`),
        },
        options.lineMaxBytes ?? 64 * 1024 * 1024,
      );
      stdout.once("end", () => end("The server closed its output"));
      stdout.once("close", () => end("The server closed its output"));
      stdout.on("error", (cause) => end("The server's output cannot be read", cause));
      // A write to a dead server fails here; the end of its output says so too.
      stdin.on("error", (cause) => end("The server does not take input any more", cause));
    },
    send(message) {
      if (stdin.writableLength <= unreadMaxBytes) {
        write(message);
        return;
      }
      const error = new McpError("MCP_OVERLOADED", "The server does not read its input", {
        hint: `more than ${unreadMaxBytes} bytes wait for it`,
      });
      if ("method" in message && "id" in message) receiver?.failed(message.id, error);
      else receiver?.garbage(`${error.message}: a message to it is dropped`);
    },
    async close() {
      isClosed = true;
      stdin.end();
    },
  };
}
