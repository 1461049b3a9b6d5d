/**
 * Sends one request over a pooled connection, once, and reads its response to
 * the end or to the ceiling. Redirects are responses like any other. Errors of
 * undici become an `EgressError` whose cause is scrubbed.
 */

import type { ByteScrubber } from "@toolcrib/redaction";
import type { Dispatcher, Pool } from "undici";
import { EgressError } from "../egress-error.ts";
import type { EgressCredential, EgressResponse } from "../egress-types.ts";
import type { AdmittedRequest } from "../pipeline.ts";
import { BodyReader } from "./body-reader.ts";
import { acceptedEncodings, parseContentEncoding } from "./decoding.ts";
import { cleanHeaders, type RawHeaders } from "./response-head.ts";

/** Options of one request. */
export interface SendOptions {
  readonly body: Uint8Array | undefined;
  readonly maxBytes: number;
  readonly ceilingBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Sends `request` through `pool`.
 *
 * @throws {EgressError} of the connection and the response; the reason of `signal`.
 */
export function sendRequest(
  pool: Pool,
  request: AdmittedRequest,
  options: SendOptions,
): Promise<EgressResponse> {
  const exchange = new FetchExchange(request, options);
  exchange.start(pool);
  return exchange.response;
}

/** One request and its response; undici calls its handler methods. */
class FetchExchange implements Dispatcher.DispatchHandler {
  readonly #request: AdmittedRequest;
  readonly #options: SendOptions;
  readonly #result = Promise.withResolvers<EgressResponse>();
  readonly #abort = (): void => this.#fail(this.#options.signal.reason);
  #controller: Dispatcher.DispatchController | undefined;
  #reader: BodyReader | undefined;
  #isComplete = false;
  #isSettled = false;

  constructor(request: AdmittedRequest, options: SendOptions) {
    this.#request = request;
    this.#options = options;
  }

  get response(): Promise<EgressResponse> {
    return this.#result.promise;
  }

  start(pool: Pool): void {
    const { body, signal } = this.#options;
    const { method, target } = this.#request.head;
    if (signal.aborted) {
      this.#abort();
      return;
    }
    signal.addEventListener("abort", this.#abort, { once: true });
    try {
      pool.dispatch({ method, path: target.path, headers: toHeaders(this.#request), body }, this);
    } catch (error) {
      this.#failWith(error);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled)
      controller.abort(new EgressError("EGRESS_CLOSED", "Cannot send a request: it was cancelled"));
    else this.#request.sending();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, raw: RawHeaders): void {
    if (status < 200 || this.#isSettled) return;
    const { scrubber } = this.#request;
    const { maxBytes, ceilingBytes } = this.#options;
    try {
      const headers = cleanHeaders(raw, scrubber, (where) => this.#request.echoed(where));
      const encoding = raw["content-encoding"];
      this.#reader = new BodyReader({
        decoders: parseContentEncoding(typeof encoding === "string" ? encoding : encoding?.join(",")),
        scrubber: scrubber?.stream(this.#request.echoed("body")),
        maxBytes,
        ceilingBytes,
        onDrain: () => this.#controller?.resume(),
        onDone: (read) => this.#finish({ status, headers, ...read }),
        onError: (error) => this.#fail(error),
      });
    } catch (error) {
      this.#fail(error);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#reader?.write(piece) === false) controller.pause();
  }

  onResponseEnd(): void {
    this.#isComplete = true;
    this.#reader?.end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#failWith(error);
  }

  #finish(response: EgressResponse): void {
    if (!this.#settle()) return;
    this.#result.resolve(response);
    // At the ceiling, the rest of the body is not read.
    if (!this.#isComplete)
      this.#controller?.abort(new EgressError("EGRESS_RESPONSE_INVALID", "Body was cut"));
  }

  #failWith(error: unknown): void {
    const { head, scrubber } = this.#request;
    this.#fail(toEgressError(error, head.target.authority.host, scrubber));
  }

  #fail(error: unknown): void {
    if (!this.#settle()) return;
    this.#reader?.destroy();
    this.#result.reject(error);
    this.#controller?.abort(error as Error);
  }

  /** Returns whether this call settles the request. */
  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#options.signal.removeEventListener("abort", this.#abort);
    return true;
  }
}

/** Returns the headers to send: undici derives `host` from the target, and this package decompresses the body. */
function toHeaders({ head: { headers } }: AdmittedRequest): string[] {
  const sent: string[] = [];
  let isPartial = false;
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (lower === "host" || lower === "accept-encoding") continue;
    if (lower === "range") isPartial = true;
    sent.push(name, value);
  }
  // A part of a compressed body cannot be decompressed on its own.
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

/** Converts an error of undici. */
function toEgressError(
  error: unknown,
  host: string,
  scrubber: ByteScrubber<EgressCredential> | undefined,
): EgressError {
  if (error instanceof EgressError) return error;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : "";
  // An error of the parser contains the invalid bytes, which must not reach the log.
  const cause = new Error(`${code}: ${scrubber?.text(message, () => {}) ?? message}`);
  if (timeoutCodes.has(code)) {
    return new EgressError("EGRESS_TIMED_OUT", `Cannot wait longer for "${host}": it does not answer`, {
      cause,
    });
  }
  if (closedCodes.has(code)) {
    return new EgressError("EGRESS_CLOSED", `Cannot reach "${host}": the egress was closed`, { cause });
  }
  // These errors have a specific code, or none.
  if ((error instanceof Error && error.name === "HTTPParserError") || invalidCodes.has(code)) {
    return new EgressError(
      "EGRESS_RESPONSE_INVALID",
      `Cannot read the response of "${host}": it is not valid HTTP`,
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
  return new EgressError("EGRESS_CONNECTION_LOST", `Cannot read from "${host}": the connection failed`, {
    cause,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
