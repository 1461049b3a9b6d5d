/** Parses and checks one manifest or toolspec. No I/O; no text makes it throw. */

import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import { checkDocument } from "@toolcrib/document";
import type { Manifest } from "./manifest/manifest.ts";
import { manifestKind, manifestShape } from "./manifest/manifest-shape.ts";
import { openSource } from "./open-source.ts";
import { lintExamples } from "./plan/lint-examples.ts";
import type { Toolspec } from "./spec/toolspec.ts";
import { toolspecKind, toolspecShape } from "./spec/toolspec-shape.ts";

/** Result of parsing a file. */
export interface ParsedDocument<T> {
  /** `undefined` when the file has an error. */
  readonly value: T | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Parses a manifest (YAML 1.2 or JSON) and checks it without its toolspec.
 * @returns the manifest, `undefined` when it has an error, and all findings.
 */
export function parseManifest(source: Source): ParsedDocument<Manifest> {
  const open = openSource(source, manifestKind);
  const value = checkDocument(open, manifestShape);
  return { value, diagnostics: open.reporter.diagnostics };
}

/**
 * Parses a toolspec (YAML 1.2 or JSON) and checks it without its manifest.
 * `lintCatalog` and `lintPair` check that the two agree.
 * @returns the toolspec, `undefined` when it has an error, and all findings.
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
