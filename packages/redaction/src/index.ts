// For other packages here.
export { previewArguments, readableArguments, wholeArguments } from "./argument-preview.ts";
export { cleanPlaces } from "./clean-places.ts";
export {
  credentialRanges,
  looksLikeCredential,
  omitCredentials,
  suspectedCredentials,
} from "./credential.ts";
export { isCredentialHeader } from "./credential-header.ts";
export { isCredentialVariable } from "./credential-variable.ts";
export { stripHidden } from "./hidden-text.ts";
export { stripHiddenValue, type TextScrubber, withoutHidden } from "./hidden-value.ts";
export { createInspection, type DefinitionFinding } from "./inspect-definition.ts";
export { inspectResult } from "./inspect-result.ts";
export { SecretScrubber } from "./secret-scrubber.ts";
export { secretTextsOf } from "./secret-texts.ts";
export { secretVerdict } from "./secret-value.ts";
export { ByteScrubber, type KnownSecret, type OnFound } from "./stream-scrubber.ts";
export { createTokenMatcher } from "./token-matcher.ts";
