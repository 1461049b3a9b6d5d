/** Origins of calls that no client sends itself: calls of programs, and inner calls. */

import { McpError } from "@toolcrib/mcp";
import type { CallContext, Identity } from "@toolcrib/tool";
import type { CallOptions } from "../gateway.ts";
import type { CallOrigin } from "./call-target.ts";

/**
 * The origin of an inner call: it has the authority and the client channel of its outer call. Its questions become the
 * result of the outer call only where that passes it on.
 *
 * @param isDirect whether the outer call only passes the client's own call on.
 */
export function originOfInner(context: CallContext, isDirect: boolean): CallOrigin {
  return {
    isDirect,
    ...context,
    rounds: isDirect ? context.rounds : undefined,
    // The outer call is the task.
    task: undefined,
    clientChannel: context,
    clientInfo: context.clientInfo,
    parent: { callId: context.callId, depth: context.depth, tool: context.tool },
  };
}

/** The origin of a call that a program in this process makes for `identity`. */
export function originOfProgram(identity: Identity, options: CallOptions): CallOrigin {
  return {
    identity,
    isDirect: true,
    era: "modern",
    session: undefined,
    meta: undefined,
    clientInfo: undefined,
    parent: undefined,
    signal: options.signal,
    wantsProgress: options.onProgress !== undefined,
    clientChannel: {
      progress: (params) => options.onProgress?.(params),
      notify: () => {},
      ask: (method) =>
        Promise.reject(
          new McpError("MCP_CLIENT_CAPABILITY_MISSING", `No client can answer "${method}" for this call`),
        ),
    },
  };
}
