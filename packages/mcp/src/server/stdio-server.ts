/**
 * The stdio transport on the server edge: one client on a pair of streams,
 * either era. Requests with modern `_meta` are answered alone; everything else
 * belongs to the one legacy session of the pipe.
 *
 * A client that does not read its answers is not read either, so that what
 * waits for it stays bounded.
 */

import type { Readable, Writable } from "node:stream";
import type { Identity } from "@toolcrib/tool";
import { createLineWriter, readLines } from "../framing/lines.ts";
import { classify, paramsOf, type RpcId } from "../json-rpc.ts";
import { McpError } from "../mcp-error.ts";
import { MessageRouter, type Outlet } from "../message-router.ts";
import { modernVersionOf } from "../modern-version.ts";
import { rpcCodes } from "../protocol.ts";
import { LegacySession } from "./legacy-session.ts";
import { answerModernRequest, listenMethod } from "./modern-request.ts";
import type { McpService, View } from "./service.ts";

/** Options of `startStdioServer`. */
export interface StdioServerOptions {
  readonly view: View;
  readonly identity: Identity;
  /** Unguessable id of the session. */
  readonly sessionId: string;
  /** Longest line in bytes. @default 16,777,216 */
  readonly lineMaxBytes?: number;
  /** Most requests in flight of each era. @default 256 */
  readonly maxInFlight?: number;
  /** Milliseconds that answers may still take after the client closed its end. @default 10,000 */
  readonly endGraceMs?: number;
  /** Bytes that may wait for the client to read them; while more wait, nothing is read. @default 4,194,304 */
  readonly unreadMaxBytes?: number;
  /** For the log: what fits nowhere. */
  readonly onStray?: (reason: string) => void;
}

/** A client on a pipe. */
export interface StdioServer extends AsyncDisposable {
  /** Resolves when the client closed its end and what it asked for is answered, or when the server is disposed. */
  readonly ended: Promise<void>;
}

/** Past so many times `unreadMaxBytes` the client is given up: what runs still produces, but nobody reads. */
const giveUpFactor = 16;

/** Serve `service` to the client at the other end of `input` and `output`. */
export function startStdioServer(
  service: McpService,
  streams: { readonly input: Readable; readonly output: Writable },
  options: StdioServerOptions,
): StdioServer {
  const { input, output } = streams;
  const { view, identity } = options;
  const unreadMaxBytes = options.unreadMaxBytes ?? 4 * 1024 * 1024;
  const ended = Promise.withResolvers<void>();
  const stopping = new AbortController();
  let isEnded = false;

  const write = createLineWriter(output, () => {
    if (output.writableLength <= unreadMaxBytes) return;
    if (output.writableLength > unreadMaxBytes * giveUpFactor) {
      options.onStray?.("the client does not read its answers");
      output.destroy();
      end("The client does not read its answers");
      return;
    }
    if (input.isPaused()) return;
    input.pause();
    output.once("drain", () => {
      if (!isEnded) input.resume();
    });
  });
  const outlet: Outlet = (message) => write(message);
  const session = new LegacySession(service, outlet, { ...options, id: options.sessionId });
  const modern = new MessageRouter(
    outlet,
    {
      request: ({ id, method, params, signal }) => {
        const notify = (name: string, notification: object) =>
          write({ jsonrpc: "2.0", method: name, params: notification });
        // A stream of changes has no answer to wait for: it ends when either side stops.
        const until = method === listenMethod ? AbortSignal.any([signal, stopping.signal]) : signal;
        return answerModernRequest(service, { id, method, params, identity, view, signal: until, notify });
      },
      notification: () => {},
      stray: (reason) => options.onStray?.(reason),
    },
    { maxInbound: options.maxInFlight },
  );

  /** The router that a message belongs to. One pipe has one space of ids, whatever the era. */
  function receive(value: unknown): void {
    const classified = classify(value);
    if (classified.kind === "request") {
      const { id, params } = classified.message;
      const isModern = modernVersionOf(paramsOf({ params })) !== undefined;
      const owner = modern.isAnswering(id)
        ? modern
        : session.router.isAnswering(id)
          ? session.router
          : undefined;
      // An id in use is refused by who works on it.
      (owner ?? (isModern ? modern : session.router)).receive(value);
    } else if (
      classified.kind === "notification" &&
      classified.message.method === "notifications/cancelled"
    ) {
      const id = paramsOf(classified.message)["requestId"];
      (modern.isAnswering(id as RpcId) ? modern : session.router).receive(value);
    } else session.receive(value);
  }

  const stopReading = readLines(
    input,
    {
      message: receive,
      garbage(reason, text) {
        options.onStray?.(`${reason}: ${text}`);
        write({
          jsonrpc: "2.0",
          id: null,
          error: { code: rpcCodes.parseError, message: `Parse error: ${reason}` },
        });
      },
    },
    options.lineMaxBytes ?? 16 * 1024 * 1024,
  );

  function end(reason: string): void {
    if (isEnded) return;
    isEnded = true;
    stopReading();
    session.close(reason);
    modern.close();
    ended.resolve();
  }

  /** A client that piped its requests and closed its end still gets the answers, written out to the last byte. */
  async function inputEnded(): Promise<void> {
    const reason = "The client closed the pipe";
    const timer = setTimeout(() => end(reason), options.endGraceMs ?? 10_000);
    stopping.abort(new McpError("MCP_CANCELLED", reason));
    await Promise.all([session.router.whenIdle(), modern.whenIdle()]);
    // The line writer's turn ends first; an empty write then calls back after all that was written before.
    await new Promise((resolve) => setImmediate(resolve));
    if (!output.destroyed && !output.writableEnded)
      await new Promise<void>((resolve) => output.write("", () => resolve()));
    clearTimeout(timer);
    end(reason);
  }

  input.once("end", () => void inputEnded());
  input.on("error", () => end("The pipe from the client broke"));
  input.once("close", () => {
    if (!input.readableEnded) end("The pipe from the client broke");
  });
  output.on("error", () => end("The pipe to the client broke"));
  output.once("close", () => end("The pipe to the client broke"));

  return {
    ended: ended.promise,
    async [Symbol.asyncDispose]() {
      // Streams of changes are answered, which is how a server says that it ends them.
      stopping.abort(new McpError("MCP_CANCELLED", "The server is shutting down"));
      await new Promise((resolve) => setImmediate(resolve));
      end("The server is shutting down");
      input.pause();
    },
  };
}
