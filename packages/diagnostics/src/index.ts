// For users.
export { CodedError, type CodedErrorOptions, isCodedError, messageOf } from "./coded-error.ts";
export { cutText } from "./cut-text.ts";
export {
  type Diagnostic,
  formatDiagnostic,
  formatDiagnostics,
  hasErrors,
  type Severity,
} from "./diagnostic.ts";
export { editDistance } from "./edit-distance.ts";
export type { Logger } from "./logger.ts";
export { didYouMean, nearestName } from "./nearest-name.ts";
export { lineText, positionAt, type Source, type Span } from "./span.ts";
