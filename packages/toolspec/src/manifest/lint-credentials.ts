/** Checks how the credentials of a manifest enter requests in its tier. Reads the tree and never quotes a format, which can contain the secret. */

import {
  type DocumentNode,
  entryOf,
  fieldOf,
  itemsOf,
  listOf,
  type MapNode,
  type Place,
  quote,
  reportAt,
  stringOf,
} from "@toolcrib/document";
import { formatFault, formatHint, pathPrefixFault, singleFormatFault } from "../spec/credential-format.ts";
import { isClientHeader, isHeaderName } from "../spec/header-name.ts";
import { loaderVariable } from "./loader-variable.ts";

/** The fields that place a credential of the sealed tier. */
const placeFields = ["header", "query", "pathPrefix"] as const;

/** Reports contradictions among the credentials of the manifest at `node`. */
export function lintCredentials(node: DocumentNode, place: Place, version: 1 | 2): void {
  const tier = stringOf(fieldOf(node, "tier"));
  const taken = new Map<string, string>();
  const variables = new Map<string, string>();
  for (const [index, credential] of itemsOf(node, "credentials").entries()) {
    const at: Place = {
      ...place,
      path: `credentials[${index}]`,
      key: String(index),
      keySpan: credential.span,
    };
    const name = quote(stringOf(fieldOf(credential, "id")) ?? `#${index + 1}`);
    const inject = fieldOf(credential, "inject");
    if (inject?.kind === "map") {
      const within = { ...at, path: `${at.path}.inject` };
      lintTier(inject, name, tier, within, version);
      lintFormat(inject, name, within, version);
      lintHeader(inject, name, taken, within);
      if (version === 2) lintPlaces(inject, name, taken, within);
    }
    lintVendor(credential, name, at);
    lintVariables(credential, inject, name, at);
    lintPlaceholder(credential, { name, tier, taken: variables }, at);
  }
}

/** Reports variables with which the manifest would choose the code that the server loads. */
function lintVariables(
  credential: DocumentNode,
  inject: DocumentNode | undefined,
  name: string,
  place: Place,
): void {
  for (const [field, found] of [
    ["inject.env", entryOf(inject, "env")],
    ["placeholderEnv", entryOf(credential, "placeholderEnv")],
  ] as const) {
    const variable = stringOf(found?.value);
    if (found === undefined || variable === undefined || loaderVariable(variable) === undefined) continue;
    reportAt(found.value, place, {
      code: "MANIFEST_LOADER_VARIABLE",
      message: `Credential ${name} has ${field}: ${variable}, a variable that chooses the code that a program loads when it starts`,
      hint: "name the variable in which the server reads its credential",
    });
  }
}

/** Reports a placeholder that no process gets, and a variable for two placeholders. */
function lintPlaceholder(
  credential: DocumentNode,
  {
    name,
    tier,
    taken,
  }: { readonly name: string; readonly tier: string | undefined; readonly taken: Map<string, string> },
  place: Place,
): void {
  const entry = entryOf(credential, "placeholderEnv");
  const variable = stringOf(entry?.value);
  if (entry === undefined || variable === undefined) return;
  const report = (message: string, hint: string): void =>
    reportAt(entry.value, place, { code: "MANIFEST_PLACEHOLDER_ENV", message, hint });
  if (tier === "entrusted") {
    report(
      `Credential ${name} has placeholderEnv: in the entrusted tier the process gets the secret itself`,
      "remove placeholderEnv; inject.env names the variable",
    );
  }
  const earlier = taken.get(variable);
  if (earlier === undefined) taken.set(variable, name);
  else {
    const message = `Credentials ${earlier} and ${name} have the same placeholderEnv`;
    report(message, "give each credential a variable of its own");
  }
}

const rules = {
  1: "the sealed tier takes header and format, and no env",
  2: "the sealed tier takes header and format, query, or pathPrefix, and no env",
  entrusted: "the entrusted tier takes env and nothing else",
};

function lintTier(
  inject: MapNode,
  name: string,
  tier: string | undefined,
  place: Place,
  version: 1 | 2,
): void {
  if (tier !== "sealed" && tier !== "entrusted") return;
  const isSealed = tier === "sealed";
  const wanted = !isSealed ? ["env"] : isPlacedElsewhere(inject, version) ? [] : ["header", "format"];
  const code = isSealed ? "MANIFEST_INJECT_SEALED" : "MANIFEST_INJECT_ENTRUSTED";
  const rule = isSealed ? rules[version] : rules.entrusted;
  const missing = wanted.filter(
    (field) => (stringOf(fieldOf(inject, field)) ?? "").trim() === "" && !isFaulty(inject, field),
  );
  if (missing.length > 0) {
    reportAt(inject, place, {
      code,
      message: `Credential ${name} has no inject.${missing.join(" and inject.")}: ${rule}`,
      hint: isSealed
        ? 'write inject: { header: Authorization, format: "Bearer {token}" }'
        : "write inject: { env: NAME }",
      span: inject.entries[0]?.keySpan ?? inject.span,
    });
  }
  for (const field of isSealed ? ["env"] : ["header", "format", "query", "pathPrefix"]) {
    const entry = entryOf(inject, field);
    // A field of version 2 in version 1 has its own finding.
    if (entry === undefined || (version === 1 && (field === "query" || field === "pathPrefix"))) continue;
    const message = `Credential ${name} has inject.${field}: ${rule}`;
    const hint = isSealed
      ? "remove env"
      : `remove ${field}; auth in the toolspec states where the secret goes`;
    reportAt(entry.value, place, { code, message, hint, span: entry.keySpan });
  }
}

function isPlacedElsewhere(inject: MapNode, version: 1 | 2): boolean {
  if (version === 1 || entryOf(inject, "header") !== undefined) return false;
  return entryOf(inject, "query") !== undefined || entryOf(inject, "pathPrefix") !== undefined;
}

/** Whether the field has a value of a wrong type, which has its own finding. */
function isFaulty(inject: MapNode, field: string): boolean {
  const value = fieldOf(inject, field);
  return (
    value !== undefined &&
    !(value.kind === "scalar" && (value.value === null || typeof value.value === "string"))
  );
}

function lintFormat(inject: MapNode, name: string, place: Place, version: 1 | 2): void {
  const formatNode = fieldOf(inject, "format");
  const format = stringOf(formatNode);
  if (formatNode === undefined || format === undefined || format.trim() === "") return;
  const fault = version === 1 ? formatFault(format) : singleFormatFault(format);
  if (fault === undefined) return;
  const message = `"inject.format" of credential ${name} ${fault}`;
  reportAt(formatNode, place, { code: "MANIFEST_INJECT_FORMAT", message, hint: formatHint });
}

function lintHeader(inject: MapNode, name: string, taken: Map<string, string>, place: Place): void {
  const headerNode = fieldOf(inject, "header");
  const header = stringOf(headerNode);
  if (headerNode === undefined || header === undefined || header.trim() === "") return;
  if (!isHeaderName(header) || isClientHeader(header)) {
    const state = isHeaderName(header) ? "is set by the client itself" : "is not a header name";
    const message = `Cannot send credential ${name} in the header ${quote(header)}: it ${state}`;
    reportAt(headerNode, place, { code: "MANIFEST_INJECT_HEADER", message });
  }
  const key = `header ${header.toLowerCase()}`;
  const earlier = taken.get(key);
  if (earlier === undefined) taken.set(key, name);
  else {
    reportAt(headerNode, place, {
      severity: "warning",
      code: "MANIFEST_INJECT_COLLIDES",
      message: `Credentials ${listOf([earlier, name]).replace(" or ", " and ")} are both sent in the header ${quote(header)}: the last one is`,
      hint: "remove one of the two, or give it another header",
    });
  }
}

/** Checks the rules of version 2: exactly one of three places, each with its own fields. */
function lintPlaces(inject: MapNode, name: string, taken: Map<string, string>, place: Place): void {
  const [first, second] = placeFields
    .flatMap((field) => entryOf(inject, field) ?? [])
    .toSorted((one, other) => one.keySpan.start - other.keySpan.start);
  if (first !== undefined && second !== undefined) {
    const message = `Credential ${name} has inject.${first.key} and inject.${second.key}, but goes to one place`;
    const hint = `remove ${second.key}, or declare a second credential`;
    reportAt(second.value, place, { code: "MANIFEST_INJECT_PLACE", message, hint, span: second.keySpan });
  }
  const prefixNode = fieldOf(inject, "pathPrefix");
  const prefix = stringOf(prefixNode);
  const format = entryOf(inject, "format");
  if (prefixNode !== undefined && format !== undefined && first?.key === "pathPrefix") {
    const message = `Credential ${name} has inject.format and inject.pathPrefix; the prefix is a format itself`;
    const hint = "remove format, and write {token} into pathPrefix";
    reportAt(format.value, place, { code: "MANIFEST_INJECT_PLACE", message, hint, span: format.keySpan });
  }
  const fault = prefix === undefined || prefix.trim() === "" ? undefined : pathPrefixFault(prefix);
  if (prefixNode !== undefined && fault !== undefined) {
    const message = `"inject.pathPrefix" of credential ${name} ${fault}`;
    const hint = 'write the prefix of every path: pathPrefix: "/bot{token}"';
    reportAt(prefixNode, place, { code: "MANIFEST_INJECT_PATH_PREFIX", message, hint });
  }
  const query = stringOf(fieldOf(inject, "query"));
  if (query !== undefined) lintShared(inject, "query", `query ${query}`, name, taken, place);
  if (prefix !== undefined) lintShared(inject, "pathPrefix", "pathPrefix", name, taken, place);
}

/** Reports a query parameter or prefix that two credentials use: both would be sent. */
function lintShared(
  inject: MapNode,
  field: "query" | "pathPrefix",
  key: string,
  name: string,
  taken: Map<string, string>,
  place: Place,
): void {
  const found = fieldOf(inject, field);
  const earlier = taken.get(key);
  if (earlier === undefined) taken.set(key, name);
  else if (found !== undefined) {
    const where = field === "query" ? "in the same query parameter" : "before the path";
    const message = `Credentials ${earlier} and ${name} are both sent ${where}`;
    reportAt(found, place, { code: "MANIFEST_INJECT_COLLIDES", message, hint: "remove one of the two" });
  }
}

function lintVendor(credential: DocumentNode, name: string, place: Place): void {
  const typeNode = fieldOf(credential, "type");
  if (typeNode === undefined || stringOf(typeNode) !== "oauth2") return;
  const vendor = entryOf(credential, "vendor");
  const isEmpty = vendor?.value.kind === "scalar" && vendor.value.text.trim() === "";
  if (vendor !== undefined && !isEmpty) return;
  const message = `Credential ${name} is of type oauth2 and has no vendor`;
  reportAt(typeNode, place, {
    code: "MANIFEST_VENDOR_REQUIRED",
    message,
    hint: "add vendor: NAME, such as google",
  });
}
