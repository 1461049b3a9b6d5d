/**
 * Takes secrets out of a response: each form of each secret becomes the
 * placeholder of its credential. A body is scrubbed as it streams; only what
 * may be the beginning of a secret is held back, and a body without secrets
 * passes through as it is, without a copy.
 *
 * It sees what it is given: who hands it a compressed body scrubs nothing.
 */

import type { EgressCredential } from "../egress-types.ts";
import { createMatcher, type Matcher } from "../scan/matcher.ts";
import { secretForms } from "../scan/secret-forms.ts";

/** A credential and the texts that it must not be recognised by. */
export interface KnownSecret {
  readonly credential: EgressCredential;
  readonly texts: readonly string[];
}

/** Takes secrets out of texts and streams. */
export interface SecretScrubber {
  /** `text` (each character one byte, as in headers) without secrets. */
  text(text: string, onFound: OnFound): string;
  /** A scrubber for one body. */
  stream(onFound: OnFound): StreamScrubber;
}

/** Told of each credential whose secret was found. */
export type OnFound = (credential: EgressCredential) => void;

type SecretMatcher = Matcher<EgressCredential>;

/** Create a scrubber of `secrets`. */
export function createSecretScrubber(secrets: readonly KnownSecret[]): SecretScrubber {
  const wanted = secrets.flatMap(({ credential, texts }) =>
    texts.flatMap(secretForms).map((form) => ({ form, tag: credential })),
  );
  const matcher = createMatcher(wanted);
  return {
    text(text, onFound) {
      if (text.length < matcher.shortest) return text;
      const bytes = Buffer.from(text, "latin1");
      if (matcher.find(bytes, 0, true).kind === "none") return text;
      const stream = new StreamScrubber(matcher, onFound);
      return Buffer.concat([...stream.push(bytes), ...stream.end()]).toString("latin1");
    },
    stream: (onFound) => new StreamScrubber(matcher, onFound),
  };
}

const nothing = new Uint8Array(0);

/** A beginning of a secret that is shorter than this tells nothing of it. */
const tellingLength = 4;

/** How much of what comes next is put behind what is held back, to see whether a secret begins there. Most are shorter. */
const joinedBytes = 4096;

/** Takes secrets out of one body that comes in pieces. What goes on lies in the pieces as far as it can. */
export class StreamScrubber {
  readonly #matcher: SecretMatcher;
  readonly #onFound: OnFound;
  /** What may be the beginning of a secret. */
  #held: Uint8Array = nothing;
  /** How many bytes of it have gone on all the same. */
  #releasedCount = 0;

  constructor(matcher: SecretMatcher, onFound: OnFound) {
    this.#matcher = matcher;
    this.#onFound = onFound;
  }

  /** Whether `release` would give something. */
  get canRelease(): boolean {
    return this.#releasedCount < this.#held.length && this.#held.length < tellingLength;
  }

  /** The next bytes that may go on: `piece` itself, when there is nothing in it to take out or hold back. */
  push(piece: Uint8Array): readonly Uint8Array[] {
    return this.#scrub(piece, false);
  }

  /**
   * What is held back and too short to tell anything, for when no more comes:
   * who reads may have to answer first. If it was the beginning of a secret,
   * the rest is still taken out.
   */
  release(): Uint8Array {
    if (!this.canRelease) return nothing;
    const released = this.#held.subarray(this.#releasedCount);
    this.#releasedCount = this.#held.length;
    return released;
  }

  /** What is left when the body ends. */
  end(): readonly Uint8Array[] {
    return this.#scrub(nothing, true);
  }

  #scrub(piece: Uint8Array, isEnd: boolean): readonly Uint8Array[] {
    const clean: Uint8Array[] = [];
    const held = this.#held;
    if (held.length === 0 || piece.length <= joinedBytes) {
      const bytes = held.length === 0 ? piece : Buffer.concat([held, piece]);
      this.#scan(bytes, { from: 0, until: bytes.length, isEnd }, clean);
      return clean;
    }
    const joined = Buffer.concat([held, piece.subarray(0, joinedBytes)]);
    const at = this.#scan(joined, { from: 0, until: held.length, isEnd: false }, clean);
    if (at >= held.length) {
      this.#scan(piece, { from: at - held.length, until: piece.length, isEnd }, clean);
    } else {
      const rest = Buffer.concat([joined.subarray(at), piece.subarray(joinedBytes)]);
      this.#scan(rest, { from: 0, until: rest.length, isEnd }, clean);
    }
    return clean;
  }

  /**
   * Put into `clean` what may go on of `bytes`, of which nothing that begins at
   * `until` or later is looked at. Says up to where that is done: less than
   * `until` where what begins there may be a secret that goes beyond `bytes`.
   * At the end of `bytes` it is held back.
   */
  #scan(bytes: Uint8Array, { from, until, isEnd }: Scan, clean: Uint8Array[]): number {
    let at = from;
    let passed = from + this.#releasedCount;
    const pass = (end: number): void => {
      if (end > passed)
        clean.push(passed === 0 && end === bytes.length ? bytes : bytes.subarray(passed, end));
    };
    for (;;) {
      const finding = this.#matcher.find(bytes, at, isEnd);
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
      clean.push(Buffer.from(finding.tag.placeholder, "latin1"));
      this.#onFound(finding.tag);
      at = finding.end;
      passed = finding.end;
    }
  }
}

/** Which part of bytes is looked at. */
interface Scan {
  readonly from: number;
  readonly until: number;
  /** Whether nothing follows. */
  readonly isEnd: boolean;
}
