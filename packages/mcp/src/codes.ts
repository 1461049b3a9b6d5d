/** The other side answered a request with a JSON-RPC error. */
export const mcpRemoteError = "MCP_REMOTE_ERROR";
/** A message is not JSON-RPC 2.0, or its parameters are not what its method takes. */
export const mcpInvalidMessage = "MCP_INVALID_MESSAGE";
/** The method does not exist, or the other side did not declare the capability for it. */
export const mcpMethodNotFound = "MCP_METHOD_NOT_FOUND";
/** A request was not answered in its time. */
export const mcpTimeout = "MCP_TIMEOUT";
/** A request was cancelled by who made it. */
export const mcpCancelled = "MCP_CANCELLED";
/** The connection ended before the answer came. */
export const mcpConnectionClosed = "MCP_CONNECTION_CLOSED";
/** The other side could not be reached, or answered with an HTTP error. */
export const mcpUnreachable = "MCP_UNREACHABLE";
/** The other side refused the credentials (HTTP 401 or 403). */
export const mcpUnauthorized = "MCP_UNAUTHORIZED";
/** The server no longer knows the session (HTTP 404); a new one is needed. */
export const mcpSessionExpired = "MCP_SESSION_EXPIRED";
/** The two sides share no protocol version. */
export const mcpUnsupportedVersion = "MCP_UNSUPPORTED_VERSION";
/** A message or a line is longer than its limit. */
export const mcpMessageTooLarge = "MCP_MESSAGE_TOO_LARGE";
/** A server asks for something that its client cannot give (sampling, elicitation, roots). */
export const mcpClientCapabilityMissing = "MCP_CLIENT_CAPABILITY_MISSING";
/** More requests are in flight than the limit allows. */
export const mcpOverloaded = "MCP_OVERLOADED";
