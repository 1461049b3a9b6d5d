/**
 * Pages of a list with opaque cursors. A cursor holds only for the list as it
 * was: after a change it is refused, so that no client skips or repeats items.
 */

import { cursorStale } from "../codes.ts";
import { GatewayError } from "../gateway-error.ts";

const invalidParams = -32602;

/** One page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | undefined;
}

/**
 * The page of `items` that `cursor` names, or the first.
 *
 * @param edition identifies the list and its state, such as `tools//12`.
 * @throws {GatewayError} `CURSOR_STALE` for a cursor of another edition, or none of ours.
 */
export function pageOf<Item>(
  items: readonly Item[],
  cursor: unknown,
  edition: string,
  pageSize: number,
): Page<Item> {
  const start = cursor === undefined ? 0 : startOf(cursor, edition);
  const end = start + pageSize;
  return {
    items: start === 0 && items.length <= pageSize ? items : items.slice(start, end),
    nextCursor:
      end < items.length ? Buffer.from(`${end} ${edition}`, "utf8").toString("base64url") : undefined,
  };
}

function startOf(cursor: unknown, edition: string): number {
  const text =
    typeof cursor === "string" && cursor.length < 1000
      ? Buffer.from(cursor, "base64url").toString("utf8")
      : "";
  const match = /^(\d{1,9}) (.*)$/s.exec(text);
  if (match === null || match[2] !== edition) {
    throw new GatewayError(cursorStale, "The cursor is not valid, or the list changed since it was given", {
      rpcCode: invalidParams,
      hint: "list again from the start, without a cursor",
    });
  }
  return Number(match[1]);
}
