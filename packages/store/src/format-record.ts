/**
 * Formats the record of an event in two parts: the body when the event happens, and
 * the head, with the sequence number and the hash of the line before it, when the record is written. Neither contains
 * a character that is unsafe for a terminal (escape-unsafe.ts).
 */

import type { AuditEvents, AuditEventType } from "./audit-event.ts";
import { escapeJson } from "./escape-unsafe.ts";
import { StoreError } from "./store-error.ts";

/** Maximum number of UTF-16 units of a text, and of items of a list, in a record that is truncated. */
const cutTextLength = 256;
const cutListLength = 16;

/** Formats bodies. The time is formatted again only when the clock has changed. */
export class BodyFormatter {
  readonly #now: () => number;
  readonly #maxLength: number;
  #timeMs = Number.NaN;
  #time = "";

  constructor(now: () => number, maxLength: number) {
    this.#now = now;
    this.#maxLength = maxLength;
  }

  /**
   * Returns the body of a record, with its line feed.
   *
   * @throws {StoreError} `AUDIT_RECORD_TOO_LARGE` when truncation is not enough.
   */
  body<Type extends AuditEventType>(type: Type, data: AuditEvents[Type]): string {
    const now = this.#now();
    if (now !== this.#timeMs) {
      this.#timeMs = now;
      this.#time = new Date(now).toISOString();
    }
    const whole = toBody(type, this.#time, data);
    if (whole.length <= this.#maxLength) return whole;
    const { preview: _preview, ...withoutPreview } = data as { readonly preview?: unknown };
    // Its places are names that a client or a server chose, each as long as it likes and six times that when escaped.
    const { fingerprints: _fingerprints, ...core } = withoutPreview as { readonly fingerprints?: unknown };
    for (const smaller of [() => withoutPreview, () => core, () => shorten(core, 0)]) {
      const body = toBody(type, this.#time, smaller(), true);
      if (body.length <= this.#maxLength) return body;
    }
    throw new StoreError(
      "AUDIT_RECORD_TOO_LARGE",
      `Cannot write a "${type}" record of ${whole.length} characters; at most ${this.#maxLength} are allowed`,
    );
  }

  /** Milliseconds since the epoch of the last body. */
  get timeMs(): number {
    return this.#timeMs;
  }

  /** RFC 3339 time of the last body. */
  get time(): string {
    return this.#time;
  }
}

function toBody(type: string, time: string, data: unknown, truncated = false): string {
  const mark = truncated ? '"truncated":true,' : "";
  // Concatenated after the check, which reads its text: the whole is copied once, when it is written.
  return `"type":"${type}","time":"${time}",${mark}"data":${escapeJson(JSON.stringify(data))}}\n`;
}

function shorten(value: unknown, depth: number): unknown {
  if (typeof value === "string") {
    return value.length > cutTextLength ? `${value.slice(0, cutTextLength)}…` : value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (depth > 3) return undefined;
  if (Array.isArray(value)) return value.slice(0, cutListLength).map((item) => shorten(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shorten(member, depth + 1)]));
}

/** The constant parts of all heads of one run. */
export interface HeadParts {
  readonly beforeId: string;
  readonly afterId: string;
}

/** Returns the constant parts of the heads of `writer` in the run `run`. */
export function toHeadParts(source: string, writer: string, run: string): HeadParts {
  return {
    beforeId: `{"specversion":"1.0","id":"${run}-`,
    afterId: escapeJson(`","source":${JSON.stringify(source)},"writer":"${writer}","sequence":"`),
  };
}

/**
 * Returns the head of the record `sequence`. A record is its head followed by its body.
 *
 * @param previous hash of the line before it (hash-chain.ts).
 */
export function toHead(parts: HeadParts, sequence: number, previous: string): string {
  const digits = String(sequence).padStart(16, "0");
  return `${parts.beforeId}${digits}${parts.afterId}${digits}","previous":"${previous}",`;
}
