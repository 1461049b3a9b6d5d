/**
 * Base URLs: `https://` and a host, nothing else. In schemaVersion 2 the host
 * may have variables, `https://{tenant}.example.com`, which the configuration
 * gives; the host that results is judged again when a request is built.
 */

import { type HostPattern, isHostAllowed, parseHostName } from "@toolcrib/hosts";
import { matchBetween } from "./match-template.ts";

/** A base URL that was read. */
export interface BaseUrl {
  /** Host, or its template where there are variables. */
  readonly host: string;
  readonly variables: readonly string[];
}

/** What is wrong with a base URL, as the end of a sentence. */
export interface BaseUrlFault {
  readonly reason: string;
  readonly instead?: string;
}

const variable = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The variables that a base URL names, in its order, whatever else is wrong with it. */
export function variablesOf(text: string): readonly string[] {
  return [...text.matchAll(variable)].map(([, name = ""]) => name);
}

/** Read a base URL. */
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

/** `base` with its variables filled in: the host, or `undefined` for what is no host. */
export function fillHost(base: BaseUrl, values: { readonly [name: string]: string }): string | undefined {
  const host = base.host.replace(variable, (_, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? "") : "",
  );
  const verdict = parseHostName(host);
  return verdict.kind === "valid" ? verdict.value : undefined;
}

/** Values of the variables that make `host`; `undefined` where none do. */
export function variablesMaking(
  base: BaseUrl,
  host: string,
): { readonly [name: string]: string } | undefined {
  const values = matchBetween(base.host.split(variable).filter(isLiteral), host);
  return values && Object.fromEntries(values.map((value, index) => [base.variables[index] ?? "", value]));
}

/** Splitting at a pattern with a group gives literals and names in turn. */
function isLiteral(_part: string, index: number): boolean {
  return index % 2 === 0;
}

/** Whether some values of the variables make a host that `patterns` allow. */
export function canBeAllowed(base: BaseUrl, patterns: readonly HostPattern[]): boolean {
  if (base.variables.length === 0) return isHostAllowed(patterns, base.host);
  // What stands before the first dot, variables filled in: the label that a wildcard is to cover.
  const label = (base.host.split(".")[0] ?? "").replace(variable, "x");
  const isPossible = (host: string) => variablesMaking(base, host) !== undefined;
  return patterns.some(({ isWildcard, name }) =>
    isWildcard ? isPossible(`x.${name}`) || isPossible(`${label}.${name}`) : isPossible(name),
  );
}
