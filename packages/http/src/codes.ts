/** Codes of this package's errors and refusals, each with its meaning. */
export const httpCodes = {
  HTTP_HOST_REFUSED: "The Host header has a value that this gateway does not accept.",
  HTTP_ORIGIN_REFUSED: "The Origin header has a value that this gateway does not accept.",
  HTTP_UNAUTHORIZED: "A request has no token, or one that is not valid.",
  HTTP_SCOPE_MISSING:
    "The token of a request is valid, and does not have the scopes that every request needs.",
  HTTP_HEADER_DUPLICATE: "A header that can occur only once occurs more often.",
  HTTP_NOT_FOUND: "Nothing is served at this path.",
  PROFILE_NOT_FOUND: "The endpoint names a profile that does not exist, or that the client may not use.",
  HTTP_METHOD_NOT_ALLOWED: "The path is served, but not with this method.",
  HTTP_ROLE_REQUIRED: "The route changes the gateway, and the caller does not have the role for that.",
  HTTP_QUERY_INVALID: "A query parameter of an API request is not valid.",
  HTTP_FORM_INVALID: "What was sent to the page of a login is not its form, or is too large.",
  HTTP_MALFORMED: "A request breaks HTTP itself.",
  HTTP_HEADERS_TOO_LARGE: "The headers of a request are larger than the limit.",
  HTTP_REQUEST_TIMEOUT: "A request did not arrive completely within its time limit.",
  HTTP_INTERNAL: "The gateway failed while it answered; the log says more.",
  HTTP_AUTH_REQUIRED: "The configuration disables tokens on an address that other machines can reach.",
  HTTP_ADDRESS_IN_USE: "Another program listens on the address of the endpoint.",
  HTTP_LISTEN_FAILED: "The operating system refused to open the address of the endpoint.",
} as const;

/** A key of `httpCodes`. */
export type HttpCode = keyof typeof httpCodes;
