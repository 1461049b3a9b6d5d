/** Codes of this package's errors and findings, each with its meaning. */
export const mcpCodes = {
  MCP_REMOTE_ERROR: "The peer answered a request with a JSON-RPC error.",
  MCP_INVALID_MESSAGE: "A message is not valid JSON-RPC 2.0, or its parameters do not match its method.",
  MCP_METHOD_NOT_FOUND: "The method does not exist, or the peer did not declare the capability for it.",
  MCP_TIMEOUT: "A request was not answered within its time limit.",
  MCP_CANCELLED: "The sender of a request cancelled it.",
  MCP_CONNECTION_CLOSED: "The connection ended before the response arrived.",
  MCP_UNREACHABLE: "The server cannot be reached: no request was sent.",
  MCP_HTTP_ERROR: "The server answered with an HTTP error.",
  MCP_UNAUTHORIZED: "The server refused the credentials (HTTP 401 or 403).",
  MCP_CREDENTIALS_UNAVAILABLE: "The credentials for a request to a server could not be obtained.",
  MCP_SESSION_EXPIRED: "The server no longer knows the session. A new connection is needed.",
  MCP_UNSUPPORTED_VERSION: "Client and server have no protocol version in common.",
  MCP_MESSAGE_TOO_LARGE: "A message or a line is over its size limit.",
  MCP_MESSAGE_TOO_DEEP: "A message nests deeper than the limit.",
  MCP_CLIENT_CAPABILITY_MISSING:
    "A server sent a request that its client does not support (sampling, elicitation, roots).",
  MCP_OVERLOADED: "More requests are in flight than the limit allows.",
  MCP_SHUTTING_DOWN: "The gateway stops: it takes no request any more, or gives up one that is in flight.",
  MCP_SHARE_EXCEEDED:
    "The client's share of the requests in flight is used up; other clients can still send requests.",
  MCP_UNREAD_LIMIT: "An answer was dropped because its client has too many unread answers.",
  MCP_SESSION_QUOTA: "The client's share of the sessions or of the open streams is used up.",
  CURSOR_STALE: "A cursor is malformed, or older than the last change of its list.",
} as const;

/** A key of `mcpCodes`. */
export type McpCode = keyof typeof mcpCodes;
