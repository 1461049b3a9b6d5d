/** One file by itself: a manifest or a toolspec from its text. No I/O; nothing is thrown for any text. */

import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import { checkDocument } from "@toolcrib/document";
import type { Manifest } from "./manifest/manifest.ts";
import { manifestKind, manifestShape } from "./manifest/manifest-shape.ts";
import { openSource } from "./open-source.ts";
import { lintExamples } from "./plan/lint-examples.ts";
import type { Toolspec } from "./spec/toolspec.ts";
import { toolspecKind, toolspecShape } from "./spec/toolspec-shape.ts";

/** What reading a file came to. */
export interface ParsedDocument<T> {
  /** `undefined` where there is an error. */
  readonly value: T | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Read a manifest (YAML 1.2 or JSON) and check all that concerns it alone.
 *
 * @returns the manifest, `undefined` where there is an error, and everything that is wrong with it.
 */
export function parseManifest(source: Source): ParsedDocument<Manifest> {
  const open = openSource(source, manifestKind);
  const value = checkDocument(open, manifestShape);
  return { value, diagnostics: open.reporter.diagnostics };
}

/**
 * Read a toolspec (YAML 1.2 or JSON) and check all that concerns it alone. What
 * it must have in common with its manifest is up to `lintCatalog` and `lintPair`.
 *
 * @returns the toolspec, `undefined` where there is an error, and everything that is wrong with it.
 */
export function parseToolspec(source: Source): ParsedDocument<Toolspec> {
  const open = openSource(source, toolspecKind);
  const value = checkDocument(open, toolspecShape);
  if (value !== undefined) lintExamples(value, open);
  return {
    value: open.reporter.diagnostics.some(({ severity }) => severity === "error") ? undefined : value,
    diagnostics: open.reporter.diagnostics,
  };
}
