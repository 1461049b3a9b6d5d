/** What people are shown of a toolspec of the catalogue. No I/O. */

import { toolspecEntryText } from "@toolcrib/config";
import type { JsonObject } from "@toolcrib/json";
import type { ManifestCredential } from "@toolcrib/toolspec";
import { type Output, safeLine } from "../output/output.ts";
import type { CatalogEntry } from "./catalog.ts";

/** Name, version, and what it is. */
export function headingLines({ manifest }: CatalogEntry, output: Output): string[] {
  const { name, version, displayName, description } = manifest;
  const title = displayName === undefined ? "" : ` ${output.style("dim", safeLine(displayName))}`;
  return [
    `${output.style("bold", name)} ${version}${title}`,
    ...(description === undefined ? [] : [safeLine(description)]),
  ];
}

/** Hosts, credentials, variables, and how many tools. */
export function factLines({ manifest, toolspec }: CatalogEntry, output: Output): string[] {
  const fact = (name: string, value: string) => `  ${output.style("dim", name.padEnd(12))}${value}`;
  const listed = (manifest.tools ?? []).filter((tool) => tool.default === true).length;
  const variables = Object.entries(toolspec.variables ?? {});
  const credentials = manifest.credentials ?? [];
  return [
    fact("hosts", (manifest.entitlements?.egress ?? []).map(safeLine).join(", ")),
    ...credentials.map((credential) => fact("credential", credentialText(credential))),
    ...(credentials.length === 0 ? [fact("credential", "none is needed")] : []),
    ...variables.map(([name, { description, default: fallback }]) =>
      fact(
        "variable",
        safeLine(
          `${name}${description === undefined ? "" : `: ${description}`}${fallback === undefined ? "" : ` (default ${fallback})`}`,
        ),
      ),
    ),
    fact("tools", `${toolspec.tools.length}, ${listed} of them offered by default`),
  ];
}

/** A credential in a line. */
function credentialText({ id, type, vendor, scopes }: ManifestCredential): string {
  const from = vendor === undefined ? "" : ` of ${vendor}`;
  const needs = scopes === undefined || scopes.length === 0 ? "" : `, scopes ${scopes.join(" ")}`;
  return safeLine(`${id} (${credentialTypes[type]}${from}${needs})`);
}

const credentialTypes: { readonly [Type in ManifestCredential["type"]]: string } = {
  oauth2: "OAuth access token",
  api_key: "API key",
  basic: "user and password",
  custom_env: "secret",
};

/** What whoever is asked for a credential has to know. */
export function credentialHelp(
  { manifest }: CatalogEntry,
  { id, type, vendor, scopes }: ManifestCredential,
): string[] {
  const service = manifest.displayName ?? manifest.name;
  if (type === "basic") return [`${service} wants a user and a password for "${id}", written user:password.`];
  if (type !== "oauth2") return [`${service} wants an API key or token for "${id}".`];
  const needs = scopes === undefined || scopes.length === 0 ? "" : ` with the scopes ${scopes.join(" ")}`;
  return [
    `${service} wants an OAuth access token for "${id}"${needs}.`,
    `Get one from ${vendor ?? service} (a personal or long-lived token, where there is such a thing): Toolcrib sends it as it is, and renews none.`,
  ].map(safeLine);
}

/** The entry as it is written into the configuration. */
export function configurationLines(entry: JsonObject): string[] {
  return [
    "toolspecs:",
    ...toolspecEntryText(entry)
      .split("\n")
      .map((line) => `  ${line}`),
  ];
}
