/**
 * Replaces secrets in byte streams: each form of each secret becomes the
 * replacement of its owner. Data streams through; a scrubber holds back only the
 * possible beginning of a secret, and passes a piece without secrets on as it
 * is, without a copy. A body that consists of partial matches of secrets, so
 * that the search would take too long, ends with a replacement.
 *
 * It never decompresses: the caller passes decoded bytes.
 */

import { FormMatcher, type WantedForm } from "./form-matcher.ts";
import { LeadCursor } from "./lead-cursor.ts";
import { secretForms } from "./secret-forms.ts";
import { WorkBudget } from "./work-budget.ts";

/** A secret to redact. */
export interface KnownSecret<Owner> {
  /** The credential, for reports. */
  readonly owner: Owner;
  /** The texts to redact. */
  readonly texts: readonly string[];
  /** The text that replaces it, in Latin-1. */
  readonly replacement: string;
}

/** Receives the owner of each secret that was found. */
export type OnFound<Owner> = (owner: Owner) => void;

interface ScrubbedSecret<Owner> {
  readonly owner: Owner;
  readonly replacement: string;
  readonly bytes: Uint8Array;
}

type SecretMatcher<Owner> = FormMatcher<ScrubbedSecret<Owner>>;

/** Replaces secrets in byte streams and in header values. */
export class ByteScrubber<Owner> {
  readonly #matcher: SecretMatcher<Owner> = new FormMatcher([]);

  /** Texts shorter than six characters are ignored. */
  constructor(secrets: readonly KnownSecret<Owner>[]) {
    this.add(...secrets);
  }

  /** Adds secrets, also for streams that have begun. The cost does not depend on the secrets that were added before. */
  add(...secrets: readonly KnownSecret<Owner>[]): void {
    const wanted: WantedForm<ScrubbedSecret<Owner>>[] = [];
    for (const { owner, texts, replacement } of secrets) {
      const tag = { owner, replacement, bytes: fromLatin1(replacement) };
      for (const text of new Set(texts))
        for (const form of secretForms(text, "bytes")) wanted.push({ ...form, tag });
    }
    this.#matcher.add(wanted);
  }

  /** Returns `text`, in which each character is one byte (as in a header), without secrets. */
  text(text: string, onFound: OnFound<Owner>): string {
    let clean = "";
    let passed = 0;
    const leads = new LeadCursor(text);
    for (;;) {
      const finding = this.#matcher.find(text, passed, true, leads);
      if (finding.kind !== "found") return passed === 0 ? text : clean + text.slice(passed);
      clean += text.slice(passed, finding.start) + finding.tag.replacement;
      onFound(finding.tag.owner);
      passed = finding.end;
    }
  }

  /** Returns a scrubber for one body. */
  stream(onFound: OnFound<Owner>): StreamScrubber<Owner> {
    return new StreamScrubber(this.#matcher, onFound);
  }
}

const nothing = new Uint8Array(0);

/** A shorter beginning of a secret reveals nothing of it. */
const revealingLength = 4;

/** The length of the part of the next piece that is joined to the held bytes to find out whether a secret begins there. Most secrets are shorter. */
const joinedBytes = 4096;

/** Replaces secrets in one body that arrives in pieces. */
export class StreamScrubber<Owner> {
  readonly #matcher: SecretMatcher<Owner>;
  readonly #onFound: OnFound<Owner>;
  /** The possible beginning of a secret. */
  #held: Uint8Array = nothing;
  /** The number of the held bytes that were released. */
  #releasedCount = 0;
  /** Of the whole body. */
  readonly #budget = new WorkBudget();
  /** Whether the work for the body was used up: all that follows is removed. */
  #isCut = false;

  constructor(matcher: SecretMatcher<Owner>, onFound: OnFound<Owner>) {
    this.#matcher = matcher;
    this.#onFound = onFound;
  }

  /** Whether `release` would return bytes. */
  get canRelease(): boolean {
    return this.#releasedCount < this.#held.length && this.#held.length < revealingLength;
  }

  /** Returns the next bytes that can be sent: `piece` itself, if there is nothing to replace or to hold back. */
  push(piece: Uint8Array): readonly Uint8Array[] {
    return this.#scrub(piece, false);
  }

  /**
   * Returns the held bytes if they are too few to reveal anything. For a stream
   * that stalls: the reader may have to answer before more arrives. If they were
   * the beginning of a secret, the rest is still replaced.
   */
  release(): Uint8Array {
    if (!this.canRelease) return nothing;
    const released = this.#held.subarray(this.#releasedCount);
    this.#releasedCount = this.#held.length;
    return released;
  }

  /** Returns the remaining bytes at the end of the body. */
  end(): readonly Uint8Array[] {
    return this.#scrub(nothing, true);
  }

  #scrub(piece: Uint8Array, isEnd: boolean): readonly Uint8Array[] {
    if (this.#isCut) return [];
    this.#budget.extend(piece.length);
    const clean: Uint8Array[] = [];
    const held = this.#held;
    if (held.length === 0 || piece.length <= joinedBytes) {
      const bytes = held.length === 0 ? piece : concat(held, piece);
      this.#scan(bytes, { from: 0, until: bytes.length, isEnd }, clean);
      return clean;
    }
    const joined = concat(held, piece.subarray(0, joinedBytes));
    const at = this.#scan(joined, { from: 0, until: held.length, isEnd: false }, clean);
    if (this.#isCut) return clean;
    if (at >= held.length) {
      this.#scan(piece, { from: at - held.length, until: piece.length, isEnd }, clean);
    } else {
      const rest = concat(joined.subarray(at), piece.subarray(joinedBytes));
      this.#scan(rest, { from: 0, until: rest.length, isEnd }, clean);
    }
    return clean;
  }

  /**
   * Adds the scrubbed bytes to `clean`, looking for secrets that begin before
   * `until`. Returns the position up to which this is done: less than `until`
   * when a secret may begin there and continue after `bytes`. The bytes from
   * there on are held.
   */
  #scan(bytes: Uint8Array, { from, until, isEnd }: ScanRange, clean: Uint8Array[]): number {
    let at = from;
    let passed = from + this.#releasedCount;
    const pass = (end: number): void => {
      if (end > passed)
        clean.push(passed === 0 && end === bytes.length ? bytes : bytes.subarray(passed, end));
    };
    const leads = new LeadCursor(undefined, this.#budget);
    for (;;) {
      const finding = this.#matcher.find(bytes, at, isEnd, leads);
      if (finding.kind === "none" || finding.start >= until) {
        const end = Math.max(at, until);
        pass(end);
        this.#held = nothing;
        this.#releasedCount = Math.max(0, passed - end);
        return end;
      }
      const { start } = finding;
      pass(start);
      if (finding.kind === "pending") {
        this.#held = Uint8Array.from(bytes.subarray(start));
        this.#releasedCount = Math.max(0, passed - start);
        return start;
      }
      clean.push(finding.tag.bytes);
      this.#onFound(finding.tag.owner);
      at = finding.end;
      passed = finding.end;
      if (finding.isRest) {
        this.#isCut = true;
        this.#held = nothing;
        this.#releasedCount = 0;
        return at;
      }
    }
  }
}

/** The part of some bytes to scan. */
interface ScanRange {
  readonly from: number;
  readonly until: number;
  /** Whether nothing follows. */
  readonly isEnd: boolean;
}

function fromLatin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
