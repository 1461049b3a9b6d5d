/**
 * The inverted index: the terms of each document by field, and the statistics of
 * the collection for ranking.
 *
 * Documents occupy slots, which are reused after a removal. Every statistic
 * (documents, df, lengths and the number of documents per field) is an integer
 * that additions and removals keep exact, so an index always ranks as if it had
 * been built from its current documents only.
 *
 * The length of a field is the number of its words, without the joined forms of
 * identifiers and exact names, which repeat words.
 */

import { Dictionary } from "./dictionary.ts";
import { fieldTextsOf, type SearchDocument } from "./document.ts";
import { DocumentWords } from "./document-words.ts";
import { exactNameWord } from "./exact-name.ts";
import { grownUint16, grownUint32 } from "./grown.ts";
import { searchFields, searchLimits } from "./options.ts";
import { fieldBits, PostingLists } from "./posting-lists.ts";
import { scanWords, type WordKind } from "./scan-words.ts";
import { SearchError } from "./search-error.ts";

const nameField = searchFields.indexOf("name");

export class InvertedIndex {
  readonly dictionary = new Dictionary();
  readonly postings = new PostingLists();
  /** The length of each field of each document, by the key of its postings. Read only. */
  lengths = new Uint16Array(0);
  /** Per field: the total length of all documents, and the number of documents with the field. Read only. */
  readonly lengthSums = new Float64Array(searchFields.length);
  readonly documentCounts = new Uint32Array(searchFields.length);
  readonly #slots = new Map<string, number>();
  readonly #ids: string[] = [];
  readonly #freeSlots: number[] = [];
  readonly #documentWords = new DocumentWords();

  // Words and counts of the document that is being added. All counts are zero between additions.
  #termCounts = new Uint32Array(0);
  #wordCounts = new Uint32Array(0);
  readonly #fieldTerms: number[] = [];
  readonly #words: number[] = [];
  #length = 0;
  #version = 0;

  /** Changes whenever a document gets or loses its slot. */
  get version(): number {
    return this.#version;
  }

  get documentCount(): number {
    return this.#slots.size;
  }

  /** The highest slot in use plus 1. */
  get slotEnd(): number {
    return this.#ids.length;
  }

  has(id: string): boolean {
    return this.#slots.has(id);
  }

  /** Returns the slot of a document, if it is in the index. */
  slotOf(id: string): number | undefined {
    return this.#slots.get(id);
  }

  idOf(slot: number): string {
    return this.#ids[slot]!;
  }

  /** Returns the average length of `field` among the documents with that field; 1 without any. */
  averageLength(field: number): number {
    const count = this.documentCounts[field]!;
    return count === 0 ? 1 : this.lengthSums[field]! / count;
  }

  add(document: SearchDocument): void {
    // The document is read before any change, so that an invalid document leaves the index intact.
    const texts = fieldTextsOf(document);
    const exactNames = exactNamesOf(document);
    this.remove(document.id);
    const slot = this.#takeSlot(document.id);
    for (let field = 0; field < texts.length; field += 1) {
      if (texts[field] !== "") scanWords(texts[field]!, this.#takeWord);
      if (field === nameField) this.#countNames(exactNames);
      this.#closeField(slot, field);
    }
    this.#closeDocument(slot);
  }

  remove(id: string): boolean {
    const slot = this.#slots.get(id);
    if (slot === undefined) return false;
    for (let field = 0; field < searchFields.length; field += 1) {
      this.#count(field, this.lengths[(slot << fieldBits) + field]!, -1);
    }
    for (const word of this.#documentWords.take(slot)) {
      this.postings.removeDocument(this.dictionary.wordTerms[word]!, slot);
      this.dictionary.release(word);
    }
    this.#slots.delete(id);
    this.#version += 1;
    this.#ids[slot] = "";
    this.#freeSlots.push(slot);
    return true;
  }

  #takeSlot(id: string): number {
    if (this.#slots.size >= searchLimits.documentsMax) {
      throw new SearchError(
        "SEARCH_INDEX_FULL",
        `Cannot add "${id}" to the search index: it holds ${searchLimits.documentsMax} documents already`,
      );
    }
    const slot = this.#freeSlots.pop() ?? this.#ids.length;
    if ((slot + 1) << fieldBits > this.lengths.length) {
      this.lengths = grownUint16(this.lengths, (slot + 1) << fieldBits);
    }
    this.#ids[slot] = id;
    this.#slots.set(id, slot);
    this.#version += 1;
    return slot;
  }

  readonly #takeWord = (text: string, start: number, end: number, kind: WordKind): boolean => {
    if (kind === "word" || kind === "gram") this.#length += 1;
    this.#countWord(this.dictionary.intern(text, start, end));
    return true;
  };

  #countNames(names: ReadonlySet<string>): void {
    for (const name of names) this.#countWord(this.dictionary.intern(name, 0, name.length));
  }

  #countWord(word: number): void {
    if (word >= this.#wordCounts.length) this.#wordCounts = grownUint32(this.#wordCounts, word + 1);
    if (this.#wordCounts[word] === 0) this.#words.push(word);
    this.#wordCounts[word]! += 1;
    const term = this.dictionary.wordTerms[word]!;
    if (term >= this.#termCounts.length) this.#termCounts = grownUint32(this.#termCounts, term + 1);
    if (this.#termCounts[term] === 0) this.#fieldTerms.push(term);
    this.#termCounts[term]! += 1;
  }

  #closeField(slot: number, field: number): void {
    const key = (slot << fieldBits) + field;
    for (const term of this.#fieldTerms) {
      this.postings.insert(term, key, this.#termCounts[term]!);
      this.#termCounts[term] = 0;
    }
    this.#fieldTerms.length = 0;
    this.lengths[key] = this.#length;
    this.#count(field, this.#length, 1);
    this.#length = 0;
  }

  #closeDocument(slot: number): void {
    for (const word of this.#words) {
      this.dictionary.retain(word);
      this.#wordCounts[word] = 0;
    }
    this.#documentWords.set(slot, this.#words);
    this.#words.length = 0;
  }

  #count(field: number, length: number, sign: 1 | -1): void {
    if (length === 0) return;
    this.lengthSums[field]! += sign * length;
    this.documentCounts[field]! += sign;
  }
}

/** Returns the forms of a name that a whole query can equal: alone, after its namespace, and as id. */
function exactNamesOf({ id, name, namespace }: SearchDocument): ReadonlySet<string> {
  const qualified = `${namespace}:${name}`;
  const forms = [exactNameWord(name), exactNameWord(qualified)];
  if (id !== qualified) forms.push(exactNameWord(id));
  return new Set(forms.filter((form) => form !== undefined));
}
