/**
 * Delivers what a server sends on one session to the call or the client that it
 * belongs to (`session-calls.ts`): requests (sampling, elicitation, roots), log
 * messages and the completion of elicitations. Other notifications go to the
 * owner of the session. A message that cannot be attributed reaches no client.
 */

import type { Logger } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { type InboundRequest, metaOf, methodNotFound, type RpcId } from "@toolcrib/mcp";
import type { CallContext } from "@toolcrib/tool";
import { capabilityFor } from "./input-required.ts";
import { receivedParams, type Sender } from "./received.ts";
import type { Recipient, SessionCalls } from "./session-calls.ts";
import { UpstreamError } from "./upstream-error.ts";

/** Dependencies of `ServerMessages`. */
export interface ServerMessagesDeps {
  readonly calls: SessionCalls;
  /** Whether the server may ask clients. */
  readonly isInteractive: boolean;
  /** Gets the capability that the server asked for, before the answer. */
  readonly onAsked: (capability: string) => void;
  readonly sender: Sender;
  readonly logger: Logger;
  readonly scrub: (text: string) => string;
  /** Returns the call that the server runs as the task with this id. */
  readonly taskContext: (taskId: string) => CallContext | undefined;
  /** Gets notifications that belong to no call: list changes and resource updates. */
  readonly onNotification: (method: string, params: JsonObject) => void;
}

/** The member of `_meta` that relates a message to a task (2025-11-25, tasks). */
const relatedTask = "io.modelcontextprotocol/related-task";
/** Characters of an unattributed log message that go to the log. */
const loggedMaxLength = 1000;

/** Delivers the messages of one session. */
export class ServerMessages {
  readonly #deps: ServerMessagesDeps;

  constructor(deps: ServerMessagesDeps) {
    this.#deps = deps;
  }

  /** Returns parameters that the server sent in the form in which a client gets them. */
  received(method: string, params: JsonObject): JsonObject {
    return receivedParams(method, params, this.#deps.sender);
  }

  /** Answers a request of the server, through the client that it belongs to. */
  async request({ method, params: sent, signal, relatedTo }: InboundRequest): Promise<JsonObject> {
    const params = this.received(method, sent);
    const { calls, isInteractive, sender, onAsked } = this.#deps;
    const { server } = sender;
    const capability = capabilityFor[method];
    if (capability === undefined) throw methodNotFound(method);
    if (!isInteractive) {
      throw new UpstreamError(
        "UPSTREAM_ASK_REFUSED",
        `"${method}" was refused: the server "${server}" is declared with interactive: false`,
        { hint: "remove interactive: false if the server has to ask clients", data: { server } },
      );
    }
    const task = this.#taskOf(params);
    // Questions of tasks name their call on every session, so that their clients need none of their own.
    if (task !== undefined) return task.ask(method, params, AbortSignal.any([signal, task.signal]));
    onAsked(capability);
    const recipient = calls.askedBy(relatedTo);
    const context = recipient?.kind === "call" ? recipient.context : calls.refuser(capability);
    if (params["mode"] === "url") calls.addElicitation(params["elicitationId"], context);
    if (context !== undefined) {
      // With several calls of the owner in flight, the attribution is a guess: the end of that call must not end the request.
      const isCertain = relatedTo !== undefined || calls.size === 1;
      return context.ask(method, params, isCertain ? AbortSignal.any([signal, context.signal]) : signal);
    }
    if (recipient?.kind === "client") return recipient.session.ask(method, this.#scrubbed(params), signal);
    if (method === "roots/list") return { roots: [] };
    throw new UpstreamError(
      "UPSTREAM_ASK_UNATTRIBUTED",
      `"${method}" was refused on the session of the server "${server}" that all clients share`,
      { hint: "call again: a client that can be asked has a session of its own from now on" },
    );
  }

  /** Delivers a notification of the server. @param relatedTo the request on whose stream it arrived */
  notification(method: string, sent: JsonObject, relatedTo: RpcId | undefined): void {
    const params = this.received(method, sent);
    const { calls, onNotification } = this.#deps;
    if (method === "notifications/message") {
      if (!this.#deliver(calls.logRecipientOf(relatedTo), method, params)) this.#logMessage(params);
    } else if (method === "notifications/elicitation/complete") {
      const recipient = calls.elicitationRecipientOf(params["elicitationId"]) ?? calls.recipientOf(relatedTo);
      if (!this.#deliver(recipient, method, params)) {
        const { logger, sender } = this.#deps;
        logger.debug({ server: sender.server }, "completion of an unknown elicitation");
      }
    } else onNotification(method, params);
  }

  /** Returns the call that a message names as its task (2025-11-25, related-task). */
  #taskOf(params: JsonObject): CallContext | undefined {
    const related = metaOf(params)?.[relatedTask];
    const id = isJsonObject(related) ? related["taskId"] : undefined;
    return typeof id === "string" ? this.#deps.taskContext(id) : undefined;
  }

  /** Logs a message that cannot be attributed. It can be about any client, so no client gets it. */
  #logMessage(params: JsonObject): void {
    const { logger, scrub, sender } = this.#deps;
    const data = scrub(JSON.stringify(params["data"]) ?? "").slice(0, loggedMaxLength);
    logger.debug({ server: sender.server, level: params["level"], data }, "log message of the server");
  }

  /** @returns whether there is a recipient */
  #deliver(recipient: Recipient | undefined, method: string, params: JsonObject): boolean {
    if (recipient?.kind === "call") recipient.context.notify(method, params);
    else recipient?.session.notify(method, this.#scrubbed(params));
    return recipient !== undefined;
  }

  /** Removes secrets from what reaches a client outside a call, whose context does that otherwise. */
  #scrubbed(params: JsonObject): JsonObject {
    const { scrub } = this.#deps;
    const scrubText = (_name: string, value: unknown) => (typeof value === "string" ? scrub(value) : value);
    return JSON.parse(JSON.stringify(params), scrubText) as JsonObject;
  }
}
