/**
 * The owners of placeholders: every credential of every source that this egress
 * has seen. An alarm can therefore name the source that a placeholder was
 * created for when another source sends it.
 */

import type { EgressCredential, EgressSource } from "../egress-types.ts";
import { assertCredential } from "./credential-frame.ts";

/** The owner of a placeholder. */
export interface PlaceholderOwner {
  readonly source: string;
  readonly credential: string;
}

/** Maximum number of placeholders that are remembered; the oldest one is forgotten first. */
const maxPlaceholders = 10_000;

/** Remembers the owners of placeholders. */
export class PlaceholderRegistry {
  readonly #owners = new Map<string, PlaceholderOwner>();
  readonly #seen = new WeakSet<readonly EgressCredential[]>();

  /** Remembers the credentials of `source`. */
  learn({ id, credentials }: EgressSource): void {
    if (this.#seen.has(credentials)) return;
    this.#seen.add(credentials);
    for (const credential of credentials) {
      assertCredential(credential);
      this.#owners.set(credential.placeholder, { source: id, credential: credential.id });
      if (this.#owners.size > maxPlaceholders)
        this.#owners.delete(this.#owners.keys().next().value as string);
    }
  }

  /** Returns the owner of the placeholder in `text`, in any encoding. */
  ownerOf(text: string): PlaceholderOwner | undefined {
    for (const plain of decodings(unescapeAll(text))) {
      // Base64 inside a longer text shares its first and last characters with the neighbouring bytes.
      const middle = /oolcrib-ph-[0-9a-f]{31}/i.exec(plain)?.[0].toLowerCase();
      if (middle === undefined) continue;
      return [...this.#owners].find(([placeholder]) => placeholder.startsWith(middle, 1))?.[1];
    }
    return undefined;
  }
}

/** Returns `text` itself, decoded from hexadecimal, and decoded from base64 at each offset. */
function decodings(text: string): readonly string[] {
  const encoded = ["", "AA", "AAA"].map((before) => Buffer.from(before + text, "base64").toString("latin1"));
  const digits = text.replace(/[^0-9a-f]|0x/gi, "");
  return [text, Buffer.from(digits, "hex").toString("latin1"), ...encoded];
}

/** Returns `text` without escapes, which can be nested. */
function unescapeAll(text: string): string {
  return text
    .replace(/%(?:25)*([0-9a-f]{2})/gi, (_, digits: string) => fromHex(digits))
    .replace(/\\+u([0-9a-f]{4})/gi, (_, digits: string) => fromHex(digits))
    .replace(/&(?:amp;)?#x0*([0-9a-f]{1,6});/gi, (_, digits: string) => fromHex(digits))
    .replace(/&(?:amp;)?#0*(\d{1,7});/g, (_, digits: string) => String.fromCharCode(Number(digits)))
    .replaceAll("\\", "");
}

function fromHex(digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16));
}
