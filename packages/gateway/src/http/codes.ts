/** The Host header names something that this gateway does not answer for. */
export const httpHostRefused = "HTTP_HOST_REFUSED";
/** A web page of an origin that is not allowed made the request. */
export const httpOriginRefused = "HTTP_ORIGIN_REFUSED";
/** A request has no token, or one that is not valid. */
export const httpUnauthorized = "HTTP_UNAUTHORIZED";
/** A header that must be there at most once is there twice. */
export const httpHeaderDuplicate = "HTTP_HEADER_DUPLICATE";
/** Nothing is served at this path. */
export const httpNotFound = "HTTP_NOT_FOUND";
/** The path is served, but not with this method. */
export const httpMethodNotAllowed = "HTTP_METHOD_NOT_ALLOWED";
/** A parameter in the query of an API request is not what it takes. */
export const httpQueryInvalid = "HTTP_QUERY_INVALID";
/** A request breaks HTTP itself. */
export const httpMalformed = "HTTP_MALFORMED";
/** The headers of a request are larger than the limit. */
export const httpHeadersTooLarge = "HTTP_HEADERS_TOO_LARGE";
/** A request did not arrive in its time. */
export const httpRequestTimeout = "HTTP_REQUEST_TIMEOUT";
/** The gateway failed while it answered; the log says more. */
export const httpInternal = "HTTP_INTERNAL";
/** The endpoint was to be opened without tokens on an address that other machines can reach. */
export const httpAuthRequired = "HTTP_AUTH_REQUIRED";
/** Another program listens on the address of the endpoint. */
export const httpAddressInUse = "HTTP_ADDRESS_IN_USE";
/** The operating system refused to open the address of the endpoint. */
export const httpListenFailed = "HTTP_LISTEN_FAILED";
/** A token file, or the folder of the tokens, can be read or changed by other users of the machine. */
export const tokenFileExposed = "TOKEN_FILE_EXPOSED";
/** A token file, or the folder of the tokens, cannot be read or written. */
export const tokenFileUnreadable = "TOKEN_FILE_UNREADABLE";
/** A token is too short, too long, or has characters that a header cannot carry. */
export const tokenInvalid = "TOKEN_INVALID";
/** More token files than one gateway reads. */
export const tokenTooMany = "TOKEN_TOO_MANY";
