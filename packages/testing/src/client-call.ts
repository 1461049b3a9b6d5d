/** The surroundings of a call, for tests of what is called. */

import { type CallContext, localIdentity } from "@toolcrib/tool";

/** A call of a client's own: nobody cancels it, nobody listens to what it tells, and nobody can be asked. */
export function clientCall(parts: Partial<CallContext> = {}): CallContext {
  return {
    callId: "call-1",
    depth: 0,
    identity: localIdentity("library", "test"),
    era: "modern",
    signal: new AbortController().signal,
    deadline: Number.MAX_SAFE_INTEGER,
    wantsProgress: false,
    progress() {},
    notify() {},
    ask: () => Promise.reject(new Error("nobody is there to answer")),
    ...parts,
  };
}
