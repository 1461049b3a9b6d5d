/** The decoders of the response to a request that was sent here. */

import { type CreateDecoder, codingsOf, decoderOf } from "../content-codings.ts";
import { EgressError } from "../egress-error.ts";

/** The value of `Accept-Encoding` for bodies that are decompressed here. */
export const acceptedEncodings = "gzip, deflate, br, zstd";

/** Content codings of one response. @limit server */
const maxCodings = 2;

/**
 * Returns the decoders of `contentEncoding`, in the order of decoding.
 *
 * @throws {EgressError} `EGRESS_RESPONSE_INVALID` for unknown codings.
 */
export function parseContentEncoding(contentEncoding: string | undefined): readonly CreateDecoder[] {
  const names = codingsOf([contentEncoding ?? ""]);
  if (names.length > maxCodings) {
    throw new EgressError(
      "EGRESS_RESPONSE_INVALID",
      `Cannot read a response of more than ${maxCodings} codings`,
    );
  }
  return names.toReversed().map((name) => {
    const decoder = decoderOf(name);
    if (decoder !== undefined) return decoder;
    // The message omits the coding: a host could write the secret there.
    const message = `Cannot read a response: its content coding is none of ${acceptedEncodings}`;
    throw new EgressError("EGRESS_RESPONSE_INVALID", message);
  });
}
