/** The cases of llhttp in which the response parser of the proxy behaves differently, with the reasons. */

/** One exception. */
export interface ConformanceException {
  /** File, heading and mode of the case. */
  readonly id: string;
  readonly reason: string;
}

const lenient =
  "The parser has no lenient modes: it accepts only what every reader understands in the same way.";
const protocol = "The proxy passes on HTTP/1.0 and HTTP/1.1 only.";
const encoding =
  "RFC 9112 §6.3 ends such a body with the connection, but readers disagree about it, so the proxy refuses it.";

/** All exceptions. */
export const exceptions: readonly ConformanceException[] = [
  {
    id: "response/connection.md: HTTP/1.1 with keep-alive disabled, content-length (lenient) (lenient-data-after-close)",
    reason: lenient,
  },
  {
    id: "response/connection.md: HTTP/1.1 with keep-alive disabled and 204 status (lenient) (lenient-keep-alive)",
    reason: lenient,
  },
  {
    id: "response/invalid.md: Bare CR after response line (lenient) (lenient-optional-lf-after-cr)",
    reason: lenient,
  },
  { id: "response/invalid.md: Only LFs present and no body (lenient) (lenient-all)", reason: lenient },
  { id: "response/invalid.md: Only LFs present (lenient) (lenient-all)", reason: lenient },
  { id: "response/lenient-version.md: Invalid HTTP version (lenient) (lenient-version)", reason: lenient },
  { id: "response/sample.md: No carriage ret (lenient) (lenient-optional-cr-before-lf)", reason: lenient },
  {
    id: "response/transfer-encoding.md: Invalid OBS fold after chunked value (lenient-headers)",
    reason: lenient,
  },
  { id: "response/sample.md: RTSP response", reason: protocol },
  { id: "response/sample.md: ICE response", reason: protocol },
  { id: "response/sample.md: HTTP version 0.9", reason: protocol },
  { id: "response/transfer-encoding.md: `chunked` before other transfer-encoding", reason: encoding },
  {
    id: "response/transfer-encoding.md: multiple transfer-encoding where chunked is not the last one",
    reason: encoding,
  },
  {
    id: "response/transfer-encoding.md: `chunkedchunked` transfer-encoding does not enable chunked enconding",
    reason: encoding,
  },
];
