/** How the credentials of a manifest enter requests, by its tier. Reads the tree; never quotes a format. */

import {
  manifestInjectCollides,
  manifestInjectEntrusted,
  manifestInjectFormat,
  manifestInjectHeader,
  manifestInjectSealed,
  manifestVendorRequired,
} from "../codes.ts";
import {
  type DocumentNode,
  entryOf,
  fieldOf,
  itemsOf,
  type MapNode,
  stringOf,
} from "../document/document-tree.ts";
import { listOf, quote } from "../document/reporter.ts";
import { type Place, reportAt } from "../document/shape.ts";
import { formatFault, formatHint } from "../spec/credential-format.ts";
import { isClientHeader, isHeaderName } from "../spec/header-name.ts";

/** Report what does not fit together in the credentials of the manifest at `node`. */
export function lintCredentials(node: DocumentNode, place: Place): void {
  const tier = stringOf(fieldOf(node, "tier"));
  const headers = new Map<string, string>();
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
      lintTier(inject, name, tier, { ...at, path: `${at.path}.inject` });
      lintValues(inject, name, headers, { ...at, path: `${at.path}.inject` });
    }
    lintVendor(credential, name, at);
  }
}

function lintTier(inject: MapNode, name: string, tier: string | undefined, place: Place): void {
  if (tier !== "sealed" && tier !== "entrusted") return;
  const isSealed = tier === "sealed";
  const wanted = isSealed ? ["header", "format"] : ["env"];
  const code = isSealed ? manifestInjectSealed : manifestInjectEntrusted;
  const rule = isSealed
    ? "the sealed tier takes header and format, and no env"
    : "the entrusted tier takes env and nothing else";
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
  for (const field of isSealed ? ["env"] : ["header", "format"]) {
    const entry = entryOf(inject, field);
    if (entry === undefined) continue;
    const message = `Credential ${name} has inject.${field}: ${rule}`;
    const hint = isSealed
      ? "remove env"
      : `remove ${field}; where the secret goes stands in auth of the toolspec`;
    reportAt(entry.value, place, { code, message, hint, span: entry.keySpan });
  }
}

/** Whether the field is there with a value of another type, of which another finding tells. */
function isFaulty(inject: MapNode, field: string): boolean {
  const value = fieldOf(inject, field);
  return (
    value !== undefined &&
    !(value.kind === "scalar" && (value.value === null || typeof value.value === "string"))
  );
}

function lintValues(inject: MapNode, name: string, headers: Map<string, string>, place: Place): void {
  const formatNode = fieldOf(inject, "format");
  const format = stringOf(formatNode);
  const fault = format === undefined || format.trim() === "" ? undefined : formatFault(format);
  if (formatNode !== undefined && fault !== undefined) {
    const message = `"inject.format" of credential ${name} ${fault}`;
    reportAt(formatNode, place, { code: manifestInjectFormat, message, hint: formatHint });
  }
  const headerNode = fieldOf(inject, "header");
  const header = stringOf(headerNode);
  if (headerNode === undefined || header === undefined || header.trim() === "") return;
  if (!isHeaderName(header) || isClientHeader(header)) {
    const state = isHeaderName(header) ? "is set by the client itself" : "is no header name";
    const message = `Cannot send credential ${name} in the header ${quote(header)}: it ${state}`;
    reportAt(headerNode, place, { code: manifestInjectHeader, message });
  }
  const earlier = headers.get(header.toLowerCase());
  if (earlier === undefined) headers.set(header.toLowerCase(), name);
  else {
    reportAt(headerNode, place, {
      severity: "warning",
      code: manifestInjectCollides,
      message: `Credentials ${listOf([earlier, name]).replace(" or ", " and ")} are both sent in the header ${quote(header)}: the last one is`,
      hint: "remove one of the two, or give it another header",
    });
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
    code: manifestVendorRequired,
    message,
    hint: "add vendor: NAME, such as google",
  });
}
