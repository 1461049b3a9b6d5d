/** Values that follow from an entry of `toolspecs` and its files. Pure. */

/** Returns the suggested name of the secret of a credential. */
export function suggestedSecretName(id: string, credentialId: string): string {
  const folded = credentialId.replace(/[^A-Za-z0-9_-]+/g, "-").replaceAll("_", "-");
  return folded.toLowerCase().startsWith(`${id.toLowerCase()}-`) ? folded : `${id}-${folded}`;
}

/** The entry of a list of tools that stands for those that the manifest enables. */
export const defaultTools = "default";
