/** Decides by the name of a header whether it carries a credential. Pure; never sees a value. */

const credentialHeader =
  /^(?:key|cookie|(?:.*[-_])?(?:authorization|authentication|api-?key|(?:auth|access|api|session)?token|secret|passw(?:or)?d)|.*[-_](?:key|jwt|pat))$/i;

/** Whether a header of this name carries a credential. */
export function isCredentialHeader(name: string): boolean {
  return credentialHeader.test(name.trim());
}
