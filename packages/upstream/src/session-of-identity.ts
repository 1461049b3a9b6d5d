/**
 * Sessions for calls that come from no client session, such as those of the command line, at servers
 * where each identity has a session of its own. All calls of one identity share it. The server cannot
 * ask through it.
 */

import { type CallContext, type ClientSession, type Identity, identityKey } from "@toolcrib/tool";
import type { UpstreamSettings } from "./upstream-options.ts";

/** Never aborts: an idle time ends the session. */
const { signal: closed } = new AbortController();

/** Returns the client of a call: its session, or one that stands for its identity at a server where it needs one. */
export function callerOf(
  { session, identity }: Pick<CallContext, "session" | "identity">,
  { isPerIdentity }: Pick<UpstreamSettings, "isPerIdentity">,
): ClientSession | undefined {
  return isPerIdentity === true ? (session ?? sessionOf(identity)) : session;
}

function sessionOf(identity: Identity): ClientSession {
  return {
    id: `identity:${identityKey(identity)}`,
    identity,
    capabilities: {},
    logLevel: undefined,
    closed,
    notify() {},
    ask: () => Promise.reject(new Error("This client cannot be asked")),
  };
}
