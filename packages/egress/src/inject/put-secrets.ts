/** Puts secrets where their placeholders stand. The whole value is replaced, frame and all. Pure. */

import type { EgressCredential } from "../egress-types.ts";
import { frame } from "./credential-frame.ts";
import { hasPrefix, isHeaderOf, isPairOf, splitTarget } from "./find-places.ts";
import type { ReadSecret } from "./read-secret.ts";
import type { HeaderField, RequestHead } from "./request-head.ts";

/** `head` with each of `secrets` in the place of its credential. */
export function putSecrets(head: RequestHead, secrets: readonly ReadSecret[]): RequestHead {
  if (secrets.length === 0) return head;
  return secrets.reduce(putSecret, head);
}

function putSecret(head: RequestHead, secret: ReadSecret): RequestHead {
  const { credential } = secret;
  const { target, headers } = head;
  if (credential.place.kind === "header") return { ...head, headers: putInHeaders(headers, secret) };
  const { path, query } = splitTarget(target.path);
  const newPath =
    credential.place.kind === "pathPrefix" && hasPrefix(path, credential)
      ? `${frame(credential, encodeSegment(secret.token))}${path.slice(placeholderLength(credential))}`
      : path;
  const newQuery = putInQuery(query, secret);
  const newTarget = newQuery.length === 0 ? newPath : `${newPath}?${newQuery.join("&")}`;
  return { ...head, target: { ...target, path: newTarget } };
}

function putInHeaders(headers: readonly HeaderField[], { credential, token }: ReadSecret): HeaderField[] {
  return headers.map(([name, value]) =>
    isHeaderOf(name, value, credential) ? [name, frame(credential, token)] : [name, value],
  );
}

function putInQuery(query: readonly string[], { credential, token }: ReadSecret): readonly string[] {
  const at = query.findIndex((pair) => isPairOf(pair, credential));
  if (at === -1) return query;
  const pair = query[at] as string;
  const name = pair.slice(0, pair.indexOf("="));
  return query.with(at, `${name}=${encodeURIComponent(frame(credential, token))}`);
}

function placeholderLength(credential: EgressCredential): number {
  return frame(credential, credential.placeholder).length;
}

/** As `encodeURIComponent`, but for what RFC 3986 allows within a segment and keys have in it: ":" of Telegram's. */
function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(/%(?:3A|40|24|26|2B|2C|3B|3D)/g, (code) =>
    decodeURIComponent(code),
  );
}
