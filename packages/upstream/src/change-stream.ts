/**
 * How a modern server (2026-07-28) tells of changes: one `subscriptions/listen`
 * stream for the list changes and all watched resources. It is opened anew when
 * the watched resources change, and the old one is closed only after the new
 * one was acknowledged, so that no change falls between them. When the server
 * ends it, it is opened again after growing pauses.
 */

import { isDeepStrictEqual } from "node:util";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { type Connection, McpError } from "@toolcrib/mcp";
import { createBackoff } from "./backoff.ts";

/** What the stream needs of its session. */
export interface ChangeStreamDeps {
  readonly connection: Connection;
  readonly serverId: string;
  readonly random: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
  /** The resources that are watched now. */
  readonly uris: () => readonly string[];
  /** Takes list changes and resource updates. */
  readonly onNotification: (method: string, params: JsonObject) => void;
  /** The stream was away for a time: anything may have changed. */
  readonly onGap: () => void;
  /** It ended, or could not be opened. */
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds in which a replaced stream may still deliver what it holds; connections of their own (HTTP) overtake each other. */
  readonly lingerMs: number;
}

/** The stream of one session. */
export interface ChangeStream {
  /** Open it as soon as the server lets it. */
  start(): void;
  /** Bring the stream in line with `uris()`; resolves to the URIs that the server honours. @throws when it cannot be opened */
  settle(): Promise<ReadonlySet<string>>;
}

interface OpenStream {
  readonly controller: AbortController;
  /** What was asked for. */
  readonly notifications: JsonObject;
  readonly honoured: ReadonlySet<string>;
  readonly since: number;
}

const acknowledgeTimeoutMs = 30_000;
/** A stream that held for less counts as a failure when it ends. */
const stableAfterMs = 10_000;
const pauses = { reconnectMinMs: 1000, reconnectMaxMs: 60_000 };

/** Create the stream of a modern connection; it is opened by the first `settle`. */
export function createChangeStream(deps: ChangeStreamDeps): ChangeStream {
  const { connection, logger } = deps;
  const log = { server: deps.serverId };
  const backoff = createBackoff(pauses, deps.random);
  let current: OpenStream | undefined;
  let hasGap = false;
  let settling: Promise<ReadonlySet<string>> | undefined;
  let next: Promise<ReadonlySet<string>> | undefined;

  function filter(): JsonObject | undefined {
    const { capabilities } = connection;
    const announces = (name: string) => {
      const capability = capabilities[name];
      return isJsonObject(capability) && capability["listChanged"] === true;
    };
    const uris = deps.uris();
    const wanted = {
      ...(announces("tools") ? { toolsListChanged: true } : undefined),
      ...(announces("prompts") ? { promptsListChanged: true } : undefined),
      ...(announces("resources") ? { resourcesListChanged: true } : undefined),
      ...(uris.length > 0 ? { resourceSubscriptions: [...uris] } : undefined),
    };
    return Object.keys(wanted).length === 0 ? undefined : wanted;
  }

  async function replace(): Promise<ReadonlySet<string>> {
    const notifications = filter();
    const old = current;
    if (old !== undefined && isDeepStrictEqual(notifications, old.notifications)) return old.honoured;
    current = notifications === undefined ? undefined : await open(notifications);
    if (old !== undefined) close(old);
    if (hasGap) deps.onGap();
    hasGap = false;
    return current?.honoured ?? new Set();
  }

  function open(notifications: JsonObject): Promise<OpenStream> {
    const controller = new AbortController();
    return new Promise((resolve, reject) => {
      let stream: OpenStream | undefined;
      const timer = setTimeout(() => {
        controller.abort(
          new McpError("MCP_CANCELLED", "The server did not acknowledge the stream of changes"),
        );
      }, acknowledgeTimeoutMs);
      const take = (honoured: JsonObject) => {
        if (stream !== undefined) return;
        clearTimeout(timer);
        const uris = honoured["resourceSubscriptions"];
        const honouredUris = new Set(Array.isArray(uris) ? uris.map(String) : []);
        stream = { controller, notifications, honoured: honouredUris, since: deps.now() };
        resolve(stream);
      };
      connection
        .request(
          "subscriptions/listen",
          { notifications },
          {
            signal: controller.signal,
            onNotification: (method, params) => {
              if (method === acknowledgement) take(filterOf(params));
              else deps.onNotification(method, params);
            },
          },
        )
        .then(
          () => new Error("The server ended the stream of changes"),
          (error: unknown) => error,
        )
        .then((reason) => {
          clearTimeout(timer);
          reject(reason);
          if (stream !== undefined) ended(stream, reason);
        });
    });
  }

  function close({ controller }: OpenStream): void {
    const end = () => controller.abort(new McpError("MCP_CANCELLED", "The watched resources changed"));
    if (deps.lingerMs === 0) end();
    else setTimeout(end, deps.lingerMs).unref();
  }

  function ended(stream: OpenStream, reason: unknown): void {
    if (current !== stream) return;
    current = undefined;
    hasGap = true;
    if (deps.now() - stream.since >= stableAfterMs) backoff.succeeded();
    reopenLater(reason);
  }

  function reopenLater(reason: unknown): void {
    if (connection.closed.aborted) return;
    logger.debug({ ...log, reason: messageOf(reason) }, "stream of changes ended");
    deps.onFailure(reason);
    // A server that refuses the method has no such stream.
    if (reason instanceof McpError && reason.code === "MCP_REMOTE_ERROR") return;
    const timer = setTimeout(() => void reopen(), backoff.failed());
    timer.unref();
  }

  async function reopen(): Promise<void> {
    if (connection.closed.aborted || current !== undefined) return;
    await stream.settle().catch(reopenLater);
  }

  const stream: ChangeStream = {
    start: () => void reopen(),
    settle() {
      // What is asked for while one is being opened is covered by the next.
      if (settling !== undefined) {
        next ??= settling
          .catch(() => {})
          .then(() => {
            next = undefined;
            return stream.settle();
          });
        return next;
      }
      const one = replace().finally(() => {
        if (settling === one) settling = undefined;
      });
      settling = one;
      return one;
    },
  };
  return stream;
}

const acknowledgement = "notifications/subscriptions/acknowledged";

function filterOf(params: JsonObject): JsonObject {
  const filter = params["notifications"];
  return isJsonObject(filter) ? filter : {};
}
