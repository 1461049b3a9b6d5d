/** The headers of a response, checked, scrubbed and without what no longer holds. */

import type { ByteScrubber, OnFound } from "@toolcrib/redaction";
import { EgressError } from "../egress-error.ts";
import type { EgressCredential } from "../egress-types.ts";

/** Headers as undici gives them, names in lower case. */
export type RawHeaders = { readonly [name: string]: string | string[] | undefined };

const namePattern = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
/** Any byte but control characters; a tab is none here. */
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;
/** What spoke of the connection and of the body as it was sent. */
const dropped: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "keep-alive",
  "proxy-authenticate",
  "proxy-connection",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Headers that may be handed on.
 *
 * @param echoed what is told of a secret in the header `where`.
 * @throws {EgressError} `EGRESS_RESPONSE_INVALID` for a name or value that is none.
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
    // A name that holds a secret is left out: with a placeholder it would be another header.
    if (scrubber !== undefined && scrubber.text(name, echoed("header")) !== name) continue;
    const text = values.join(name === "set-cookie" ? "\n" : ", ");
    entries.push([name, scrubber === undefined ? text : scrubber.text(text, echoed(`header:${name}`))]);
  }
  return Object.fromEntries(entries);
}
