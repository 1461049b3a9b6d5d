/**
 * Converts the security schemes of a document to the credentials of a manifest. A
 * manifest sends all its credentials with every call, so the requirement that
 * covers most operations is used, and operations that need another are reported.
 */

import { quote } from "@toolcrib/document";
import { type Findings, listOf, type Place } from "../document/findings.ts";
import { entriesOf, fieldOf, isList, isMap, type Node, textOf } from "../document/node.ts";
import type { Documents } from "../document/references.ts";
import type { Operation } from "../operations.ts";
import { toSnakeCase } from "../write/names.ts";

/** A credential in the form of a manifest. */
export interface Credential {
  readonly id: string;
  readonly type: "oauth2" | "api_key" | "basic";
  readonly scopes?: readonly string[];
  readonly vendor?: string;
  readonly inject:
    | { readonly header: string; readonly format: string }
    | { readonly query: string; readonly format: string };
}

/** The credential of a security scheme. */
export interface DeclaredCredential {
  readonly scheme: string;
  /** Whether it is an API key, whose name the document states. */
  readonly isKey: boolean;
  readonly credential: Credential;
  /** Whether the manifest has it. */
  readonly isChosen: boolean;
}

interface Scheme {
  readonly credential: Credential;
  /** Preference among schemes; the higher, the less effort it takes to obtain and keep the credential. */
  readonly ease: number;
  /** Whether it is an API key. @default false */
  readonly isKey?: boolean;
}

/** Names of schemes that an operation needs together; empty when it needs none. */
type Requirement = readonly string[];

/** Returns the credentials that the document declares, first those that the manifest for `operations` has. */
export function readCredentials(
  documents: Documents,
  operations: readonly Operation[],
  options: { readonly findings: Findings; readonly vendor: string },
): readonly DeclaredCredential[] {
  const { findings } = options;
  const { root } = documents;
  const components = fieldOf(root.root, "components");
  const owner = fieldOf(components, "securitySchemes");
  const placeOf = (name: string): Place => ({ file: root, owner, key: name });
  const schemes = new Map<string, Scheme | string>();
  for (const [name, written] of entriesOf(components, "securitySchemes")) {
    const { node } = documents.follow({ node: written, file: root }, findings, placeOf(name));
    schemes.set(name, readScheme(name, node, options.vendor));
  }
  const needs = operations.map((operation) => requirementsOf(operation, root.root));
  const chosen = choose(needs, schemes);
  const used = new Set(needs.flat(2));
  for (const [name, scheme] of schemes) {
    if (!used.has(name) || typeof scheme !== "string") continue;
    const hint =
      "a credential is sent in a header or in the query; set one up by hand if the API takes another";
    findings.report({
      code: "OPENAPI_CREDENTIAL_UNFIT",
      message: `Cannot use security scheme ${quote(name)}: ${scheme}`,
      hint,
      place: placeOf(name),
    });
  }
  reportUnserved(operations, needs, chosen, findings);
  const others = [...schemes.keys()].filter((name) => !chosen.includes(name));
  return [...new Set([...chosen, ...others])].flatMap((name) => {
    const scheme = schemes.get(name);
    if (scheme === undefined || typeof scheme === "string") return [];
    return [
      {
        scheme: name,
        isKey: scheme.isKey === true,
        credential: withScopes(scheme.credential, name, operations, root.root),
        isChosen: chosen.includes(name),
      },
    ];
  });
}

/** Reports that the manifest has no credential, unless the document declares one that it cannot have. */
export function reportNoCredential({ root }: Documents, findings: Findings): void {
  if (entriesOf(fieldOf(root.root, "components"), "securitySchemes").length > 0) return;
  findings.report({
    code: "OPENAPI_CREDENTIAL_MISSING",
    message: "The document declares no credential",
    hint: "if the API needs one, add it to credentials of the manifest",
  });
}

function readScheme(name: string, node: Node | undefined, vendor: string): Scheme | string {
  const id = toSnakeCase(name).slice(0, 64) || "token";
  const type = textOf(node, "type");
  const bearer = { header: "Authorization", format: "Bearer {token}" };
  if (type === "http") {
    const scheme = textOf(node, "scheme")?.toLowerCase();
    if (scheme === "bearer") return { credential: { id, type: "api_key", inject: bearer }, ease: 4 };
    if (scheme === "basic") {
      const inject = { header: "Authorization", format: "Basic {token}" };
      return { credential: { id, type: "basic", inject }, ease: 2 };
    }
    return `HTTP authentication by ${quote(scheme ?? "")} is more than one header of one text`;
  }
  if (type === "apiKey") return readApiKey(id, node);
  if (type === "oauth2" || type === "openIdConnect")
    return { credential: { id, type: "oauth2", vendor, inject: bearer }, ease: 1 };
  return type === "mutualTLS"
    ? "certificates of clients are not sent"
    : `its type ${quote(type ?? "")} is not known`;
}

function readApiKey(id: string, node: Node | undefined): Scheme | string {
  const where = textOf(node, "in");
  const name = textOf(node, "name");
  if (name === undefined) return "it has no name";
  if (where === "header") {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(name) || /^(?:cookie|host|proxy-.*)$/i.test(name))
      return `${quote(name)} is not a header for credentials`;
    // Many documents declare a bearer token as an API key in this header and mention the scheme only in prose.
    const isBearer =
      name.toLowerCase() === "authorization" && /\bbearer\b/i.test(textOf(node, "description") ?? "");
    const format = isBearer ? "Bearer {token}" : "{token}";
    return { credential: { id, type: "api_key", inject: { header: name, format } }, ease: 3, isKey: true };
  }
  if (where === "query")
    return {
      credential: { id, type: "api_key", inject: { query: name, format: "{token}" } },
      ease: 2,
      isKey: true,
    };
  return where === "cookie" ? "cookies are not sent" : `a key in ${quote(where ?? "")} is not known`;
}

function requirementsOf({ node }: Operation, root: Node): readonly Requirement[] {
  const list = fieldOf(node, "security") ?? fieldOf(root, "security");
  if (!isList(list)) return [];
  return list.items.map((one) => (isMap(one) ? [...one.fields.keys()] : []));
}

/** Returns the schemes to declare: those of the most common requirement, then compatible others. */
function choose(
  needs: readonly (readonly Requirement[])[],
  schemes: ReadonlyMap<string, Scheme | string>,
): Requirement {
  let chosen: Requirement = [];
  for (let round = 0; round < 8; round += 1) {
    const counts = new Map<string, { readonly names: Requirement; count: number }>();
    for (const alternatives of needs) {
      if (isServed(alternatives, chosen)) continue;
      for (const names of alternatives) {
        if (!fits([...chosen, ...names], schemes)) continue;
        const key = JSON.stringify([...names].sort());
        const entry = counts.get(key) ?? { names, count: 0 };
        entry.count += 1;
        counts.set(key, entry);
      }
    }
    const ease = (names: Requirement) => Math.min(...names.map((name) => easeOf(schemes.get(name))));
    const [best] = [...counts.values()].sort((a, b) => b.count - a.count || ease(b.names) - ease(a.names));
    if (best === undefined) break;
    chosen = [...new Set([...chosen, ...best.names])];
  }
  return chosen;
}

function easeOf(scheme: Scheme | string | undefined): number {
  return scheme === undefined || typeof scheme === "string" ? 0 : scheme.ease;
}

/** Whether `chosen` covers an operation; an operation with an empty or optional requirement is covered. */
function isServed(alternatives: readonly Requirement[], chosen: Requirement): boolean {
  if (alternatives.length === 0) return true;
  // An optional credential is sent where possible.
  const named = alternatives.filter((names) => names.length > 0);
  return named.length === 0 || named.some((names) => names.every((name) => chosen.includes(name)));
}

/** Whether all schemes can be sent, each in a different place. */
function fits(names: Requirement, schemes: ReadonlyMap<string, Scheme | string>): boolean {
  const places = new Set<string>();
  for (const name of new Set(names)) {
    const scheme = schemes.get(name);
    if (scheme === undefined || typeof scheme === "string") return false;
    const { inject } = scheme.credential;
    const place = "header" in inject ? inject.header.toLowerCase() : `?${inject.query}`;
    if (places.has(place)) return false;
    places.add(place);
  }
  return names.length > 0;
}

function reportUnserved(
  operations: readonly Operation[],
  needs: readonly (readonly Requirement[])[],
  chosen: Requirement,
  findings: Findings,
): void {
  const unserved = operations.filter((_, index) => !isServed(needs[index] ?? [], chosen));
  const [first] = unserved;
  if (first === undefined) return;
  const wanted = needs[operations.indexOf(first)] ?? [];
  const names = wanted.map((one) => one.map(quote).join(" with ")).join(" or ");
  const others = unserved.length === 1 ? "" : ` and ${unserved.length - 1} more`;
  const taken =
    chosen.length === 0
      ? "none can be sent"
      : `the manifest sends ${listOf(chosen.map(quote))} with every call`;
  findings.report({
    code: "OPENAPI_CREDENTIAL_UNFIT",
    message: `Operation ${quote(first.label)}${others} needs ${names}, but ${taken}`,
    hint: "import these operations under another --name",
    place: first.place,
  });
}

/** Pattern of a scope (RFC 6749, 3.3), and the most scopes. */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;
const scopesMaxCount = 1000;

/** Returns the scopes that the operations require. */
function withScopes(
  credential: Credential,
  name: string,
  operations: readonly Operation[],
  root: Node,
): Credential {
  if (credential.type !== "oauth2") return credential;
  const scopes = new Set<string>();
  for (const { node } of operations) {
    const list = fieldOf(node, "security") ?? fieldOf(root, "security");
    for (const one of isList(list) ? list.items : []) {
      const asked = fieldOf(one, name);
      for (const scope of isList(asked) ? asked.items : [])
        if (typeof scope === "string" && scopeToken.test(scope)) scopes.add(scope);
    }
  }
  return scopes.size === 0
    ? credential
    : { ...credential, scopes: [...scopes].sort().slice(0, scopesMaxCount) };
}
