/**
 * Policy files as policies: read by the Cedar engine, validated against the schema,
 * and checked for what the schema cannot express. All findings of all files are
 * returned together, each with its place. Reads no file.
 */

import type { DetailedError, PolicyJson, ValidationError } from "@cedar-policy/cedar-wasm/nodejs";
import {
  type Diagnostic,
  hasErrors,
  messageOf,
  nearestName,
  type Source,
  type Span,
} from "@toolcrib/diagnostics";
import { CedarError } from "./cedar-error.ts";
import { type CedarModule, loadCedar } from "./cedar-module.ts";
import { cedarSchema } from "./cedar-schema.ts";
import { findExcess, maxDepth, maxJoined } from "./check-complexity.ts";
import { annotationPlace, mistakePlace, valuePlace } from "./policy-tokens.ts";
import { findUnknownValues } from "./unknown-values.ts";

/** Longest policy file, in characters. @limit operator */
export const policyFileMaxLength = 262_144;
/** Most policies of all files together. @limit operator */
const maxPolicies = 1000;

/** One policy. */
export interface Policy {
  /** The file and the `@id` of the policy, or its position: `policies/main.cedar#no-refunds`, `policies/main.cedar#3`. */
  readonly rule: string;
  /** The `@id`, or the position. */
  readonly name: string;
  /** `@message`: a text for the client that is denied. */
  readonly message: string | undefined;
  /** `@approval("waived")`: a call that it permits needs no approval. */
  readonly waivesApproval: boolean;
  readonly text: string;
  readonly json: PolicyJson;
  readonly source: Source;
  readonly span: Span;
}

/** Valid policies. */
export interface ParsedPolicies {
  readonly policies: readonly Policy[];
  /** The files. */
  readonly sources: readonly Source[];
}

/** Valid policies, or the findings about them. */
export interface PoliciesResult {
  /** `undefined` when `diagnostics` contains an error. */
  readonly value: ParsedPolicies | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Parses the policy files `sources` as one set of policies. Never throws. */
export async function parsePolicies(sources: readonly Source[]): Promise<PoliciesResult> {
  let cedar: CedarModule;
  try {
    cedar = await loadCedar();
  } catch (cause) {
    // The next use loads it again.
    if (cause instanceof CedarError) return failed(cause.message, cause.hint ?? "try again in a minute");
    const isFull = /^E[MN]FILE$/.test(String((cause as NodeJS.ErrnoException).code));
    return failed(
      `The policy engine cannot be loaded: ${messageOf(cause)}`,
      isFull
        ? "too many files and connections are open: close some or raise the limit (ulimit -n), and try again"
        : "reinstall Toolcrib",
    );
  }
  const results = sources.map((source) => parseFile(cedar, source));
  const policies = results.flatMap((result) => result.policies);
  const diagnostics = results.flatMap((result) => result.diagnostics);
  if (policies.length > maxPolicies) {
    const message = `There are ${policies.length} policies; at most ${maxPolicies} are allowed`;
    diagnostics.push({ severity: "error", code: "CEDAR_TOO_LARGE", message });
  }
  return { value: hasErrors(diagnostics) ? undefined : { policies, sources }, diagnostics };
}

function failed(message: string, hint: string): PoliciesResult {
  return { value: undefined, diagnostics: [{ severity: "error", code: "CEDAR_UNAVAILABLE", message, hint }] };
}

interface FileResult {
  readonly policies: readonly Policy[];
  readonly diagnostics: readonly Diagnostic[];
}

function parseFile(cedar: CedarModule, source: Source): FileResult {
  const { text } = source;
  const only = (diagnostic: Omit<Diagnostic, "severity" | "source">): FileResult => ({
    policies: [],
    diagnostics: [{ severity: "error", source, ...diagnostic }],
  });
  if (text.length > policyFileMaxLength) {
    const message = `A policy file can have at most ${policyFileMaxLength} characters`;
    return only({ code: "CEDAR_TOO_LARGE", message, hint: "split it into several files" });
  }
  const excess = findExcess(text);
  if (excess !== undefined) {
    const [message, hint] =
      excess.exceeds === "depth"
        ? [
            `A policy nests more than ${maxDepth} levels (brackets, members and operators in a row)`,
            "split the condition with && or ||",
          ]
        : [`A policy joins more than ${maxJoined} conditions`, "divide it into several policies"];
    return only({ code: "CEDAR_TOO_COMPLEX", message, hint, span: excess.span });
  }
  try {
    return readFile(cedar, source);
  } catch (cause) {
    const message = `The policy engine failed at this file: ${messageOf(cause)}`;
    return only({ code: "CEDAR_UNAVAILABLE", message, hint: "simplify its policies" });
  }
}

/** @throws what the engine throws: it can run out of stack. */
function readFile(cedar: CedarModule, source: Source): FileResult {
  const { text } = source;
  const toSpan = byteSpans(text);
  const checked = cedar.checkParsePolicySet({ staticPolicies: text });
  const parts = cedar.policySetTextToParts(text);
  if (parts.type === "failure") {
    return {
      policies: [],
      diagnostics: parts.errors.map((error) => toFinding("CEDAR_SYNTAX", error, source, toSpan)),
    };
  }
  if (parts.policy_templates.length > 0) {
    const message = "?principal and ?resource belong to templates, which are not supported";
    const start = Math.max(0, text.search(/\?(?:principal|resource)\b/));
    const hint = "write a policy for each client and tool";
    const template: Diagnostic = {
      severity: "error",
      code: "CEDAR_TEMPLATE",
      message,
      hint,
      source,
      span: { start, end: start + 10 },
    };
    return { policies: [], diagnostics: [template] };
  }
  if (checked.type === "failure") {
    return {
      policies: [],
      diagnostics: checked.errors.map((error) => toFinding("CEDAR_SYNTAX", error, source, toSpan)),
    };
  }
  const texts = inOrder(parts.policies);
  const diagnostics = [...validate(cedar, source, toSpan)];
  const places = placesOf(text, texts);
  const policies = texts.map((one, at) =>
    toPolicy(cedar, one, at, { source, span: places[at] ?? { start: 0, end: 1 } }),
  );
  const ids = new Map<string, number>();
  for (const [at, policy] of policies.entries()) {
    const { name, json } = policy;
    if (ids.has(name)) {
      const message = `Two policies of this file have the id "${name}"`;
      diagnostics.push({
        severity: "error",
        code: "CEDAR_ID_DUPLICATE",
        message,
        hint: "give each its own @id",
        source,
        span: annotationPlace(policy, "id", "value"),
      });
    }
    ids.set(name, at);
    diagnostics.push(...checkAnnotations(policy));
    for (const { attribute, value, values } of findUnknownValues(json)) {
      const near = nearestName(value, values);
      diagnostics.push({
        severity: "error",
        code: "CEDAR_VALUE_UNKNOWN",
        message: `${attribute} is never "${value}"`,
        hint: near === undefined ? `it is one of ${values.join(", ")}` : `did you mean "${near}"?`,
        source,
        span: valuePlace(policy, attribute, value),
      });
    }
  }
  return { policies, diagnostics };
}

function toPolicy(
  cedar: CedarModule,
  text: string,
  at: number,
  { source, span }: Pick<Policy, "source" | "span">,
): Policy {
  const parsed = cedar.policyToJson(text);
  if (parsed.type === "failure") throw new Error(parsed.errors[0]?.message ?? "a policy has no JSON form");
  const { json } = parsed;
  const { id, message, approval } = json.annotations ?? {};
  const name = id === undefined || id === "" ? String(at + 1) : id;
  return {
    rule: `${source.name}#${name}`,
    name,
    message,
    waivesApproval: approval === "waived",
    text,
    json,
    source,
    span,
  };
}

/** The parts of a text come in the order of the names that the engine gives them: policy0, policy1, policy10, …. */
function inOrder(parts: readonly string[]): readonly string[] {
  const names = parts.map((_part, at) => `policy${at}`).sort();
  const ordered: string[] = [];
  for (const [at, name] of names.entries())
    ordered[Number(name.slice("policy".length))] = parts[at] as string;
  return ordered;
}

/** Returns the place of each policy. The engine returns them as they are written, without the comments before them. */
function placesOf(text: string, parts: readonly string[]): readonly Span[] {
  let from = 0;
  return parts.map((part) => {
    const start = text.indexOf(part, from);
    if (start === -1) return { start: from, end: from + 1 };
    from = start + part.length;
    return { start, end: Math.min(from, lineEnd(text, start)) };
  });
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end === -1 ? text.length : end;
}

function* validate(cedar: CedarModule, source: Source, toSpan: ToSpan): Generator<Diagnostic> {
  const answer = cedar.validate({ schema: cedarSchema, policies: { staticPolicies: source.text } });
  if (answer.type === "failure") {
    for (const error of answer.errors) yield toFinding("CEDAR_INVALID", error, source, toSpan);
    return;
  }
  const { validationErrors, validationWarnings } = answer;
  // The engine validates a policy for tools, resources and prompts, each of which can have the same error.
  const seen = new Set<string>();
  for (const { error } of validationErrors) {
    const finding = toFinding("CEDAR_INVALID", error, source, toSpan);
    const { message, hint, span } = finding;
    const key = JSON.stringify([message.replace(/ on entity type `\w+`/, ""), hint, span]);
    if (!seen.has(key)) yield finding;
    seen.add(key);
  }
  // The warnings about a policy with an error follow from the error.
  const faulty = new Set(validationErrors.map(({ policyId }: ValidationError) => policyId));
  for (const { policyId, error } of validationWarnings) {
    if (!faulty.has(policyId)) yield toFinding("CEDAR_SUSPICIOUS", error, source, toSpan, "warning");
  }
}

const annotationNames = ["id", "message", "approval", "description"];

function checkAnnotations(policy: Policy): Diagnostic[] {
  const { source, json } = policy;
  const { annotations = {}, effect } = json;
  const findings: Diagnostic[] = [];
  const report = (span: Span, message: string, hint: string) =>
    findings.push({ severity: "error", code: "CEDAR_ANNOTATION", message, hint, source, span });
  for (const name of Object.keys(annotations)) {
    if (annotationNames.includes(name)) continue;
    const near = nearestName(name, annotationNames);
    report(
      annotationPlace(policy, name, "name"),
      `Unknown annotation @${name}`,
      near === undefined
        ? `use ${annotationNames.map((one) => `@${one}`).join(", ")}`
        : `did you mean @${near}?`,
    );
  }
  const { approval } = annotations;
  if (approval !== undefined && (approval !== "waived" || effect !== "permit")) {
    const span = annotationPlace(policy, "approval", approval === "waived" ? "name" : "value");
    report(span, `@approval("${approval}") is not allowed here`, 'write @approval("waived"), on a permit');
  }
  return findings;
}

/** Converts an offset in bytes of UTF-8, as the engine counts, to one in a string. */
type ToSpan = (start: number, end: number) => Span;

function byteSpans(text: string): ToSpan {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  const toIndex = (offset: number) => decoder.decode(bytes.subarray(0, offset)).length;
  return (start, end) => ({ start: toIndex(start), end: Math.max(toIndex(end), toIndex(start) + 1) });
}

function toFinding(
  code: "CEDAR_SYNTAX" | "CEDAR_INVALID" | "CEDAR_SUSPICIOUS",
  { message, help, sourceLocations }: DetailedError,
  source: Source,
  toSpan: ToSpan,
  severity: "error" | "warning" = "error",
): Diagnostic {
  const [place] = sourceLocations ?? [];
  // The engine calls policies by their position from 0, which is not in the text.
  const shown = message
    .replace(/^for policy `policy\d+`, /, "")
    .replace(/^failed to parse policies from string: /, "");
  const label = place?.label ?? undefined;
  const hint = help ?? label;
  const span = place === undefined ? undefined : toSpan(place.start, place.end);
  return {
    severity,
    code,
    message: `${shown.charAt(0).toUpperCase()}${shown.slice(1)}`,
    source,
    ...(hint === undefined ? undefined : { hint }),
    ...(span === undefined ? undefined : { span: mistakePlace(shown, source.text, span) }),
  };
}
