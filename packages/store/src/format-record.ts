/**
 * An event to the text of its record, in two parts: the body when it happens,
 * and the head, which carries the sequence number, when it is written. Nothing
 * unsafe for a terminal is left in either (escape-unsafe.ts).
 */

import type { AuditEvents, AuditEventType } from "./audit-event.ts";
import { escapeJson } from "./escape-unsafe.ts";
import { StoreError } from "./store-error.ts";

/** Texts of a record that is too large are cut to this many UTF-16 units, its lists to this many items. */
const cutTextLength = 256;
const cutListLength = 16;

/** Turns events into bodies; `time` is only formatted again when the clock has moved. */
export class BodyFormatter {
  readonly #clock: () => number;
  readonly #maxLength: number;
  #timeMs = Number.NaN;
  #time = "";

  constructor(clock: () => number, maxLength: number) {
    this.#clock = clock;
    this.#maxLength = maxLength;
  }

  /**
   * The body of a record of `type`, with its line feed.
   *
   * @throws {StoreError} `AUDIT_RECORD_TOO_LARGE` when cutting did not help.
   */
  body<Type extends AuditEventType>(type: Type, data: AuditEvents[Type]): string {
    const now = this.#clock();
    if (now !== this.#timeMs) {
      this.#timeMs = now;
      this.#time = new Date(now).toISOString();
    }
    const whole = toBody(type, this.#time, data);
    if (whole.length <= this.#maxLength) return whole;
    const { preview: _, ...withoutPreview } = data as { readonly preview?: unknown };
    const lighter = toBody(type, this.#time, withoutPreview, true);
    if (lighter.length <= this.#maxLength) return lighter;
    const cut = toBody(type, this.#time, shorten(withoutPreview, 0), true);
    if (cut.length <= this.#maxLength) return cut;
    throw new StoreError(
      "AUDIT_RECORD_TOO_LARGE",
      `Cannot write a "${type}" record of ${whole.length} characters; at most ${this.#maxLength} are allowed`,
    );
  }

  /** RFC 3339 time of the last body. */
  get time(): string {
    return this.#time;
  }
}

function toBody(type: string, time: string, data: unknown, truncated = false): string {
  const mark = truncated ? '"truncated":true,' : "";
  return escapeJson(`"type":"${type}","time":"${time}",${mark}"data":${JSON.stringify(data)}}\n`);
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

/** The part of every head of one writer's run that does not change. */
export interface HeadParts {
  readonly beforeId: string;
  readonly afterId: string;
}

/** The constant parts of the heads of `writer`'s records in the run `run`. */
export function toHeadParts(source: string, writer: string, run: string): HeadParts {
  return {
    beforeId: `{"specversion":"1.0","id":"${run}-`,
    afterId: escapeJson(`","source":${JSON.stringify(source)},"writer":"${writer}","sequence":"`),
  };
}

/** The head of the record `sequence`; the record is its head followed by its body. */
export function toHead(parts: HeadParts, sequence: number): string {
  const digits = String(sequence).padStart(16, "0");
  return `${parts.beforeId}${digits}${parts.afterId}${digits}",`;
}
