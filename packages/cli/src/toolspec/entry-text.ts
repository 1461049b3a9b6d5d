/** Formats an entry of the catalog for people. No I/O. */

import { type EntrySection, entryText } from "@toolcrib/config";
import type { JsonObject } from "@toolcrib/json";
import type { AdoptedSource, Manifest, ManifestCredential } from "@toolcrib/toolspec";
import { wrapProse } from "../output/fit-styled.ts";
import { type Output, safeLine } from "../output/output.ts";
import { type CatalogEntry, toolCountOf } from "./catalog.ts";

/** Indent of the values of facts. */
const factIndent = " ".repeat(14);

/** Returns name, version and description. */
export function headingLines({ manifest }: CatalogEntry, output: Output): string[] {
  const { name, version, displayName, description } = manifest;
  const title = displayName === undefined ? "" : ` ${output.style("dim", safeLine(displayName))}`;
  return [
    `${output.style("bold", name)} ${version}${title}`,
    ...(description === undefined ? [] : wrapProse(safeLine(description), output.width)),
  ];
}

/** Returns hosts, credentials, variables and the number of tools. */
export function factLines(entry: CatalogEntry, output: Output): string[] {
  const { manifest, toolspec } = entry;
  const fact = (name: string, value: string) => {
    const [first = "", ...others] = wrapProse(value, output.width - factIndent.length);
    const line = `  ${output.style("dim", name.padEnd(factIndent.length - 2))}${first}`;
    return [line, ...others.map((one) => `${factIndent}${one.trimStart()}`)].join("\n");
  };
  const listed = (manifest.tools ?? []).filter((tool) => tool.default === true).length;
  const variables = Object.entries(toolspec?.variables ?? {});
  const hosts = (manifest.entitlements?.egress ?? []).map(safeLine).join(", ");
  const credentials = manifest.credentials ?? [];
  return [
    ...(entry.toolspec === undefined ? [fact("server", sourceText(entry.source))] : []),
    fact("hosts", hosts === "" ? "none" : hosts),
    ...credentials.map((credential) => fact("credential", credentialText(credential))),
    ...(credentials.length === 0 ? [fact("credential", "none required")] : []),
    ...(manifest.requires ?? []).map((one) => fact("needs", safeLine(requirementText(one)))),
    ...variables.map(([name, { description, default: fallback }]) =>
      fact(
        "variable",
        safeLine(
          `${name}${description === undefined ? "" : `: ${description}`}${fallback === undefined ? "" : ` (default ${fallback})`}`,
        ),
      ),
    ),
    fact("tools", `${toolCountOf(entry)}, ${listed} of them offered by default`),
  ];
}

/** A value that a server does not work without. */
export type ManifestRequirement = NonNullable<Manifest["requires"]>[number];

/** Returns what a server does not work without in a few words. */
export function requirementText({ variable, argument, option, value, description }: ManifestRequirement) {
  const name = variable ?? [option, argument].filter((one) => one !== undefined).join(" ");
  const kind =
    value === "read_folder"
      ? "a folder that it reads"
      : value === "written_file"
        ? "a file that it writes"
        : undefined;
  const text = description ?? kind;
  const where = variable === undefined ? " in its arguments" : "";
  return `${name}${where}${text === undefined ? "" : ` (${text})`}`;
}

/** Returns the package of a server in one line. */
export function sourceText({ kind, package: name, version, digest }: AdoptedSource): string {
  const names = { go: "Go module", npm: "npm package", python: "PyPI project" };
  return safeLine(`${names[kind]} ${name} ${version}${digest === undefined ? ", nothing recorded" : ""}`);
}

/** Returns a credential in one line. */
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

/** Returns the explanation before the prompt for a credential. */
export function credentialHelp(
  { manifest }: Pick<CatalogEntry, "manifest">,
  { id, type, vendor, scopes }: ManifestCredential,
): string[] {
  const service = manifest.displayName ?? manifest.name;
  if (type === "basic")
    return [`${service} requires a user and a password for "${id}", written as user:password.`];
  if (type !== "oauth2") return [`${service} requires an API key or token for "${id}".`];
  const needs = scopes === undefined || scopes.length === 0 ? "" : ` with the scopes ${scopes.join(" ")}`;
  return [
    `${service} requires an OAuth access token for "${id}"${needs}.`,
    `Get one from ${vendor ?? service} (a personal or long-lived token, if available): Toolcrib sends it unchanged and does not refresh it.`,
  ].map(safeLine);
}

/** Returns the entry as lines of the configuration. */
export function configurationLines(section: EntrySection, entry: JsonObject): string[] {
  return [
    `${section}:`,
    ...entryText(entry)
      .split("\n")
      .map((line) => `  ${line}`),
  ];
}
