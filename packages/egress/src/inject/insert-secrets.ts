/** Replaces placeholders by their secrets. Replaces the complete value, including the frame. Pure. */

import type { EgressCredential } from "../egress-types.ts";
import { frame } from "./credential-frame.ts";
import { hasPrefix, isHeaderOf, isPairOf, splitTarget } from "./find-places.ts";
import type { ReadSecret } from "./read-secret.ts";
import type { HeaderField, RequestHead } from "./request-head.ts";

/** Returns `head` with each of `secrets` in the place of its credential. */
export function insertSecrets(head: RequestHead, secrets: readonly ReadSecret[]): RequestHead {
  if (secrets.length === 0) return head;
  return secrets.reduce(insertSecret, head);
}

function insertSecret(head: RequestHead, secret: ReadSecret): RequestHead {
  const { credential } = secret;
  const { target, headers } = head;
  if (credential.place.kind === "header") return { ...head, headers: insertIntoHeaders(headers, secret) };
  const { path, query } = splitTarget(target.path);
  const newPath =
    credential.place.kind === "pathPrefix" && hasPrefix(path, credential)
      ? `${frame(credential, encodeSegment(secret.token))}${path.slice(placeholderLength(credential))}`
      : path;
  const newQuery = insertIntoQuery(query, secret);
  const newTarget = newQuery.length === 0 ? newPath : `${newPath}?${newQuery.join("&")}`;
  return { ...head, target: { ...target, path: newTarget } };
}

function insertIntoHeaders(
  headers: readonly HeaderField[],
  { credential, token }: ReadSecret,
): HeaderField[] {
  return headers.map(([name, value]) =>
    isHeaderOf(name, value, credential) ? [name, frame(credential, token)] : [name, value],
  );
}

function insertIntoQuery(query: readonly string[], { credential, token }: ReadSecret): readonly string[] {
  const at = query.findIndex((pair) => isPairOf(pair, credential));
  if (at === -1) return query;
  const pair = query[at] as string;
  const name = pair.slice(0, pair.indexOf("="));
  return query.with(at, `${name}=${encodeURIComponent(frame(credential, token))}`);
}

function placeholderLength(credential: EgressCredential): number {
  return frame(credential, credential.placeholder).length;
}

/** Like `encodeURIComponent`, but keeps the characters that RFC 3986 allows in a segment, since keys contain them (":" in those of Telegram). */
function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(/%(?:3A|40|24|26|2B|2C|3B|3D)/g, (code) =>
    decodeURIComponent(code),
  );
}
