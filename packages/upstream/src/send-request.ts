/**
 * One request to a server: on the session of its caller, and once more on another session where the server certainly did
 * not process it. The answer is checked, and freed of what belongs to the connection.
 */

import type { JsonObject } from "@toolcrib/json";
import { type CallContext, type ClientSession, type Era, isInputRequired } from "@toolcrib/tool";
import { checkedResult } from "./check-result.ts";
import { type Lease, needsOwnSession } from "./client-sessions.ts";
import { receivedResult, type Sender } from "./received.ts";
import { mayRepeat } from "./repeated-request.ts";
import type { ServerLinks } from "./server-links.ts";
import { taskHandle } from "./server-tasks.ts";
import { callerOf } from "./session-of-identity.ts";
import type { SharedSession } from "./shared-session.ts";
import type { UpstreamSettings } from "./upstream-options.ts";
import type { RequestOptions, UpstreamSession } from "./upstream-session.ts";

/** The server of a request. */
export interface RequestedServer {
  readonly settings: UpstreamSettings;
  readonly sender: Sender;
  readonly links: ServerLinks;
  readonly shared: SharedSession;
  /** Capabilities that the server is known to ask clients for. */
  readonly asks: ReadonlySet<string>;
  readonly lease: (client: ClientSession | undefined, signal: AbortSignal, era: Era) => Promise<Lease>;
  readonly toCallerError: (error: unknown) => unknown;
}

/** Sends a request. @throws {CodedError} the error for its caller */
export async function sendRequest(
  { settings, sender, links, shared, asks, lease: leaseFor, toCallerError }: RequestedServer,
  method: string,
  params: JsonObject,
  context: CallContext,
  options: RequestOptions | undefined,
): Promise<JsonObject> {
  for (let attempt = 1; ; attempt += 1) {
    const client = callerOf(context, settings);
    const isOwn = settings.isPerIdentity === true || needsOwnSession(client, asks);
    const current = isOwn ? undefined : links.current(context.era);
    const lease = current === undefined ? await leaseFor(client, context.signal, context.era) : undefined;
    const session = lease?.session ?? (current as UpstreamSession);
    try {
      const answer = await session.request(method, params, context, options);
      const { era } = session.connection;
      // Questions were checked when they arrived. In the legacy era the members have no meaning.
      if (era === "modern" && isInputRequired(answer)) return answer;
      // Its parts are checked one by one: the questions of a task are not about this request.
      if (method === "tasks/get") return answer;
      if (context.task !== undefined && method === "tools/call") {
        const handle = taskHandle(answer, era, sender);
        if (handle !== undefined) return handle;
      }
      const result = receivedResult(answer, sender, method);
      return method === "tools/call"
        ? checkedResult(result, settings.id, { tool: params["name"], era })
        : result;
    } catch (error) {
      if (context.signal.aborted) throw context.signal.reason;
      const canRepeat = await mayRepeat(session, error, context.signal, { shared, settings });
      context.signal.throwIfAborted();
      if (attempt > 1 || !canRepeat) throw toCallerError(error);
    } finally {
      lease?.release();
    }
  }
}
