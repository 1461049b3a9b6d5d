/**
 * Checks an entry of `toolspecs` against its files: its credentials, tools,
 * variables and reserved parameters exist in the files, and nothing that the
 * files need is missing. Pure.
 */

import { didYouMean } from "@toolcrib/diagnostics";
import { entryOf, fieldOf, listOf, nodeAt, type Problem } from "@toolcrib/document";
import { canonicalHost, isHostAllowed } from "@toolcrib/hosts";
import { egressPatterns, hostsOf, pathVariableFaults, placedCredentials } from "@toolcrib/toolspec";
import type { ToolspecDeclaration } from "./config-layer.ts";
import type { ToolspecPair } from "./config-types.ts";
import { quote } from "./display-source.ts";
import { lintServerId } from "./server-id.ts";
import { defaultTools, suggestedSecretName } from "./toolspec-facts.ts";

type Report = (problem: Problem) => void;

/** Reports where `entry` and `pair` do not match; paths are relative to the entry. */
export function lintToolspecEntry(entry: ToolspecDeclaration, pair: ToolspecPair, report: Report): void {
  lintId(entry, report);
  lintCredentials(entry, pair, report);
  lintTools(entry, pair, report);
  lintReserved(entry, pair, report);
  lintVariables(entry, pair, report);
}

function lintId(entry: ToolspecDeclaration, report: Report): void {
  const finding = entry.isIdGiven ? undefined : lintServerId(entry.id);
  if (finding === undefined) return;
  report({
    code: "CONFIG_ID_INVALID",
    message: `The manifest's name ${quote(entry.id)} cannot be the id: ${finding.reason}`,
    hint: `add id: ${finding.fix}`,
    span: entry.span,
  });
}

function lintCredentials(entry: ToolspecDeclaration, pair: ToolspecPair, report: Report): void {
  const known = (pair.manifest.credentials ?? []).map(({ id }) => id);
  for (const given of fieldEntries(entry, "credentials")) {
    if (known.includes(given.key)) continue;
    report({
      code: "CONFIG_CREDENTIAL_UNKNOWN",
      message: `The manifest ${pair.manifestFile} has no credential ${quote(given.key)}`,
      hint:
        didYouMean(given.key, known) ??
        (known.length === 0 ? "remove it: the API needs no credentials" : `it has ${listOf(known)}`),
      span: given.keySpan,
      path: ".credentials",
    });
  }
  const missing = placedCredentials(pair.manifest, pair.toolspec).filter(
    ({ id }) => !Object.hasOwn(entry.credentials, id),
  );
  if (missing.length === 0) return;
  const names = missing.map(({ id }) => ({ id, secret: suggestedSecretName(entry.id, id) }));
  const fields = names.map(({ id, secret }) => `${id}: { secret_key_ref: ${secret} }`).join(", ");
  const commands = names.map(({ secret }) => `toolcrib secret set ${secret}`).join(", ");
  report({
    code: "CONFIG_CREDENTIAL_MISSING",
    message: `Toolspec ${quote(entry.id)} needs ${missing.length === 1 ? "a secret" : "secrets"} for ${listOf(missing.map(({ id }) => quote(id))).replace(" or ", " and ")}`,
    hint: `add credentials: { ${fields} } and run ${commands}`,
    span: entryOf(entry.node, "credentials")?.keySpan ?? entry.span,
    path: ".credentials",
  });
}

function lintTools(entry: ToolspecDeclaration, { manifest, toolspec }: ToolspecPair, report: Report): void {
  const known = toolspec.tools.map(({ name }) => name);
  if (entry.tools === "default") {
    if ((manifest.tools ?? []).some((tool) => tool.default === true)) return;
    report({
      severity: "warning",
      code: "CONFIG_TOOL_UNKNOWN",
      message: `Toolspec ${quote(entry.id)} offers no tool: its manifest marks none with default: true`,
      hint: "write tools: all, or list the tools that you want",
      span: entry.span,
      path: ".tools",
    });
    return;
  }
  if (entry.tools === "all") return;
  for (const [index, name] of entry.tools.entries()) {
    if (name === defaultTools || known.includes(name)) continue;
    report({
      code: "CONFIG_TOOL_UNKNOWN",
      message: `The toolspec has no tool ${quote(name)}`,
      hint: didYouMean(name, known) ?? `it has ${listOf(known.slice(0, 20))}`,
      span: nodeAt(entry.node, ["tools", index])?.span ?? entry.span,
      path: `.tools[${index}]`,
    });
  }
}

function lintReserved(entry: ToolspecDeclaration, { toolspec }: ToolspecPair, report: Report): void {
  const known = toolspec.tools.flatMap(({ name, params = [] }) =>
    params.filter((param) => param.in === "path").map((param) => `${name}.${param.name}`),
  );
  for (const [index, name] of entry.reserved.entries()) {
    if (known.includes(name)) continue;
    report({
      code: "CONFIG_TOOL_UNKNOWN",
      message: `The toolspec has no path parameter ${quote(name)}`,
      hint: didYouMean(name, known) ?? "write TOOL.PARAMETER for a parameter with in: path",
      span: nodeAt(entry.node, ["reserved", index])?.span ?? entry.span,
      path: `.reserved[${index}]`,
    });
  }
}

function lintVariables(entry: ToolspecDeclaration, pair: ToolspecPair, report: Report): void {
  const declared = pair.toolspec.variables ?? {};
  const known = Object.keys(declared);
  for (const given of fieldEntries(entry, "variables")) {
    if (known.includes(given.key)) continue;
    report({
      code: "CONFIG_TOOLSPEC_VARIABLE",
      message: `The toolspec has no variable ${quote(given.key)}`,
      hint:
        didYouMean(given.key, known) ??
        (known.length === 0
          ? "remove it: the base URL and paths have no variables"
          : `it has ${listOf(known)}`),
      span: given.keySpan,
      path: ".variables",
    });
  }
  const unset = known.filter(
    (name) => !Object.hasOwn(entry.variables, name) && declared[name]?.default === undefined,
  );
  for (const name of unset) {
    const description = declared[name]?.description;
    report({
      code: "CONFIG_TOOLSPEC_VARIABLE",
      message: `Variable ${quote(name)} of toolspec ${quote(entry.id)} is not set${description === undefined ? "" : `: ${description}`}`,
      hint: `add variables: { ${name}: … }`,
      span: entryOf(entry.node, "variables")?.keySpan ?? entry.span,
      path: ".variables",
    });
  }
  for (const { name, reason } of pathVariableFaults(pair.toolspec, entry.variables)) {
    const variables = fieldOf(entry.node, "variables");
    report({
      code: "CONFIG_TOOLSPEC_VARIABLE",
      message: `Variable ${quote(name)} of toolspec ${quote(entry.id)} cannot be used in a path: it ${reason}`,
      hint: "write an id, not a path",
      span: (fieldOf(variables, name) ?? variables)?.span ?? entry.span,
      path: `.variables.${name}`,
    });
  }
  if (unset.length === 0) lintHosts(entry, pair, report);
}

/** Checks that the variables produce valid host names which the manifest allows. */
function lintHosts(entry: ToolspecDeclaration, { manifest, toolspec }: ToolspecPair, report: Report): void {
  const allowed = egressPatterns(manifest);
  for (const written of hostsOf(toolspec, entry.variables)) {
    const host = canonicalHost(written);
    if (host !== undefined && isHostAllowed(allowed, host)) continue;
    report({
      code: "CONFIG_TOOLSPEC_HOST",
      message:
        host === undefined
          ? `The variables of toolspec ${quote(entry.id)} produce ${quote(written)}, which is not a host name`
          : `Host ${quote(host)} of toolspec ${quote(entry.id)} is not in the egress list of its manifest`,
      hint:
        host === undefined
          ? "a variable is a part of a host name: letters, digits and hyphens"
          : `the manifest allows ${listOf((manifest.entitlements?.egress ?? []).slice(0, 5)) || "nothing"}`,
      span: fieldOf(entry.node, "variables")?.span ?? entry.span,
      path: ".variables",
    });
  }
}

function fieldEntries(entry: ToolspecDeclaration, field: string) {
  const node = fieldOf(entry.node, field);
  return node?.kind === "map" ? node.entries : [];
}
