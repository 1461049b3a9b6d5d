/**
 * The records of the inner calls of an execution, for its caller and the audit. A
 * long value is replaced by its size, so that a composite over large replies does
 * not return all of them.
 */

import type { JsonValue } from "@toolcrib/json";
import { jsonSize } from "./json-measure.ts";
import type { ToolCallRecord } from "./outcome.ts";

/** Maximum number of bytes of one result, and of the parameters of one call. */
export const recordMaxBytes = 64 * 1024;
/** Maximum number of bytes of all records of an execution. */
export const recordsMaxBytes = 1024 * 1024;

/** The result of an inner call that had none when the execution ended. */
const unanswered: JsonValue = { error: "it was not answered before the end of the execution" };

/** Records inner calls in the order in which they began. */
export class CallRecords {
  readonly #records: { tool: string; params: JsonValue; result: JsonValue }[] = [];
  #bytesLeft = recordsMaxBytes;

  /** Number of inner calls that have begun. */
  get count(): number {
    return this.#records.length;
  }

  /** Records the beginning of an inner call. The returned function records its result. */
  begin(tool: string, params: JsonValue): (result: JsonValue) => void {
    const record = { tool, params: this.#kept(params), result: unanswered };
    this.#records.push(record);
    return (result) => {
      record.result = this.#kept(result);
    };
  }

  /** Returns the records so far. */
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
