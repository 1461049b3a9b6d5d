/** The context of a call, for tests of tools and tool sources. */

import { type CallContext, localIdentity } from "@toolcrib/tool";

/** Returns the context of a client's own call, which is never cancelled, and whose client gets no messages and answers no requests. */
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
