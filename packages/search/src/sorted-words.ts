/**
 * The words of the index in code unit order, to find those that begin with a
 * prefix while words are added and removed.
 *
 * A list of chunks of at most 512 words: adding or removing a word takes two
 * binary searches and a move within a chunk, never a sort of all words. The list
 * contains word numbers; the dictionary stores their texts.
 */

const chunkMaxWords = 512;

export class SortedWords {
  /** Never contains an empty chunk. */
  readonly #chunks: number[][] = [];
  readonly #texts: readonly string[];

  /** @param texts the text of each word number; it may grow later. */
  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  /** Adds `word`; the list must not contain its text. */
  add(word: number): void {
    const text = this.#texts[word]!;
    if (this.#chunks.length === 0) {
      this.#chunks.push([word]);
      return;
    }
    const chunkIndex = this.#chunkFor(text);
    const chunk = this.#chunks[chunkIndex]!;
    chunk.splice(this.#lowerBound(chunk, text), 0, word);
    if (chunk.length > chunkMaxWords) this.#chunks.splice(chunkIndex + 1, 0, chunk.splice(chunk.length >> 1));
  }

  /** Removes `word`; the list must contain it with its text unchanged. */
  remove(word: number): void {
    const text = this.#texts[word]!;
    const chunkIndex = this.#chunkFor(text);
    const chunk = this.#chunks[chunkIndex]!;
    chunk.splice(this.#lowerBound(chunk, text), 1);
    if (chunk.length === 0) this.#chunks.splice(chunkIndex, 1);
  }

  /** Returns the words that begin with `prefix`, in order, at most `max`. */
  startingWith(prefix: string, max: number): number[] {
    const found: number[] = [];
    if (this.#chunks.length === 0) return found;
    let chunkIndex = this.#chunkFor(prefix);
    let index = this.#lowerBound(this.#chunks[chunkIndex]!, prefix);
    while (chunkIndex < this.#chunks.length) {
      const chunk = this.#chunks[chunkIndex]!;
      for (; index < chunk.length; index += 1) {
        if (found.length >= max || !this.#texts[chunk[index]!]!.startsWith(prefix)) return found;
        found.push(chunk[index]!);
      }
      chunkIndex += 1;
      index = 0;
    }
    return found;
  }

  /** Returns the index of the last chunk whose first word is not after `text`; 0 without any. */
  #chunkFor(text: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#texts[this.#chunks[middle]![0]!]! <= text) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Returns the index of the first word of `chunk` that is not before `text`. */
  #lowerBound(chunk: readonly number[], text: string): number {
    let low = 0;
    let high = chunk.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#texts[chunk[middle]!]! < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
