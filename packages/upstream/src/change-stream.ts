/**
 * The changes that a modern server (2026-07-28) reports: one
 * `subscriptions/listen` stream for list changes and all watched resources.
 * When the watched resources change, a new stream replaces the old one, which
 * closes only after the server acknowledged the new one, so that no change is
 * lost between them. When the server ends the stream, it is opened again after
 * growing pauses.
 */

import { isDeepStrictEqual } from "node:util";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { type Connection, McpError } from "@toolcrib/mcp";
import { Backoff, stableAfterMs } from "./backoff.ts";

/** Dependencies of `ChangeStream`. */
export interface ChangeStreamDeps {
  readonly connection: Connection;
  readonly serverId: string;
  /** In [0, 1). */
  readonly random: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
  /** Returns the URIs of the resources that are watched now. */
  readonly uris: () => readonly string[];
  /** Gets list changes and resource updates. */
  readonly onNotification: (method: string, params: JsonObject) => void;
  /** Reports that the stream was interrupted: anything can have changed meanwhile. */
  readonly onGap: () => void;
  /** Reports that the stream ended or could not be opened. */
  readonly onFailure: (error: unknown) => void;
  /**
   * Milliseconds for which a replaced stream stays open, to deliver notifications that are on their way. Over HTTP
   * each stream has a connection of its own, so the new one can overtake the old one.
   */
  readonly lingerMs: number;
}

interface OpenStream {
  readonly controller: AbortController;
  /** The requested notifications. */
  readonly notifications: JsonObject;
  /** The URIs that the server acknowledged. */
  readonly honoured: ReadonlySet<string>;
  readonly since: number;
}

const acknowledgement = "notifications/subscriptions/acknowledged";
const acknowledgeTimeoutMs = 30_000;
const pauses = { reconnectMinMs: 1000, reconnectMaxMs: 60_000 };

/** The stream of one modern session. The first `start` or `settle` opens it. */
export class ChangeStream {
  readonly #deps: ChangeStreamDeps;
  readonly #backoff: Backoff;
  #current: OpenStream | undefined;
  #hasGap = false;
  #settling: Promise<ReadonlySet<string>> | undefined;
  #next: Promise<ReadonlySet<string>> | undefined;

  constructor(deps: ChangeStreamDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff(pauses, deps.random);
  }

  /** Opens the stream, again and again until the server accepts it. */
  start(): void {
    void this.#reopen();
  }

  /**
   * Opens a stream for the current `uris()`, unless one is open.
   *
   * @returns the URIs that the server acknowledged.
   * @throws when the stream cannot be opened.
   */
  settle(): Promise<ReadonlySet<string>> {
    if (this.#settling !== undefined) {
      // The stream that is being opened may lack URIs that were added meanwhile; the next one has them all.
      this.#next ??= this.#settling
        .catch(() => {})
        .then(() => {
          this.#next = undefined;
          return this.settle();
        });
      return this.#next;
    }
    const settling = this.#replace().finally(() => {
      if (this.#settling === settling) this.#settling = undefined;
    });
    this.#settling = settling;
    return settling;
  }

  async #replace(): Promise<ReadonlySet<string>> {
    const notifications = this.#wantedNotifications();
    const old = this.#current;
    if (old !== undefined && isDeepStrictEqual(notifications, old.notifications)) return old.honoured;
    this.#current = notifications === undefined ? undefined : await this.#open(notifications);
    if (old !== undefined) this.#close(old);
    if (this.#hasGap) this.#deps.onGap();
    this.#hasGap = false;
    return this.#current?.honoured ?? new Set();
  }

  #wantedNotifications(): JsonObject | undefined {
    const { capabilities } = this.#deps.connection;
    const reports = (name: string) => {
      const capability = capabilities[name];
      return isJsonObject(capability) && capability["listChanged"] === true;
    };
    const uris = this.#deps.uris();
    const wanted = {
      ...(reports("tools") ? { toolsListChanged: true } : undefined),
      ...(reports("prompts") ? { promptsListChanged: true } : undefined),
      ...(reports("resources") ? { resourcesListChanged: true } : undefined),
      ...(uris.length > 0 ? { resourceSubscriptions: [...uris] } : undefined),
    };
    return Object.keys(wanted).length === 0 ? undefined : wanted;
  }

  /** Sends the request; resolves on its acknowledgement. */
  #open(notifications: JsonObject): Promise<OpenStream> {
    const { connection, now, onNotification } = this.#deps;
    const controller = new AbortController();
    return new Promise((resolve, reject) => {
      let stream: OpenStream | undefined;
      const timer = setTimeout(() => {
        const message = "The server did not acknowledge the stream of changes";
        controller.abort(new McpError("MCP_CANCELLED", message));
      }, acknowledgeTimeoutMs);
      const acknowledge = (params: JsonObject) => {
        if (stream !== undefined) return;
        clearTimeout(timer);
        stream = { controller, notifications, honoured: honouredUris(params), since: now() };
        resolve(stream);
      };
      const end = (reason: unknown) => {
        clearTimeout(timer);
        reject(reason);
        if (stream !== undefined) this.#ended(stream, reason);
      };
      connection
        .request(
          "subscriptions/listen",
          { notifications },
          {
            signal: controller.signal,
            onNotification: (method, params) => {
              if (method === acknowledgement) acknowledge(params);
              else onNotification(method, params);
            },
          },
        )
        .then(
          () => new Error("The server ended the stream of changes"),
          (error: unknown) => error,
        )
        .then(end);
    });
  }

  #close({ controller }: OpenStream): void {
    const { lingerMs } = this.#deps;
    const end = () => controller.abort(new McpError("MCP_CANCELLED", "The watched resources changed"));
    if (lingerMs === 0) end();
    else setTimeout(end, lingerMs).unref();
  }

  #ended(stream: OpenStream, reason: unknown): void {
    if (this.#current !== stream) return;
    this.#current = undefined;
    this.#hasGap = true;
    if (this.#deps.now() - stream.since >= stableAfterMs) this.#backoff.succeeded();
    this.#reopenLater(reason);
  }

  #reopenLater(reason: unknown): void {
    const { connection, logger, serverId, onFailure } = this.#deps;
    if (connection.closed.aborted) return;
    logger.debug({ server: serverId, reason: messageOf(reason) }, "stream of changes ended");
    onFailure(reason);
    // A server that answers with an error does not support the method.
    if (reason instanceof McpError && reason.code === "MCP_REMOTE_ERROR") return;
    const timer = setTimeout(() => void this.#reopen(), this.#backoff.failed());
    timer.unref();
  }

  async #reopen(): Promise<void> {
    if (this.#deps.connection.closed.aborted || this.#current !== undefined) return;
    await this.settle().catch((error: unknown) => this.#reopenLater(error));
  }
}

/** Reads the URIs from the parameters of an acknowledgement. */
function honouredUris(params: JsonObject): ReadonlySet<string> {
  const filter = params["notifications"];
  const uris = isJsonObject(filter) ? filter["resourceSubscriptions"] : undefined;
  return new Set(Array.isArray(uris) ? uris.map(String) : []);
}
