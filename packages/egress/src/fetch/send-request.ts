/**
 * One request over a pooled connection: written once, never repeated, and its
 * response read to the end or to the ceiling. Redirects are answers like any
 * other. What undici throws becomes an `EgressError` whose cause is scrubbed.
 */

import type { ByteScrubber } from "@toolcrib/redaction";
import type { Dispatcher, Pool } from "undici";
import { EgressError } from "../egress-error.ts";
import type { EgressCredential, EgressResponse } from "../egress-types.ts";
import type { AdmittedRequest } from "../pipeline.ts";
import { BodyReader } from "./body-reader.ts";
import { acceptedEncodings, parseContentEncoding } from "./decoding.ts";
import { cleanHeaders } from "./response-head.ts";

/** How one request is sent. */
export interface SendOptions {
  readonly body: Uint8Array | undefined;
  readonly maxBytes: number;
  readonly ceilingBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Send `request` through `pool`.
 *
 * @throws {EgressError} of the connection and the response; the reason of `signal`.
 */
export function sendRequest(
  pool: Pool,
  request: AdmittedRequest,
  { body, maxBytes, ceilingBytes, signal }: SendOptions,
): Promise<EgressResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<EgressResponse>();
  const { head, scrubber } = request;
  const { host } = head.target.authority;
  let isComplete = false;
  let controller: Dispatcher.DispatchController | undefined;
  let reader: BodyReader | undefined;
  let isSettled = false;

  const settle = (finish: () => void): void => {
    if (isSettled) return;
    isSettled = true;
    signal.removeEventListener("abort", abort);
    finish();
  };
  const fail = (error: unknown): void => {
    settle(() => {
      reader?.destroy();
      reject(error);
      controller?.abort(error as Error);
    });
  };
  const abort = (): void => fail(signal.reason);

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (isSettled)
        started.abort(new EgressError("EGRESS_CLOSED", "Cannot send a request that nobody waits for"));
      else request.sending();
    },
    onResponseStart(_, status, raw) {
      if (status < 200 || isSettled) return;
      try {
        const headers = cleanHeaders(raw, scrubber, request.echoed);
        const encoding = raw["content-encoding"];
        reader = new BodyReader({
          decoders: parseContentEncoding(typeof encoding === "string" ? encoding : encoding?.join(",")),
          scrubber: scrubber?.stream(request.echoed("body")),
          maxBytes,
          ceilingBytes,
          onDrain: () => controller?.resume(),
          onDone: (read) =>
            settle(() => {
              resolve({ status, headers, ...read });
              // At the ceiling there is more to come, which nobody reads.
              if (!isComplete) controller?.abort(new EgressError("EGRESS_RESPONSE_INVALID", "Body was cut"));
            }),
          onError: fail,
        });
      } catch (error) {
        fail(error);
      }
    },
    onResponseData(started, piece) {
      if (reader?.write(piece) === false) started.pause();
    },
    onResponseEnd() {
      isComplete = true;
      reader?.end();
    },
    onResponseError: (_, error) => fail(toEgressError(error, host, scrubber)),
  };

  if (signal.aborted) {
    abort();
    return promise;
  }
  signal.addEventListener("abort", abort, { once: true });
  try {
    pool.dispatch(
      { method: head.method, path: head.target.path, headers: toHeaders(request), body },
      handler,
    );
  } catch (error) {
    fail(toEgressError(error, host, scrubber));
  }
  return promise;
}

/** The headers as they are sent: `host` is made of the target, and the body is decompressed here. */
function toHeaders({ head: { headers } }: AdmittedRequest): string[] {
  const sent: string[] = [];
  let isPartial = false;
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (lower === "host" || lower === "accept-encoding") continue;
    if (lower === "range") isPartial = true;
    sent.push(name, value);
  }
  // A part of a compressed body cannot be decompressed.
  sent.push("accept-encoding", isPartial ? "identity" : acceptedEncodings);
  return sent;
}

const timeoutCodes: ReadonlySet<string> = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);
const closedCodes: ReadonlySet<string> = new Set(["UND_ERR_DESTROYED", "UND_ERR_CLOSED"]);
const invalidCodes: ReadonlySet<string> = new Set([
  "UND_ERR_HEADERS_OVERFLOW",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_RES_EXCEEDED_MAX_SIZE",
]);

/** What undici threw, as one of our errors. */
function toEgressError(
  error: unknown,
  host: string,
  scrubber: ByteScrubber<EgressCredential> | undefined,
): EgressError {
  if (error instanceof EgressError) return error;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : "";
  // A parser's error carries the bytes that it could not read, and so would its log line.
  const cause = new Error(`${code}: ${scrubber?.text(message, () => {}) ?? message}`);
  if (timeoutCodes.has(code)) {
    return new EgressError("EGRESS_TIMED_OUT", `Cannot wait longer for "${host}": it does not answer`, {
      cause,
    });
  }
  if (closedCodes.has(code)) {
    return new EgressError("EGRESS_CLOSED", `Cannot reach "${host}": the egress was closed`, { cause });
  }
  // Its code says what was wrong, or there is none.
  if ((error instanceof Error && error.name === "HTTPParserError") || invalidCodes.has(code)) {
    return new EgressError(
      "EGRESS_RESPONSE_INVALID",
      `Cannot read the response of "${host}": it is no HTTP`,
      {
        cause,
      },
    );
  }
  if (code === "UND_ERR_INVALID_ARG") {
    return new EgressError("EGRESS_REQUEST_INVALID", `Cannot send a request to "${host}": it is not valid`, {
      cause,
    });
  }
  return new EgressError("EGRESS_CONNECTION_LOST", `Cannot read from "${host}": the connection broke`, {
    cause,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
