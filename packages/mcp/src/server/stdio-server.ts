/**
 * The stdio transport on the server edge: one client on a pair of streams,
 * either era. Requests with modern `_meta` are answered alone; everything else
 * belongs to the one legacy session of the pipe.
 */

import type { Readable, Writable } from "node:stream";
import { isJsonObject } from "@toolcrib/json";
import type { Identity } from "@toolcrib/tool";
import { createLineWriter, readLines } from "../framing/lines.ts";
import { classify, paramsOf, type RpcId } from "../json-rpc.ts";
import { MessageRouter, type Outlet } from "../message-router.ts";
import { modernVersionOf } from "../modern-version.ts";
import { rpcCodes } from "../protocol.ts";
import { LegacySession } from "./legacy-session.ts";
import { answerModernRequest } from "./modern-request.ts";
import type { McpService, View } from "./service.ts";

/** Options of `startStdioServer`. */
export interface StdioServerOptions {
  readonly view: View;
  readonly identity: Identity;
  /** Unguessable id of the session. */
  readonly sessionId: string;
  /** Longest line in bytes. @default 16,777,216 */
  readonly lineMaxBytes?: number;
  /** Milliseconds that answers may still take after the client closed its end. @default 10,000 */
  readonly endGraceMs?: number;
  /** For the log: what fits nowhere. */
  readonly onStray?: (reason: string) => void;
}

/** A client on a pipe. */
export interface StdioServer extends AsyncDisposable {
  /** Resolves when the client closed its end. */
  readonly ended: Promise<void>;
}

/** Serve `service` to the client at the other end of `input` and `output`. */
export function startStdioServer(
  service: McpService,
  streams: { readonly input: Readable; readonly output: Writable },
  options: StdioServerOptions,
): StdioServer {
  const write = createLineWriter(streams.output);
  const outlet: Outlet = (message) => write(message);
  const { view, identity } = options;
  const session = new LegacySession(service, outlet, { ...options, id: options.sessionId });
  const modern = new MessageRouter(outlet, {
    request: ({ id, method, params, signal }) => {
      const notify = (name: string, notification: object) => {
        if (!signal.aborted) write({ jsonrpc: "2.0", method: name, params: notification });
      };
      return answerModernRequest(service, { id, method, params, identity, view, signal, notify });
    },
    notification: () => {},
  });
  const modernIds = new Set<RpcId>();

  readLines(
    streams.input,
    {
      message(value) {
        const classified = classify(value);
        if (classified.kind === "request" && modernVersionOf(paramsOf(classified.message)) !== undefined) {
          modernIds.add(classified.message.id);
          if (modernIds.size > 10_000) modernIds.delete(modernIds.values().next().value as RpcId);
          modern.receive(value);
        } else if (isJsonObject(value) && value["method"] === "notifications/cancelled") {
          const params = isJsonObject(value["params"]) ? value["params"] : {};
          (modernIds.has(params["requestId"] as RpcId) ? modern : session.router).receive(value);
        } else session.receive(value);
      },
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

  const ended = new Promise<void>((resolve) => {
    const end = () => {
      session.close("The client closed the pipe");
      modern.close();
      resolve();
    };
    // A client that piped its requests and closed its end still gets the answers.
    streams.input.once("end", () => {
      const timer = setTimeout(end, options.endGraceMs ?? 10_000);
      void Promise.all([session.router.whenIdle(), modern.whenIdle()]).then(() => {
        clearTimeout(timer);
        setImmediate(end);
      });
    });
    streams.input.once("error", end);
    streams.output.once("error", end);
  });

  return {
    ended,
    async [Symbol.asyncDispose]() {
      session.close("The server is shutting down");
      modern.close();
      streams.input.pause();
    },
  };
}
