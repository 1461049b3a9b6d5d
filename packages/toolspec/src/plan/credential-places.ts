/**
 * Determines where the credentials of a manifest are placed in a request. Both
 * the plan of a request and the list of places in which the egress pipeline
 * replaces placeholders come from here. Pure: knows only the token that it receives.
 */

import { quote } from "@toolcrib/document";
import { encodeBase64 } from "../base64.ts";
import type { Manifest, ManifestCredential } from "../manifest/manifest.ts";
import type { Toolspec } from "../spec/toolspec.ts";
import { ToolspecError } from "../toolspec-error.ts";
import { encodeQuery, encodeSegment } from "./percent.ts";

/** Place of a credential: the value of a header, the value of a query parameter, or a path prefix. `format` is the text around `{token}`. */
export type CredentialPlace =
  | { readonly kind: "header"; readonly name: string; readonly format: string }
  | { readonly kind: "query"; readonly name: string; readonly format: string }
  | { readonly kind: "pathPrefix"; readonly format: string };

/** A credential and its place. */
export interface PlacedCredential {
  /** `id` of the credential in the manifest. */
  readonly id: string;
  readonly place: CredentialPlace;
  /** `basic`: a token that contains ":" (`user:password`) is base64-encoded before it replaces `{token}`. */
  readonly encoding?: "basic";
}

/** A placed credential and the text for its token: a placeholder, or the secret itself. */
export interface FilledCredential extends PlacedCredential {
  readonly token: string;
}

/**
 * Returns the credentials of a manifest in its order. Sealed tier: all of them,
 * placed by `inject`. Entrusted tier: the first one, placed by `auth` of the
 * toolspec, because a toolspec has one `auth`.
 */
export function placedCredentials(
  manifest: Manifest,
  spec: Pick<Toolspec, "auth">,
): readonly PlacedCredential[] {
  const credentials = manifest.credentials ?? [];
  if (manifest.tier === "sealed") {
    return credentials.flatMap((credential) => {
      const place = sealedPlace(credential);
      return place === undefined ? [] : [placed(credential, place)];
    });
  }
  const [first] = credentials;
  if (first === undefined || spec.auth === undefined) return [];
  const { header, format } = spec.auth;
  return [placed(first, { kind: "header", name: header, format })];
}

function placed({ id, type }: ManifestCredential, place: CredentialPlace): PlacedCredential {
  return type === "basic" ? { id, place, encoding: "basic" } : { id, place };
}

function sealedPlace({ inject }: ManifestCredential): CredentialPlace | undefined {
  const { header, query, pathPrefix, format } = inject;
  if (header !== undefined && format !== undefined) return { kind: "header", name: header, format };
  if (query !== undefined) return { kind: "query", name: query, format: format ?? "{token}" };
  return pathPrefix === undefined ? undefined : { kind: "pathPrefix", format: pathPrefix };
}

/**
 * Returns the text at the place of a credential: unencoded in a header,
 * percent-encoded in a query parameter and in a path prefix.
 * @throws {ToolspecError} `TOOLSPEC_CREDENTIAL_UNFIT` for a token that the place cannot carry.
 */
export function writeCredential({ id, place, encoding, token }: FilledCredential): string {
  const isPair = encoding === "basic" && token.includes(":");
  const written = isPair ? encodeBase64(new TextEncoder().encode(token)) : token;
  if (written === "" || !written.isWellFormed()) throw unfit(id, "is not valid text");
  if (/[\x00-\x1f\x7f-\x9f]/.test(written)) throw unfit(id, "contains control characters or line breaks");
  if (place.kind === "query") return encodeQuery(frame(place.format, written));
  // The text around the token was linted; the token is one part of one segment.
  if (place.kind === "pathPrefix") return frame(place.format, encodeSegment(written));
  if (!/^[\x20-\x7e]*$/.test(written)) throw unfit(id, "contains characters outside ASCII");
  return frame(place.format, written);
}

function frame(format: string, token: string): string {
  return format.replaceAll("{token}", () => token);
}

function unfit(id: string, state: string): ToolspecError {
  return new ToolspecError(
    "TOOLSPEC_CREDENTIAL_UNFIT",
    `Cannot send credential ${quote(id)}: its value ${state}`,
    {
      hint: "store it again, without line breaks around it",
    },
  );
}
