/**
 * Merges the results of a search by words with those of one by meaning, by their ranks (reciprocal rank fusion,
 * G. Cormack et al., 2009): the scores of the two cannot be compared, their ranks can. Pure.
 */

/** Weighs high ranks against each other; 60 is the value of the paper. */
const k = 60;

/** The ranks of a result, from 1, in each of the searches that found it. */
export interface FusedRanks {
  readonly words?: number;
  readonly meaning?: number;
  /** The cosine of the vectors of the tool and of the query. */
  readonly similarity?: number;
}

/** A merged result. */
interface FusedHit<Word> {
  readonly id: string;
  /** The sum of 1/(60 + rank) over its ranks. */
  readonly score: number;
  readonly ranks: FusedRanks;
  /** The result by words. */
  readonly word: Word | undefined;
}

/** Returns the results of both lists, the highest score first; equal scores in the order by words, then by id. */
export function fuseRanks<Word extends { readonly id: string }>(
  byWords: readonly Word[],
  byMeaning: readonly { readonly id: string; readonly similarity: number }[],
): readonly FusedHit<Word>[] {
  const meanings = new Map(byMeaning.map(({ id, similarity }, at) => [id, { meaning: at + 1, similarity }]));
  const found = new Map<string, FusedHit<Word>>();
  for (const [at, word] of byWords.entries()) {
    const ranks = { words: at + 1, ...meanings.get(word.id) };
    found.set(word.id, { id: word.id, score: scoreOf(ranks), ranks, word });
  }
  for (const [id, ranks] of meanings) {
    if (!found.has(id)) found.set(id, { id, score: scoreOf(ranks), ranks, word: undefined });
  }
  const wordRank = ({ ranks }: FusedHit<Word>) => ranks.words ?? Number.MAX_SAFE_INTEGER;
  return [...found.values()].sort(
    (a, b) => b.score - a.score || wordRank(a) - wordRank(b) || (a.id < b.id ? -1 : 1),
  );
}

function scoreOf({ words, meaning }: FusedRanks): number {
  return partOfRank(words) + partOfRank(meaning);
}

function partOfRank(rank: number | undefined): number {
  return rank === undefined ? 0 : 1 / (k + rank);
}
