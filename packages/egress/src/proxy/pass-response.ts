/**
 * Passes the response of an origin to the client, without connection headers and
 * without secrets in headers, body and trailers. A body that must be scrubbed is
 * decoded first, and sent without encoding and length, since both can change.
 */

import type { Writable } from "node:stream";
import type { StartTimer } from "@toolcrib/lifecycle";
import type { ByteScrubber } from "@toolcrib/redaction";
import { EgressError } from "../egress-error.ts";
import type { EgressCredential } from "../egress-types.ts";
import type { AdmittedRequest } from "../pipeline.ts";
import type { BodySource } from "./body-source.ts";
import type { ClientExchange, RawHeaders } from "./client-exchange.ts";
import { decodeBody, readEncodings } from "./decode-body.ts";
import { connectionOptions, valuesOf, withoutHeaders } from "./raw-headers.ts";
import { relayBody } from "./relay-body.ts";
import type { UpstreamResponse } from "./upstream-exchange.ts";

/** The context of one response. */
export interface ResponseContext {
  readonly startTimer: StartTimer;
  done(): void;
  fail(error: Error): void;
}

/** The time for which a few bytes that can begin a secret wait for the following bytes. */
const releaseAfterMs = 20;
/** Headers that are no longer valid for a decoded or scrubbed body. */
const bodyHeaders: ReadonlySet<string> = new Set(["content-encoding", "content-length"]);
/** Headers that are not allowed in trailers (RFC 9110 §6.5.1). */
const notInTrailers: ReadonlySet<string> = new Set(["content-length", "host", "content-encoding"]);

/**
 * Passes `response` to `client`.
 *
 * @throws {EgressError} `EGRESS_RESPONSE_INVALID`, before anything was sent.
 */
export function passResponse(
  client: ClientExchange,
  response: UpstreamResponse,
  admitted: AdmittedRequest,
  { done, fail, startTimer }: ResponseContext,
): void {
  const { isEnd, status } = response;
  const scrubber = isEnd ? undefined : admitted.scrubber;
  const encodings = readResponseEncodings(response, scrubber !== undefined);
  const headers = cleanHeaders(response.headers, admitted);
  const statusText = admitted.scrubber?.text(response.statusText, admitted.echoed("status"));
  const to = client.respond({
    status,
    statusText: statusText ?? response.statusText,
    headers: scrubber === undefined ? headers : withoutHeaders(headers, bodyHeaders),
    isEnd,
  });
  if (isEnd) {
    response.body.discard();
    client.end([]);
    done();
    return;
  }
  const body = decodeBody(response.body, encodings);
  const finish = (): void => {
    if (response.wasCut()) {
      fail(new Error("The origin aborted the response"));
      return;
    }
    client.end(cleanTrailers(response.trailers(), admitted));
    done();
  };
  if (scrubber === undefined) relayBody(body, to, { piece: (piece) => [piece], end: finish, fail });
  else
    relayScrubbed(body, to, { stream: scrubber.stream(admitted.echoed("body")), finish, fail, startTimer });
}

interface ScrubbedRelay {
  readonly stream: ReturnType<ByteScrubber<EgressCredential>["stream"]>;
  readonly startTimer: StartTimer;
  finish(): void;
  fail(error: Error): void;
}

function relayScrubbed(body: BodySource, to: Writable, relay: ScrubbedRelay): void {
  const { stream, finish, fail, startTimer } = relay;
  let cancelTimer: (() => void) | undefined;
  const release = (): void => {
    cancelTimer = undefined;
    if (to.destroyed || to.writableEnded) return;
    // A client that does not read is not waiting for bytes.
    if (to.writableNeedDrain) {
      cancelTimer = startTimer(releaseAfterMs, release);
      return;
    }
    const rest = stream.release();
    if (rest.length > 0) to.write(rest);
  };
  to.once("close", () => cancelTimer?.());
  relayBody(body, to, {
    piece(piece) {
      const passed = stream.push(piece);
      if (stream.canRelease) cancelTimer ??= startTimer(releaseAfterMs, release);
      return passed;
    },
    end() {
      for (const rest of stream.end()) to.write(rest);
      finish();
    },
    fail,
  });
}

/** Returns the encodings to decode before the body can be scanned. */
function readResponseEncodings(
  { headers, status }: UpstreamResponse,
  isScrubbed: boolean,
): readonly string[] {
  if (!isScrubbed) return [];
  const encodings = readEncodings(valuesOf(headers, "content-encoding"));
  if (encodings === undefined)
    throw invalid("it has an encoding in which a secret of this source could be hidden");
  // A part of an encoded body cannot be decoded on its own.
  if (encodings.length > 0 && status === 206) throw invalid("it is a part of an encoded body");
  return encodings;
}

/** Returns `raw` without connection headers and without secrets. */
export function cleanHeaders(raw: RawHeaders, admitted: AdmittedRequest): RawHeaders {
  const { scrubber } = admitted;
  const kept = withoutHeaders(raw, connectionOptions(raw));
  if (scrubber === undefined) return kept;
  const clean: string[] = [];
  for (let index = 0; index < kept.length; index += 2) {
    const name = kept[index] as string;
    // A header whose name contains a secret is dropped: with a placeholder it would be another header.
    if (scrubber.text(name, admitted.echoed("header")) !== name) continue;
    clean.push(
      name,
      scrubber.text(kept[index + 1] as string, admitted.echoed(`header:${name.toLowerCase()}`)),
    );
  }
  return clean;
}

/** Does the same for trailers. */
function cleanTrailers(raw: RawHeaders, admitted: AdmittedRequest): RawHeaders {
  return withoutHeaders(cleanHeaders(raw, admitted), notInTrailers);
}

function invalid(state: string): EgressError {
  return new EgressError("EGRESS_RESPONSE_INVALID", `Cannot pass the response on: ${state}`);
}
