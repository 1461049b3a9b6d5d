/** Codes of this package's errors and findings, each with its meaning. */
export const upstreamCodes = {
  UPSTREAM_UNAVAILABLE:
    "An upstream server is not connected; the message says why and when it is tried again.",
  UPSTREAM_CLOSED: "An upstream server ended, or broke the connection, before it answered.",
  UPSTREAM_ERROR: "An upstream server answered with a JSON-RPC error.",
  UPSTREAM_LIST_ENDLESS:
    "A list of an upstream server has no end: its cursor repeats, or it has more pages or items than the limit.",
  UPSTREAM_SESSION_LIMIT: "As many clients have a session of their own with this server as the limit allows.",
  UPSTREAM_ASK_UNATTRIBUTED:
    "An upstream server asked its client something outside of any call that could be asked on account of.",
  UPSTREAM_WATCH_REFUSED:
    "A resource cannot be watched: its server does not tell of its changes, or as many are watched as the limit allows.",
} as const;

/** A key of `upstreamCodes`. */
export type UpstreamCode = keyof typeof upstreamCodes;
