/** Checks of sources whose tools depend on secrets and files: a few at a time, with one update of the index for all. */

import type { ToolIndex } from "./tool-index.ts";

/** Sources that are checked at a time: each uses files and memory meanwhile. */
const checksAtATime = 8;

/** A source that finds out by itself whether something about it changed. */
interface CheckedSource {
  /** Checks it. @returns whether something changed, which it reports when it is asked to */
  check(): Promise<boolean>;
  /** Reports what changed. */
  emitChanges(): void;
}

/**
 * Checks `sources`, then updates the index once.
 *
 * @param isOver whether their owner ended meanwhile, so that nothing is to be reported
 */
export async function checkSources(
  sources: readonly CheckedSource[],
  index: Pick<ToolIndex, "together">,
  isOver: () => boolean,
): Promise<void> {
  const changed: CheckedSource[] = [];
  const waiting = sources.values();
  const work = async (): Promise<void> => {
    for (const source of waiting) if (await source.check()) changed.push(source);
  };
  await Promise.all(Array.from({ length: checksAtATime }, work));
  if (isOver()) return;
  index.together(() => {
    for (const source of changed) source.emitChanges();
  });
}
