/**
 * The record of an execution's inner calls, for its caller and the audit. What
 * is long is left out and its size said, so that a composite over large replies
 * does not answer with all of them.
 */

import type { JsonValue } from "@toolcrib/json";
import { jsonSize } from "./json-measure.ts";
import type { ToolCallRecord } from "./outcome.ts";

/** Most bytes of one result, and of the parameters of one call. */
export const recordMaxBytes = 64 * 1024;
/** Most bytes of all records of an execution. */
export const recordsMaxBytes = 1024 * 1024;

/** What stands for the result of a call that had none when the execution ended. */
const unanswered: JsonValue = { error: "it was not answered before the end of the execution" };

/** Takes down inner calls in the order in which they began. */
export class CallRecords {
  readonly #records: { tool: string; params: JsonValue; result: JsonValue }[] = [];
  #bytesLeft = recordsMaxBytes;

  /** How many calls have begun. */
  get count(): number {
    return this.#records.length;
  }

  /** Note the beginning of a call; the function returned takes its result. */
  begin(tool: string, params: JsonValue): (result: JsonValue) => void {
    const record = { tool, params: this.#kept(params), result: unanswered };
    this.#records.push(record);
    return (result) => {
      record.result = this.#kept(result);
    };
  }

  /** What was noted so far. */
  toArray(): readonly ToolCallRecord[] {
    return this.#records.map((record) => ({ ...record }));
  }

  #kept(value: JsonValue): JsonValue {
    const room = Math.min(recordMaxBytes, this.#bytesLeft);
    const bytes = jsonSize(value, room);
    if (bytes <= room) {
      this.#bytesLeft -= bytes;
      return value;
    }
    return { truncated: true, bytes: jsonSize(value) };
  }
}
