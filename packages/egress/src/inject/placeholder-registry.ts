/**
 * Whose a placeholder is: every credential of every source that this egress has
 * seen. So an alarm can name the source that a placeholder was given to, when
 * another one sends it.
 */

import type { EgressCredential, EgressSource } from "../egress-types.ts";
import { assertCredential } from "./credential-frame.ts";

/** Whose a placeholder is. */
export interface PlaceholderOwner {
  readonly source: string;
  readonly credential: string;
}

/** Remembers whose placeholders are. */
export interface PlaceholderRegistry {
  /** Remember the credentials of `source`. */
  learn(source: EgressSource): void;
  /** Whose the placeholder in `text` is, in whatever encoding it is written. */
  ownerOf(text: string): PlaceholderOwner | undefined;
}

/** Most placeholders that are remembered; the one that was learnt longest ago is forgotten first. */
const maxPlaceholders = 10_000;

/** Create a registry that knows nothing yet. */
export function createPlaceholderRegistry(): PlaceholderRegistry {
  const owners = new Map<string, PlaceholderOwner>();
  const seen = new WeakSet<readonly EgressCredential[]>();
  return {
    learn({ id, credentials }) {
      if (seen.has(credentials)) return;
      seen.add(credentials);
      for (const credential of credentials) {
        assertCredential(credential);
        owners.set(credential.placeholder, { source: id, credential: credential.id });
        if (owners.size > maxPlaceholders) owners.delete(owners.keys().next().value as string);
      }
    },
    ownerOf(text) {
      const known = [...owners];
      for (const plain of decodings(unescapeAll(text))) {
        // Base64 within a longer text shares its first and last characters with what is around it.
        const middle = /oolcrib-ph-[0-9a-f]{31}/i.exec(plain)?.[0].toLowerCase();
        if (middle === undefined) continue;
        return known.find(([placeholder]) => placeholder.startsWith(middle, 1))?.[1];
      }
      return undefined;
    },
  };
}

/** `text` as it is, from hexadecimal, and from base64 at each place where it can begin. */
function decodings(text: string): readonly string[] {
  const encoded = ["", "AA", "AAA"].map((before) => Buffer.from(before + text, "base64").toString("latin1"));
  return [text, Buffer.from(text, "hex").toString("latin1"), ...encoded];
}

/** `text` with its escapes undone, which may stand within one another. */
function unescapeAll(text: string): string {
  return text
    .replace(/%(?:25)*([0-9a-f]{2})/gi, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    )
    .replace(/\\+u([0-9a-f]{4})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replace(/&#x0*([0-9a-f]{1,6});/gi, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    )
    .replace(/&#0*(\d{1,7});/g, (_, digits: string) => String.fromCharCode(Number(digits)))
    .replaceAll("\\", "");
}
