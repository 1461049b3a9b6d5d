/** Codes of this package's errors, each with its meaning. */
export const upstreamCodes = {
  UPSTREAM_UNAVAILABLE:
    "The upstream server is not connected; the message gives the reason, the hint the time of the next attempt.",
  UPSTREAM_CLOSED: "The upstream server ended, or closed the connection, before it answered.",
  UPSTREAM_ERROR: "The upstream server answered with a JSON-RPC error.",
  UPSTREAM_RESULT_INVALID:
    "The upstream server answered a request with a result that is not valid in MCP, or in which two names differ only in hidden characters.",
  UPSTREAM_LIST_ENDLESS:
    "A list of the upstream server has no end: its cursor repeats, or it exceeds the limit of pages, items, characters or time.",
  UPSTREAM_QUEUE_FULL: "The maximum number of calls already runs at the server and waits for it.",
  UPSTREAM_QUEUE_SHARE:
    "The caller's share of the calls that run at the server and wait for it is used up; other clients can still call it.",
  UPSTREAM_QUARANTINED:
    "The upstream server repeatedly sent messages over a limit, and is not used until an operator releases it.",
  UPSTREAM_SESSION_LIMIT:
    "The maximum number of clients, of this caller or of all, already has a session of their own with this server.",
  UPSTREAM_ASK_UNATTRIBUTED:
    "The upstream server sent a request for a client on the session that all clients share.",
  UPSTREAM_ASK_REFUSED:
    "The upstream server sent a request for a client, and is declared with `interactive: false`.",
  UPSTREAM_CAPABILITY_MISSING:
    "The upstream server asked for something that the client of the call did not declare.",
  UPSTREAM_QUESTION_OVER:
    "Answers belong to a question that is not open any more: its call ended, or nobody answered in time.",
  UPSTREAM_QUESTIONS_ENDLESS: "The upstream server asked its client in too many rounds within one call.",
  UPSTREAM_PARKED_LIMIT:
    "The maximum number of calls, of this client or of all, already waits for answers to questions.",
  UPSTREAM_LOGIN_NEEDED:
    "The upstream server needs a login, for which the client of the call was asked (elicitation with a page to visit).",
  UPSTREAM_TASK_CANCELLED: "The upstream server cancelled the task that it ran for a call.",
  UPSTREAM_TASK_LOST: "The upstream server does not know the task any more that it ran for a call.",
  UPSTREAM_WATCH_REFUSED:
    "The resource cannot be watched: its server does not report changes of it, or the maximum number of resources is watched.",
} as const;

/** A key of `upstreamCodes`. */
export type UpstreamCode = keyof typeof upstreamCodes;
