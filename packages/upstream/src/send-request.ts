/**
 * One request to a server: on the session of its caller, and once more on another session where that is safe
 * (repeated-request.ts). The answer is checked, and freed of what belongs to the connection.
 */

import type { JsonObject } from "@toolcrib/json";
import { type CallContext, type ClientSession, type Era, isInputRequired } from "@toolcrib/tool";
import { checkedResult } from "./check-result.ts";
import { type Lease, needsOwnSession } from "./client-sessions.ts";
import { receivedResult, type Sender } from "./received.ts";
import { RepeatedRequest, type RepeatedRequestDeps } from "./repeated-request.ts";
import type { ServerLinks } from "./server-links.ts";
import { taskHandle } from "./server-tasks.ts";
import { callerOf } from "./session-of-identity.ts";
import type { UpstreamSettings } from "./upstream-options.ts";
import type { RequestOptions, UpstreamSession } from "./upstream-session.ts";

/** The server of a request. */
export interface RequestedServer extends RepeatedRequestDeps {
  readonly settings: UpstreamSettings;
  readonly sender: Sender;
  readonly links: ServerLinks;
  /** Capabilities that the server is known to ask clients for. */
  readonly asks: ReadonlySet<string>;
  readonly lease: (client: ClientSession | undefined, signal: AbortSignal, era: Era) => Promise<Lease>;
}

/** Sends a request. @throws {CodedError} the error for its caller */
export async function sendRequest(
  server: RequestedServer,
  method: string,
  params: JsonObject,
  context: CallContext,
  options: RequestOptions | undefined,
): Promise<JsonObject> {
  const { settings, sender, links, asks } = server;
  let repeated: RepeatedRequest | undefined;
  for (;;) {
    const client = callerOf(context, settings);
    const isOwn = settings.isPerIdentity === true || needsOwnSession(client, asks);
    const current = isOwn ? undefined : links.current(context.era);
    const leasing = current === undefined ? server.lease(client, context.signal, context.era) : undefined;
    const lease = leasing && (await (repeated?.leased(leasing, context.signal) ?? leasing));
    const session = lease?.session ?? (current as UpstreamSession);
    try {
      const answer = await session.request(method, params, context, options);
      const { era } = session.connection;
      // Questions were checked when they arrived. In the legacy era the members have no meaning.
      if (era === "modern" && isInputRequired(answer)) return answer;
      // Its parts are checked one by one: the questions of a task are not about this request.
      if (method === "tasks/get") return answer;
      if (context.task !== undefined && method === "tools/call") {
        // Clients of one login share the sessions of a pool, whose owner changes.
        const owner = settings.isPerIdentity === true ? undefined : session.owner;
        const handle = taskHandle(answer, era, { sender, owner });
        if (handle !== undefined) return handle;
      }
      const result = receivedResult(answer, sender, method);
      return method === "tools/call"
        ? checkedResult(result, settings.id, { tool: params["name"], era })
        : result;
    } catch (error) {
      repeated ??= new RepeatedRequest(server, method, options?.annotations);
      await repeated.failed(session, error, context.signal);
    } finally {
      lease?.release();
    }
  }
}
