/**
 * Checks that a toolspec agrees with its manifest. Compares the two trees, so
 * that a file with an error of its own is still compared in all other fields.
 */

import {
  type DocumentNode,
  entryOf,
  fieldOf,
  itemsOf,
  listOf,
  type OpenDocument,
  type Problem,
  quote,
  stringOf,
} from "@toolcrib/document";
import { type HostPattern, parseHostPattern } from "@toolcrib/hosts";
import { canBeAllowed, parseBaseUrl } from "../spec/base-url.ts";
import { isEntryText } from "../spec/entry-name.ts";
import { lintCollisions } from "../spec/lint-collisions.ts";

/** Reports, at places in the toolspec, everything that does not agree with `manifest`. */
export function lintPair(spec: OpenDocument, manifest: OpenDocument): void {
  if (spec.tree?.kind !== "map" || manifest.tree?.kind !== "map") return;
  const report = (problem: Problem) => spec.reporter.report(problem);
  const manifestName = manifest.reporter.source.name;
  lintIdentity(spec.tree, manifest.tree, manifestName, report);
  lintTools(spec.tree, manifest.tree, manifestName, report);
  lintHosts(spec.tree, manifest.tree, report);
  lintAuth(spec.tree, manifest.tree, report);
  lintCollisions(
    spec.tree,
    { headers: injectedNames(manifest.tree, "header"), queries: injectedNames(manifest.tree, "query") },
    report,
  );
}

type Report = (problem: Problem) => void;

function lintIdentity(spec: DocumentNode, manifest: DocumentNode, file: string, report: Report): void {
  for (const { field, code } of [
    { field: "name", code: "TOOLSPEC_NAME_MISMATCH" },
    { field: "version", code: "TOOLSPEC_VERSION_MISMATCH" },
  ] as const) {
    const own = fieldOf(spec, field);
    const written = stringOf(own);
    const theirs = stringOf(fieldOf(manifest, field));
    if (own === undefined || written === undefined || theirs === undefined || written === theirs) continue;
    // A value that is not a valid name or version has its own finding.
    if (!isEntryText(field, written) || !isEntryText(field, theirs)) continue;
    report({
      code,
      message: `"${field}" is ${quote(written)}, but ${quote(theirs)} in the manifest ${file}`,
      hint: `write ${field}: ${theirs}`,
      span: own.span,
      path: field,
    });
  }
}

function namesOf(node: DocumentNode): Map<string, DocumentNode> {
  const names = new Map<string, DocumentNode>();
  for (const item of itemsOf(node, "tools")) {
    const found = fieldOf(item, "name");
    const name = stringOf(found);
    if (found !== undefined && name !== undefined && !names.has(name)) names.set(name, found);
  }
  return names;
}

function lintTools(spec: DocumentNode, manifest: DocumentNode, file: string, report: Report): void {
  const specTools = entryOf(spec, "tools");
  const own = namesOf(spec);
  const theirs = namesOf(manifest);
  if (specTools?.value.kind === "list") {
    for (const name of theirs.keys()) {
      if (own.has(name)) continue;
      report({
        code: "TOOLSPEC_TOOL_MISSING",
        message: `Tool ${quote(name)} of the manifest ${file} is missing`,
        hint: "add the tool, or remove it from the manifest",
        span: specTools.keySpan,
        path: "tools",
      });
    }
  }
  for (const [name, node] of own) {
    if (theirs.has(name)) continue;
    report({
      code: "TOOLSPEC_TOOL_UNDECLARED",
      message: `Tool ${quote(name)} is not declared in the manifest ${file}`,
      hint: `add {name: ${name}, default: false} to the tools of the manifest`,
      span: node.span,
      path: "tools",
    });
  }
}

/** Returns the egress entries of a manifest. Faulty entries are corrected to their probable meaning. */
function egressOf(manifest: DocumentNode): readonly HostPattern[] {
  const list = fieldOf(fieldOf(manifest, "entitlements"), "egress");
  const entries = list?.kind === "list" ? list.items : list === undefined ? [] : [list];
  return entries.flatMap((item) => {
    const verdict = parseHostPattern(stringOf(item) ?? "");
    if (verdict.kind === "valid") return [verdict.value];
    const meant = parseHostPattern(verdict.instead ?? "");
    return meant.kind === "valid" ? [meant.value] : [];
  });
}

function lintHosts(spec: DocumentNode, manifest: DocumentNode, report: Report): void {
  const egress = egressOf(manifest);
  const version = fieldOf(spec, "schemaVersion");
  const hasVariables = version?.kind === "scalar" && version.value === 2;
  const entries = egress.map(({ text }) => text);
  for (const [index, owner] of [spec, ...itemsOf(spec, "tools")].entries()) {
    const found = fieldOf(owner, "baseUrl");
    const url = stringOf(found);
    if (found === undefined || url === undefined) continue;
    const read = parseBaseUrl(url, { hasVariables });
    if (!("host" in read) || canBeAllowed(read, egress)) continue;
    const allowed = entries.length === 0 ? "nothing" : listOf(entries.slice(0, 5)).replace(" or ", " and ");
    report({
      code: "TOOLSPEC_HOST_NOT_ALLOWED",
      message: `Host ${quote(read.host)} is not in the egress list of the manifest, which allows ${allowed}${entries.length > 5 ? " and more" : ""}`,
      hint: hintOf(read.host, egress),
      span: found.span,
      path: index === 0 ? "baseUrl" : `tools[${index - 1}].baseUrl`,
    });
  }
}

function hintOf(host: string, egress: readonly HostPattern[]): string {
  const near = egress.find(
    ({ isWildcard, name }) => isWildcard && (host === name || host.endsWith(`.${name}`)),
  );
  const why = near === undefined ? "" : `; ${near.text} matches exactly one label`;
  return `add ${host.replace(/^\{[^{}]*\}(?=\.)/, "*")} to entitlements.egress of the manifest${why}`;
}

function lintAuth(spec: DocumentNode, manifest: DocumentNode, report: Report): void {
  const tier = stringOf(fieldOf(manifest, "tier"));
  const auth = entryOf(spec, "auth");
  const hasCredentials = itemsOf(manifest, "credentials").length > 0;
  if (tier === "sealed" && auth !== undefined) {
    report({
      code: "TOOLSPEC_AUTH_FORBIDDEN",
      message:
        '"auth" is not allowed: the manifest is of the sealed tier, and its credentials define where they are sent',
      hint: "remove auth",
      span: auth.keySpan,
      path: "auth",
    });
  }
  if (tier !== "entrusted") return;
  if (hasCredentials && auth === undefined) {
    report({
      code: "TOOLSPEC_AUTH_REQUIRED",
      message:
        '"auth" is required: the manifest is of the entrusted tier and does not say where its credential goes',
      hint: 'add auth: { header: Authorization, format: "Bearer {token}" }',
      span: (entryOf(spec, "baseUrl") ?? entryOf(spec, "name"))?.keySpan ?? spec.span,
    });
  } else if (!hasCredentials && auth !== undefined) {
    report({
      severity: "warning",
      code: "TOOLSPEC_AUTH_UNUSED",
      message: '"auth" has no effect: the manifest declares no credential',
      hint: "remove auth, or declare the credential in the manifest",
      span: auth.keySpan,
      path: "auth",
    });
  }
}

/** Returns the names of headers or query parameters that carry the credentials of a manifest. */
function injectedNames(manifest: DocumentNode, field: "header" | "query"): readonly string[] {
  return itemsOf(manifest, "credentials").flatMap((item) => {
    const name = stringOf(fieldOf(fieldOf(item, "inject"), field));
    return name === undefined ? [] : [name];
  });
}
