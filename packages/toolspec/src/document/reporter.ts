/**
 * Collects what is wrong with one file. The same finding at the same place (an
 * aliased value) counts once.
 */

import type { Diagnostic, Severity, Source, Span } from "@toolcrib/diagnostics";
import type { DocumentNode } from "./document-tree.ts";

/** Most findings reported for one file; a file with more has one cause. */
const maxProblems = 500;

/** What any file can get wrong, by the code of its kind. */
export interface StructureCodes {
  readonly fileTooLarge: string;
  readonly syntax: string;
  readonly tooComplex: string;
  readonly duplicateKey: string;
  readonly unknownField: string;
  readonly fieldRequired: string;
  readonly wrongType: string;
  readonly valueInvalid: string;
  readonly bareWord: string;
}

/** A finding before its source is known. */
export interface Problem {
  /** @default "error" */
  readonly severity?: Severity;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly span?: Span | undefined;
  readonly path?: string;
}

export interface Reporter {
  /** The text that findings point into; what looks like a secret is starred out. */
  readonly source: Source;
  /** What the file is called in messages: `manifest` or `toolspec`. */
  readonly noun: string;
  readonly codes: StructureCodes;
  readonly diagnostics: readonly Diagnostic[];
  report(problem: Problem): void;
}

export function createReporter(source: Source, noun: string, codes: StructureCodes): Reporter {
  const diagnostics: Diagnostic[] = [];
  const seen = new Set<string>();
  return {
    source,
    noun,
    codes,
    diagnostics,
    report({ severity = "error", code, message, hint, span, path }) {
      const identity = `${code} ${span?.start} ${span?.end} ${message}`;
      if (seen.has(identity) || diagnostics.length >= maxProblems) return;
      seen.add(identity);
      diagnostics.push({
        severity,
        code,
        message,
        ...(hint === undefined ? {} : { hint }),
        source,
        ...(span === undefined ? {} : { span }),
        ...(path === undefined || path === "" ? {} : { path }),
      });
    },
  };
}

/** `text` in quotes, harmless to a terminal and cut to a line; never what looks like a secret. */
export function quote(text: string): string {
  if (looksLikeSecret(text)) return "(what looks like a secret)";
  const cut = text.length > 80 ? `${text.slice(0, 77)}…` : text;
  return JSON.stringify(cut).replace(
    /[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** `a, b or c`. */
export function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** The place of `part` within the value of `node`; the whole value where it is written in another way. */
export function spanWithin(node: DocumentNode, part: string, source: Source): Span {
  const { start, end } = node.span;
  const index = source.text.slice(start, end).indexOf(part);
  return index === -1 || part === "" ? node.span : { start: start + index, end: start + index + part.length };
}

const secret =
  /(?<![A-Za-z0-9_-])(?:(?:sk-|sk_live_|sk_test_|rk_live_|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xoxb-|xoxp-|shpat_|pat-)[A-Za-z0-9_-]{16,}|AKIA[0-9A-Z]{12,}|eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]*)|-----BEGIN [A-Z0-9 ]{1,40}-----/;

/** Whether a text has what looks like a credential in it. */
export function looksLikeSecret(text: string): boolean {
  return secret.test(text);
}

/**
 * `source` as it may be shown: of the same length, with what looks like a
 * secret starred out, wherever it stands, and so is every stretch of `hidden`.
 */
export function toShownSource(source: Source, hidden: readonly Span[]): Source {
  const spans = [...hidden];
  for (const found of source.text.matchAll(new RegExp(secret, "g")))
    spans.push({ start: found.index, end: found.index + found[0].length });
  if (spans.length === 0) return source;
  const units = source.text.split("");
  for (const { start, end } of spans) {
    for (let at = start; at < end; at += 1) if (!/[\r\n]/.test(units[at] ?? "")) units[at] = "*";
  }
  return { name: source.name, text: units.join("") };
}
