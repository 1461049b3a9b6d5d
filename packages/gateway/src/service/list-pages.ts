/**
 * Pages of a list with opaque cursors. A cursor holds only for the list as it
 * was: after a change it is refused, so that no client skips or repeats items.
 */

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
 * @param edition identifies the list and its state, such as `tools 12`.
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
    throw new GatewayError(
      "CURSOR_STALE",
      "The cursor is not valid, or the list changed since it was given",
      {
        rpcCode: invalidParams,
        hint: "list again from the start, without a cursor",
      },
    );
  }
  return Number(match[1]);
}

/** A list as it was made last, and the name of that state. */
interface KeptList<Item> {
  readonly items: readonly Item[];
  readonly edition: string;
  readonly madeAt: number;
}

/** Lists that are made once for each change of what they are made from. */
export interface KeptLists<Item> {
  /**
   * The list under `key`. It is made again when `state` is another number than
   * before, and keeps its edition when that gives the same items.
   */
  get(key: string, state: number, make: () => readonly Item[]): Omit<KeptList<Item>, "madeAt">;
}

/** Most lists that are kept; what is forgotten is made again. */
const maxKept = 1000;

/** Keep lists. @param run differs between two runs of the program, so that no cursor outlives one */
export function keepLists<Item>(run: string): KeptLists<Item> {
  const kept = new Map<string, KeptList<Item>>();
  let editions = 0;
  return {
    get(key, state, make) {
      const known = kept.get(key);
      if (known?.madeAt === state) return known;
      const items = make();
      const isSame =
        known !== undefined &&
        known.items.length === items.length &&
        items.every((item, at) => item === known.items[at]);
      if (!isSame) editions += 1;
      const list = isSame
        ? { ...known, madeAt: state }
        : { items, edition: `${run} ${editions}`, madeAt: state };
      kept.delete(key);
      kept.set(key, list);
      if (kept.size > maxKept) kept.delete(kept.keys().next().value as string);
      return list;
    },
  };
}
