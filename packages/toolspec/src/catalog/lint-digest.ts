/** Finds manifests whose image was not built: their digest is a placeholder. */

import { fieldOf, type OpenDocument, stringOf } from "@toolcrib/document";

/** Digits that a placeholder has at most; no digest of 64 digits has so few. */
const fewDigits = 5;

/** Reports a manifest with `builder: toolpack` whose digest is a placeholder. */
export function lintDigest({ tree, reporter }: Pick<OpenDocument, "tree" | "reporter">): void {
  const image = fieldOf(tree, "image");
  const found = fieldOf(image, "digest");
  const digits = /^sha256:([0-9a-f]{64})$/.exec(stringOf(found) ?? "")?.[1];
  if (stringOf(fieldOf(image, "builder")) !== "toolpack" || found === undefined || digits === undefined)
    return;
  if (!isPlaceholder(digits)) return;
  reporter.report({
    code: "MANIFEST_DIGEST_PLACEHOLDER",
    message: "The digest of the image is a placeholder: no image was built",
    hint: "build the image, and write its digest: toolcrib toolpack build --manifest FILE --toolspec FILE --update-manifest",
    span: found.span,
    path: "image.digest",
  });
}

/** Whether somebody typed the digits: few different ones, or a short block that is repeated. */
function isPlaceholder(digits: string): boolean {
  const isRepeated = [8, 10, 16, 32].some(
    (length) => digits === digits.slice(0, length).repeat(8).slice(0, 64),
  );
  return isRepeated || new Set(digits).size <= fewDigits;
}
