/**
 * Reads the archive of a package completely: its files, the tool, and the signature. All
 * of it is read from the same bytes, so that nothing can change between the check and the use.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import type { SchemaValidator } from "@toolcrib/json";
import { digestArchive } from "./archive-names.ts";
import { McpkgError } from "./mcpkg-error.ts";
import { parsePackage, type ToolPackage } from "./parse-package.ts";
import { checkSignature, type SignatureState } from "./signature/package-signature.ts";
import { readArchive } from "./zip/read-archive.ts";
import { isWrittenArchive } from "./zip/write-archive.ts";

/** A package that was read from an archive. */
export interface OpenedPackage extends ToolPackage {
  readonly signature: SignatureState;
  /** SHA-256 of the archive, such as `sha256:…`. */
  readonly digest: string;
}

/**
 * Reads an archive, which may be hostile.
 *
 * A signed archive must have exactly the bytes that `writeArchive` gives its files: a
 * signature covers files, and so everything else in the archive is covered too.
 *
 * @returns the package if there is no error, and all findings about its files.
 * @throws {McpkgError} as `readArchive`, and `MCPKG_SIGNATURE_INVALID`
 */
export async function openPackage(
  bytes: Uint8Array,
  validator: SchemaValidator,
): Promise<{ readonly value: OpenedPackage | undefined; readonly diagnostics: readonly Diagnostic[] }> {
  const files = await readArchive(bytes);
  const { value, diagnostics } = parsePackage(files, validator);
  if (value === undefined) return { value, diagnostics };
  const signature = checkSignature(value);
  if (signature.kind === "signed" && !isWrittenArchive(bytes, files)) {
    throw new McpkgError(
      "MCPKG_SIGNATURE_INVALID",
      "The signature of the package is not valid: the archive was changed after it was signed, or packed by another program",
      { hint: "get the package from its publisher again; pack and sign it with: toolcrib sign" },
    );
  }
  return { value: { ...value, signature, digest: digestArchive(bytes) }, diagnostics };
}
