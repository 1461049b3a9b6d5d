/**
 * Selects the best hits of a ranking with a heap of the size of the limit, without
 * sorting all hits. Higher scores come first, equal scores in the order of their
 * ids (by code unit), so the result is independent of the history of the index.
 */

import type { Ranking } from "./ranker.ts";

/**
 * Returns the slots of the best hits, best first.
 *
 * @param accepts called only for a hit that would be among the best so far.
 */
export function bestHits(
  { slots, count, scores }: Ranking,
  limit: number,
  idOf: (slot: number) => string,
  accepts: (slot: number) => boolean,
): number[] {
  /** A heap with the worst hit on top. */
  const heap: number[] = [];
  const isWorse = (a: number, b: number): boolean =>
    scores[a] === scores[b] ? idOf(a) > idOf(b) : scores[a]! < scores[b]!;
  for (let hit = 0; hit < count; hit += 1) {
    const slot = slots[hit]!;
    if (heap.length < limit) {
      if (accepts(slot)) siftUp(heap, slot, isWorse);
    } else if (isWorse(heap[0]!, slot) && accepts(slot)) {
      siftDown(heap, slot, isWorse);
    }
  }
  return heap.sort((a, b) => (isWorse(a, b) ? 1 : -1));
}

type IsWorse = (a: number, b: number) => boolean;

/** Inserts `slot` into the heap. */
function siftUp(heap: number[], slot: number, isWorse: IsWorse): void {
  let at = heap.length;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isWorse(slot, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = slot;
}

/** Replaces the worst hit of the heap by `slot`. */
function siftDown(heap: number[], slot: number, isWorse: IsWorse): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isWorse(heap[child + 1]!, heap[child]!)) child += 1;
    if (!isWorse(heap[child]!, slot)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = slot;
}
