/** The limits of an HTTP/2 session, for clients and for origins. */

import type { Http2Session, SessionOptions } from "node:http2";
import type { ProxyLimits } from "./proxy-limits.ts";

/** Returns the options of a session with `limits`. Server push is off. */
export function sessionOptions(
  limits: ProxyLimits,
): Required<Pick<SessionOptions, "settings" | "maxSessionMemory">> {
  return {
    settings: {
      enablePush: false,
      initialWindowSize: limits.windowBytes,
      maxHeaderListSize: limits.headersMaxBytes,
    },
    maxSessionMemory: limits.sessionMaxMegabytes,
  };
}

/** Limits a new session: its window, and the time that it may be idle. */
export function limitSession(session: Http2Session, limits: ProxyLimits): void {
  session.once("connect", () => session.setLocalWindowSize(limits.windowBytes * 2));
  session.setTimeout(limits.idleTimeoutMs, () => session.destroy());
  // An error of a session ends its streams, which report it to their exchanges.
  session.on("error", () => session.destroy());
}
