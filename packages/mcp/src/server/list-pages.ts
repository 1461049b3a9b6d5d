/**
 * Pages of a list with opaque cursors. A cursor is valid for one state of the
 * list: after a change it is refused, so that no client skips or repeats items.
 */

import { McpError } from "../mcp-error.ts";
import { rpcCodes } from "../protocol.ts";

/** One page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | undefined;
}

/**
 * Returns the page of `items` that `cursor` names, or the first.
 *
 * @param edition identifies the list and its state, such as `tools 12`.
 * @throws {McpError} `CURSOR_STALE` for a cursor of another edition, and for an invalid one.
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
    throw new McpError("CURSOR_STALE", "The cursor is not valid, or the list changed since it was given", {
      rpcCode: rpcCodes.invalidParams,
      hint: "list again from the start, without a cursor",
    });
  }
  return Number(match[1]);
}

/** A list, and the name of its state. */
interface CachedList<Item> {
  readonly items: readonly Item[];
  /** Changes when the items do. */
  readonly edition: string;
  /** State of the inputs that it was made from. */
  readonly state: number;
}

/** Maximum number of lists in a cache; the least recently made is dropped first. */
const maxLists = 1000;

/** Lists that are made once for each change of their inputs. */
export class ListCache<Item> {
  readonly #run: string;
  readonly #lists = new Map<string, CachedList<Item>>();
  #editions = 0;

  /** @param run differs between two runs of the program, so that no cursor outlives one */
  constructor(run: string) {
    this.#run = run;
  }

  /**
   * Returns the list under `key`. It is made again when `state` differs from
   * before, and keeps its edition if that gives the same items.
   */
  get(key: string, state: number, make: () => readonly Item[]): Omit<CachedList<Item>, "state"> {
    const cached = this.#lists.get(key);
    if (cached?.state === state) return cached;
    const items = make();
    const list =
      cached !== undefined && isSameList(cached.items, items)
        ? { ...cached, state }
        : { items, edition: this.#nextEdition(), state };
    this.#lists.delete(key);
    this.#lists.set(key, list);
    if (this.#lists.size > maxLists) this.#lists.delete(this.#lists.keys().next().value as string);
    return list;
  }

  #nextEdition(): string {
    this.#editions += 1;
    return `${this.#run} ${this.#editions}`;
  }
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}
