/** Validates and scrubs the headers of a response, and drops those that are no longer valid. */

import type { ByteScrubber, OnFound } from "@toolcrib/redaction";
import { connectionHeaders } from "../connection-headers.ts";
import { EgressError } from "../egress-error.ts";
import type { EgressCredential } from "../egress-types.ts";

/** Headers from undici, names in lower case. */
export type RawHeaders = { readonly [name: string]: string | string[] | undefined };

const namePattern = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
/** Any byte except control characters; tabs are allowed. */
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers of the connection and of the body before decoding. */
const dropped: ReadonlySet<string> = new Set([
  ...connectionHeaders,
  "content-encoding",
  "content-length",
  "trailer",
]);

/**
 * Returns the headers to pass on.
 *
 * @param echoed returns the listener for a secret in the header `where`.
 * @throws {EgressError} `EGRESS_RESPONSE_INVALID` for an invalid name or value.
 */
export function cleanHeaders(
  raw: RawHeaders,
  scrubber: ByteScrubber<EgressCredential> | undefined,
  echoed: (where: string) => OnFound<EgressCredential>,
): { readonly [name: string]: string } {
  const entries: [string, string][] = [];
  for (const [name, given] of Object.entries(raw)) {
    if (given === undefined || dropped.has(name)) continue;
    const values = typeof given === "string" ? [given] : given;
    if (!namePattern.test(name) || !values.every((value) => valuePattern.test(value))) {
      throw new EgressError(
        "EGRESS_RESPONSE_INVALID",
        "Cannot read a response: one of its headers is not valid",
      );
    }
    // A header whose name contains a secret is dropped: with a placeholder it would be another header.
    if (scrubber !== undefined && scrubber.text(name, echoed("header")) !== name) continue;
    const text = values.join(name === "set-cookie" ? "\n" : ", ");
    entries.push([name, scrubber === undefined ? text : scrubber.text(text, echoed(`header:${name}`))]);
  }
  return Object.fromEntries(entries);
}
