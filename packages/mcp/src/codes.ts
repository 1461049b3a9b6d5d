/** Codes of this package's errors and findings, each with its meaning. */
export const mcpCodes = {
  MCP_REMOTE_ERROR: "The other side answered a request with a JSON-RPC error.",
  MCP_INVALID_MESSAGE: "A message is not JSON-RPC 2.0, or its parameters are not what its method takes.",
  MCP_METHOD_NOT_FOUND: "The method does not exist, or the other side did not declare the capability for it.",
  MCP_TIMEOUT: "A request was not answered in its time.",
  MCP_CANCELLED: "A request was cancelled by who made it.",
  MCP_CONNECTION_CLOSED: "The connection ended before the answer came.",
  MCP_UNREACHABLE: "The other side could not be reached, or answered with an HTTP error.",
  MCP_UNAUTHORIZED: "The other side refused the credentials (HTTP 401 or 403).",
  MCP_SESSION_EXPIRED: "The server no longer knows the session (HTTP 404); a new one is needed.",
  MCP_UNSUPPORTED_VERSION: "The two sides share no protocol version.",
  MCP_MESSAGE_TOO_LARGE: "A message or a line is longer than its limit.",
  MCP_CLIENT_CAPABILITY_MISSING:
    "A server asks for something that its client cannot give (sampling, elicitation, roots).",
  MCP_OVERLOADED: "More requests are in flight than the limit allows.",
} as const;

/** A key of `mcpCodes`. */
export type McpCode = keyof typeof mcpCodes;
