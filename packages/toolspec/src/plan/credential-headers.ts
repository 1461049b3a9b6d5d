/**
 * The headers that carry the credentials of a manifest. Pure: the caller says
 * what the token of a credential is, a placeholder or the secret itself.
 */

import type { Manifest } from "../manifest/manifest.ts";
import type { Toolspec } from "../spec/toolspec.ts";

/** A header that carries a credential. */
export interface CredentialHeader {
  /** `id` of the credential in the manifest. */
  readonly id: string;
  readonly header: string;
  readonly value: string;
}

/**
 * One header for each credential. Sealed tier: `inject.header` and
 * `inject.format` of every credential. Entrusted tier: `auth` of the toolspec
 * with the first credential, because a toolspec has one `auth`.
 *
 * @param tokenOf what stands in the place of `{token}` for a credential.
 */
export function credentialHeaders(
  manifest: Manifest,
  spec: Toolspec,
  tokenOf: (id: string) => string,
): readonly CredentialHeader[] {
  const credentials = manifest.credentials ?? [];
  const frame = (format: string, id: string) => format.replaceAll("{token}", () => tokenOf(id));
  if (manifest.tier === "sealed") {
    return credentials.flatMap(({ id, inject: { header, format } }) =>
      header === undefined || format === undefined ? [] : [{ id, header, value: frame(format, id) }],
    );
  }
  const [first] = credentials;
  if (first === undefined || spec.auth === undefined) return [];
  return [{ id: first.id, header: spec.auth.header, value: frame(spec.auth.format, first.id) }];
}
