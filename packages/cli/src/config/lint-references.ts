/**
 * Warns about secrets and environment variables that a configuration names and this machine does not have: the entry is
 * valid, and what uses it does not start here. Reads the secret store and files. Asks no keychain, which can ask its
 * user: a secret there counts as present, and so does a stored one whose key is there. Never shows a value.
 */

import { type GatewayConfig, SecretResolver } from "@toolcrib/config";
import type { Diagnostic, Source, Span } from "@toolcrib/diagnostics";
import { toDiagnostic } from "@toolcrib/document";
import { readRegularFile } from "@toolcrib/files";
import type { SecretRef } from "@toolcrib/secrets";
import type { CliContext } from "../cli-context.ts";

/** A reference in the text of an entry. */
type Reference =
  | { readonly kind: "secret"; readonly ref: SecretRef; readonly span: Span }
  | { readonly kind: "variable"; readonly name: string; readonly span: Span };

/** Returns a warning for each secret and variable that tool servers and toolspecs name, and that is missing here. */
export async function lintReferences(
  { env, options }: Pick<CliContext, "env" | "options">,
  { toolServers, toolspecs }: Pick<GatewayConfig, "toolServers" | "toolspecs">,
): Promise<readonly Diagnostic[]> {
  const resolver = new SecretResolver({
    env,
    readFile: readRegularFile,
    home: options.home,
    withoutKeychain: true,
  });
  const found: Diagnostic[] = [];
  const entries = [
    ...toolServers.map(({ id, source, transport }) => ({ what: `server "${id}"`, source, value: transport })),
    ...toolspecs.map((one) => ({
      what: `toolspec "${one.id}"`,
      source: one.source,
      value: credentialsOf(one),
    })),
  ];
  for (const { what, source, value } of entries) {
    const seen = new Set<string>();
    for (const reference of referencesIn(value)) {
      const problem = await problemOf(resolver, reference, source.name);
      if (problem === undefined || seen.has(problem.message)) continue;
      seen.add(problem.message);
      found.push(warningOf(what, problem, reference.span, source));
    }
  }
  return found;
}

interface Problem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

function warningOf(what: string, { code, message, hint }: Problem, span: Span, source: Source): Diagnostic {
  const text = `The ${what} does not start here: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
  return toDiagnostic({ severity: "warning", code, message: text, hint, span }, source);
}

async function problemOf(
  resolver: SecretResolver,
  reference: Reference,
  fileName: string,
): Promise<Problem | undefined> {
  if (reference.kind === "variable") {
    const { name } = reference;
    if ((resolver.variable(name) ?? "") !== "") return undefined;
    const hint = `set ${name} in the environment that starts Toolcrib`;
    return { code: "CONFIG_VARIABLE_NOT_SET", message: `the variable ${name} is not set`, hint };
  }
  const { ref } = reference;
  // A secret of single clients is missing for some of them only.
  if (ref.kind === "store" && "per" in ref) return undefined;
  const resolution = await resolver.resolve(ref, fileName);
  if (resolution.kind === "value" || resolution.code === "CONFIG_SECRET_NOT_AVAILABLE") return undefined;
  return resolution;
}

function credentialsOf({ credentials, span }: { readonly credentials: object; readonly span: Span }) {
  return Object.values(credentials).map((ref: SecretRef) => ({ kind: "secret", ref, span }));
}

/** The references in the texts of an entry. */
function referencesIn(value: unknown): readonly Reference[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== "object" || value === null) return [];
  const { kind, ref, parts, span } = value as Partial<{
    kind: unknown;
    ref: SecretRef;
    parts: readonly unknown[];
    span: Span;
  }>;
  if (kind === "secret" && ref !== undefined && span !== undefined) return [{ kind, ref, span }];
  if (kind === "template" && Array.isArray(parts) && span !== undefined)
    return parts.flatMap((part: unknown) => {
      const { variable, fallback } = Object(part) as { variable?: unknown; fallback?: unknown };
      return typeof variable === "string" && fallback === undefined
        ? [{ kind: "variable" as const, name: variable, span }]
        : [];
    });
  return Object.values(value).flatMap(referencesIn);
}
