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
import { secretForms, secretMinLength } from "../scan/secret-forms.ts";

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
      if (text.length < secretMinLength) return text;
      const bytes = Buffer.from(text, "latin1");
      if (matcher.find(bytes, 0, true).kind === "none") return text;
      const stream = new StreamScrubber(matcher, onFound);
      const pieces = [stream.push(bytes), stream.end()];
      return pieces.map((piece) => Buffer.from(piece).toString("latin1")).join("");
    },
    stream: (onFound) => new StreamScrubber(matcher, onFound),
  };
}

const nothing = new Uint8Array(0);

/** A beginning of a secret that is shorter than this tells nothing of it. */
const tellingLength = 4;

/** Takes secrets out of one body that comes in pieces. */
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
  push(piece: Uint8Array): Uint8Array {
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
  end(): Uint8Array {
    return this.#scrub(nothing, true);
  }

  #scrub(piece: Uint8Array, isEnd: boolean): Uint8Array {
    const bytes = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    const clean: Uint8Array[] = [];
    let passed = this.#releasedCount;
    let from = 0;
    for (;;) {
      const finding = this.#matcher.find(bytes, from, isEnd);
      if (finding.kind !== "found") {
        const pending = finding.kind === "pending" ? finding.start : bytes.length;
        const end = Math.max(pending, passed);
        this.#held = pending === bytes.length ? nothing : Uint8Array.from(bytes.subarray(pending));
        this.#releasedCount = end - pending;
        if (passed === 0 && end === bytes.length) return bytes;
        clean.push(bytes.subarray(passed, end));
        return clean.length === 1 ? (clean[0] as Uint8Array) : Buffer.concat(clean);
      }
      if (finding.start > passed) clean.push(bytes.subarray(passed, finding.start));
      clean.push(Buffer.from(finding.tag.placeholder, "latin1"));
      this.#onFound(finding.tag);
      from = finding.end;
      passed = finding.end;
    }
  }
}
