/**
 * Base URLs: `https://` and a host, nothing else. In schemaVersion 2 the host can
 * contain variables, `https://{tenant}.example.com`, which the configuration
 * sets; the resulting host is checked again when a request is planned.
 */

import { type HostPattern, isHostAllowed, parseHostName } from "@toolcrib/hosts";
import { matchBetween } from "./match-template.ts";

/** A parsed base URL. */
export interface BaseUrl {
  /** Host, or a template of it when it contains variables. */
  readonly host: string;
  readonly variables: readonly string[];
}

/** Fault of a base URL, as the end of a sentence. */
export interface BaseUrlFault {
  readonly reason: string;
  readonly instead?: string;
}

const variable = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Returns the variables of a base URL in order, also when it has a fault. */
export function variablesOf(text: string): readonly string[] {
  return [...text.matchAll(variable)].map(([, name = ""]) => name);
}

/** Parses a base URL. */
export function parseBaseUrl(
  text: string,
  { hasVariables }: { readonly hasVariables: boolean },
): BaseUrl | BaseUrlFault {
  const [, scheme, rest = ""] = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(.*)$/s.exec(text) ?? [];
  if (scheme === undefined) return { reason: "it must begin with https://" };
  if (scheme !== "https") {
    const reason =
      scheme.toLowerCase() === "https" ? "the scheme is in lower case" : "the scheme must be https";
    return { reason, ...insteadOf(rest) };
  }
  const variables = hasVariables ? variablesOf(rest) : [];
  const sample = hasVariables ? rest.replace(variable, "x") : rest;
  const isWhole = sample === "x" && variables.length === 1;
  const verdict = parseHostName(isWhole ? "x.example" : sample);
  if (verdict.kind === "valid") return { host: rest, variables };
  return { reason: verdict.reason, ...insteadOf(sample === rest ? rest : "") };
}

function insteadOf(rest: string): { readonly instead?: string } {
  const host = rest
    .replace(/[/?#\\].*$/s, "")
    .replace(/^.*@/s, "")
    .replace(/:[0-9]*$/, "")
    .toLowerCase();
  return parseHostName(host).kind === "valid" ? { instead: `https://${host}` } : {};
}

/** Returns the host of `base` with its variables replaced, or `undefined` when the result is not a host. */
export function fillHost(base: BaseUrl, values: { readonly [name: string]: string }): string | undefined {
  const host = base.host.replace(variable, (_, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? "") : "",
  );
  const verdict = parseHostName(host);
  return verdict.kind === "valid" ? verdict.value : undefined;
}

/** Returns values of the variables that produce `host`; `undefined` when none do. */
export function variablesMaking(
  base: BaseUrl,
  host: string,
): { readonly [name: string]: string } | undefined {
  const values = matchBetween(base.host.split(variable).filter(isLiteral), host);
  return values && Object.fromEntries(values.map((value, index) => [base.variables[index] ?? "", value]));
}

/** Splitting at a pattern with a group yields literals and names alternately. */
function isLiteral(_part: string, index: number): boolean {
  return index % 2 === 0;
}

/** Whether some values of the variables produce a host that `patterns` allow. */
export function canBeAllowed(base: BaseUrl, patterns: readonly HostPattern[]): boolean {
  if (base.variables.length === 0) return isHostAllowed(patterns, base.host);
  // The text before the first dot, with variables replaced: the label that a wildcard must match.
  const label = (base.host.split(".")[0] ?? "").replace(variable, "x");
  const isPossible = (host: string) => variablesMaking(base, host) !== undefined;
  return patterns.some(({ isWildcard, name }) =>
    isWildcard ? isPossible(`x.${name}`) || isPossible(`${label}.${name}`) : isPossible(name),
  );
}
