/**
 * One request to the collector, and what its answer means for the data. The collector is not trusted:
 * its answer is read up to a limit of bytes and time, no redirect is followed, and no text of it is shown.
 */

import { messageOf } from "@toolcrib/diagnostics";
import type { OtlpRequest, TelemetryDeps } from "./telemetry-types.ts";

/** Bytes of a response that are read. */
const responseMaxBytes = 64 * 1024;

/** Answers that ask for another attempt (OTLP/HTTP, Retryable Response Codes). */
const retryableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The fate of the data of a request. */
export type SendOutcome =
  /** The collector has it, except for `rejected` spans, points or records. */
  | { readonly kind: "sent"; readonly rejected: number }
  /** Another attempt can succeed. */
  | { readonly kind: "retry"; readonly reason: string; readonly afterMs: number | undefined }
  /** No attempt with the same data can succeed. */
  | { readonly kind: "refused"; readonly reason: string };

/** A request without its time limit, and the reader of its answer. */
export interface OtlpExport extends Omit<OtlpRequest, "signal"> {
  /** Returns how many items the collector did not accept, by the body of a successful answer. May throw. */
  readonly rejectedIn: (answer: Uint8Array) => number | undefined;
}

/** Sends a request. Never rejects. @param stopping ends it, as its time limit does */
export async function sendOtlp(
  { post, now }: Pick<TelemetryDeps, "post" | "now">,
  { rejectedIn, ...request }: OtlpExport,
  timeoutMs: number,
  stopping: AbortSignal,
): Promise<SendOutcome> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
  try {
    const signal = AbortSignal.any([late.signal, stopping]);
    const { status, retryAfter, body } = await post({ ...request, signal });
    const answer = await readSome(body);
    if (status >= 200 && status < 300) return { kind: "sent", rejected: rejectedOf(answer, rejectedIn) };
    if (retryableStatuses.has(status)) {
      return { kind: "retry", reason: `HTTP status ${status}`, afterMs: waitOf(retryAfter, now()) };
    }
    const isRedirect = status >= 300 && status < 400;
    return {
      kind: "refused",
      reason: `HTTP status ${status}${isRedirect ? ": redirects are not followed" : ""}`,
    };
  } catch (error) {
    const aborted: unknown = late.signal.aborted ? late.signal.reason : error;
    return { kind: "retry", reason: messageOf(aborted), afterMs: undefined };
  } finally {
    clearTimeout(timer);
  }
}

/** Reads the start of a body. A body that breaks off or does not end in time is as long as what was received. */
async function readSome(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.length;
      if (length > responseMaxBytes) break;
      chunks.push(chunk);
    }
  } catch {
    // The status is known, and decides.
  }
  return Buffer.concat(chunks);
}

function rejectedOf(answer: Uint8Array, rejectedIn: OtlpExport["rejectedIn"]): number {
  if (answer.length === 0) return 0;
  try {
    const rejected = Number(rejectedIn(answer) ?? 0);
    return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0;
  } catch {
    return 0;
  }
}

/** Milliseconds of a `Retry-After`: seconds, or a date. */
function waitOf(retryAfter: string | undefined, now: number): number | undefined {
  if (retryAfter === undefined) return undefined;
  const ms = /^[0-9]{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
