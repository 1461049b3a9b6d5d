/**
 * Checks one tool across its fields: placeholders of the path and parameters,
 * method and body, headers, and the rules of version 2. Reads the tree, so that a
 * tool with one error is still checked for others.
 */

import {
  type DocumentNode,
  fieldOf,
  itemsOf,
  listOf,
  type Place,
  quote,
  reportAt,
  reportRepeated,
  spanWithin,
  stringOf,
} from "@toolcrib/document";
import { isClientHeader, isHeaderName } from "./header-name.ts";
import { findPageParam } from "./page-param.ts";
import { parsePathTemplate, placeholdersOf } from "./path-template.ts";

/** A parameter, as far as it could be parsed. */
interface ReadParam {
  readonly node: DocumentNode;
  readonly name: string;
  readonly nameNode: DocumentNode;
  readonly place: string | undefined;
  readonly type: string | undefined;
}

/** Context of checking a tool. */
export interface ToolLint {
  readonly version: 1 | 2;
  /** Names of the variables that the toolspec declares. */
  readonly variables: ReadonlySet<string>;
}

/** Reports contradictions in the tool at `node`. */
export function lintTool(node: DocumentNode, place: Place, { version, variables }: ToolLint): void {
  const params = itemsOf(node, "params").flatMap(readParam);
  const list = fieldOf(node, "params");
  if (list !== undefined) {
    reportRepeated(list, at(place, "params"), "name", (name, lineNumber) => ({
      code: "TOOLSPEC_PARAM_DUPLICATE",
      message: `Duplicate parameter ${quote(name)}: line ${lineNumber} has the same name, and parameters share one namespace`,
      hint: "remove one of the two",
    }));
  }
  lintPath(node, params, place, { version, variables });
  lintBody(node, params, place, version);
  lintHeaders(params, place);
  if (version === 2) {
    lintValues(params, place);
    lintStyles(node, params, place);
    lintEncoding(node, params, place);
    lintPagination(node, params, place);
  }
}

function at(place: Place, field: string): Place {
  return { ...place, path: `${place.path}.${field}`, key: field };
}

function readParam(node: DocumentNode): ReadParam[] {
  const nameNode = fieldOf(node, "name");
  const name = stringOf(nameNode);
  if (nameNode === undefined || name === undefined || name === "") return [];
  return [
    { node, name, nameNode, place: stringOf(fieldOf(node, "in")), type: stringOf(fieldOf(node, "type")) },
  ];
}

function lintPath(node: DocumentNode, params: readonly ReadParam[], place: Place, lint: ToolLint): void {
  const pathNode = fieldOf(node, "path");
  const path = stringOf(pathNode);
  const inPath = params.filter((param) => param.place === "path");
  for (const { node: param, name, nameNode } of inPath) {
    const required = fieldOf(param, "required");
    if (required?.kind === "scalar" && required.value === true) continue;
    const isWrongType = required !== undefined && !(required.kind === "scalar" && required.value === false);
    // A value that is not a boolean has its own finding.
    if (isWrongType) continue;
    reportAt(required ?? nameNode, at(place, "params"), {
      code: "TOOLSPEC_PATH_PARAM_OPTIONAL",
      message: `Parameter ${quote(name)} is part of the path and must be required`,
      hint: required === undefined ? "add required: true" : "write required: true",
    });
  }
  if (pathNode === undefined || path === undefined || path.trim() === "") return;
  const { source } = place.reporter;
  const { template, faults } = parsePathTemplate(path, { hasReserved: lint.version === 2 });
  for (const { reason, part, hint } of faults) {
    const span = part === "" ? pathNode.span : spanWithin(pathNode, part, source);
    const message = `Cannot use ${quote(path)} as path: ${reason}`;
    reportAt(pathNode, at(place, "path"), { code: "TOOLSPEC_PATH_INVALID", message, hint, span });
  }
  const list = fieldOf(node, "params");
  const isListed = list === undefined || list.kind === "list";
  // A missing brace makes the placeholders ambiguous.
  if (template.segments.length === 0 || !isListed || faults.some(({ part }) => /[{}]/.test(part))) return;
  const placeholders = new Map(placeholdersOf(template).map((one) => [one.name, one]));
  for (const { name, keepsSlashes } of placeholders.values()) {
    if (inPath.some((param) => param.name === name)) continue;
    if (lint.variables.has(name) && !keepsSlashes) continue;
    const written = `{${keepsSlashes ? "+" : ""}${name}}`;
    reportAt(pathNode, at(place, "path"), {
      code: "TOOLSPEC_PATH_PARAM_MISSING",
      message: `Cannot bind "${written}" in path ${quote(path)}: no parameter with in: path has that name`,
      hint:
        lint.variables.has(name) && keepsSlashes
          ? `a variable is one segment: write {${name}}`
          : missingHint(name, params, inPath, lint),
      span: spanWithin(pathNode, written, source),
    });
  }
  for (const { name, nameNode } of inPath) {
    if (placeholders.has(name) || placeholders.has(`+${name}`)) continue;
    reportAt(nameNode, at(place, "params"), {
      code: "TOOLSPEC_PATH_PARAM_UNUSED",
      message: `Parameter ${quote(name)} has in: path, but path ${quote(path)} has no placeholder "{${name}}"`,
      hint: `write {${name}} into the path, or another in`,
    });
  }
}

function missingHint(
  name: string,
  params: readonly ReadParam[],
  inPath: readonly ReadParam[],
  { version }: ToolLint,
): string {
  if (name.startsWith("+") && inPath.some((param) => param.name === name.slice(1)))
    return `schemaVersion: 2 reads {${name}} as a placeholder that keeps slashes; in version 1 write {${name.slice(1)}}`;
  const other = params.find((param) => param.name === name);
  if (other !== undefined) return `write in: path for the parameter ${name}`;
  const param = `add {name: ${name}, in: path, type: string, required: true}`;
  return version === 1 ? param : `${param}, or variables: { ${name}: { description: … } }`;
}

function lintBody(node: DocumentNode, params: readonly ReadParam[], place: Place, version: 1 | 2): void {
  const method = stringOf(fieldOf(node, "method"));
  if (method !== "GET" && (method !== "DELETE" || version === 2)) return;
  const others = version === 2 ? "POST, PUT, PATCH and DELETE" : "POST, PUT and PATCH";
  for (const param of params) {
    if (param.place !== "body") continue;
    reportAt(fieldOf(param.node, "in") ?? param.nameNode, at(place, "params"), {
      code: "TOOLSPEC_BODY_NOT_ALLOWED",
      message: `Parameter ${quote(param.name)} has in: body, but ${method} has no body: ${others} have one`,
      hint:
        method === "DELETE"
          ? "schemaVersion: 2 sends a body with DELETE; in version 1 write in: query"
          : "write in: query, or another method",
    });
  }
}

function lintHeaders(params: readonly ReadParam[], place: Place): void {
  const first = new Map<string, string>();
  for (const { name, nameNode, place: where } of params) {
    if (where !== "header") continue;
    const report = (code: string, message: string, hint: string) =>
      reportAt(nameNode, at(place, "params"), { code, message, hint });
    const lower = name.toLowerCase();
    const earlier = first.get(lower);
    if (!isHeaderName(name)) {
      const message = `Parameter ${quote(name)} has in: header, but is not a header name`;
      report("TOOLSPEC_HEADER_INVALID", message, "header names are letters, digits and hyphens");
    } else if (isClientHeader(name)) {
      const message = `Cannot send the header ${quote(name)}: it is set by the client itself`;
      report("TOOLSPEC_HEADER_FORBIDDEN", message, "remove the parameter");
    } else if (earlier !== undefined && earlier !== name) {
      const message = `Headers ${quote(earlier)} and ${quote(name)} are the same header: case does not count`;
      report("TOOLSPEC_HEADER_DUPLICATE", message, "remove one of the two");
    }
    if (earlier === undefined) first.set(lower, name);
  }
}

/** Checks fixed values and lists of values: their types, and the places where they are allowed. */
function lintValues(params: readonly ReadParam[], place: Place): void {
  for (const { node: param, name, place: where, type } of params) {
    const report = (node: DocumentNode, reason: string, hint: string) =>
      reportAt(node, at(place, "params"), {
        code: "TOOLSPEC_VALUE_INVALID",
        message: `Parameter ${quote(name)} ${reason}`,
        hint,
      });
    const value = fieldOf(param, "value");
    const list = fieldOf(param, "enum");
    if (value !== undefined && where === "path") {
      report(value, "cannot have a fixed value: it has in: path", "write the value into the path");
    } else if (value !== undefined && list !== undefined) {
      report(list, "has a fixed value, and a list of values too", "remove value or enum");
    } else if (value !== undefined && !isOfType(value, type)) {
      report(value, `has type: ${type}, and a value of another type`, "write a value of the type");
    }
    if (list?.kind !== "list") continue;
    if (list.items.length === 0 || type === "array" || type === "object") {
      const reason =
        list.items.length === 0 ? "has an empty list of values" : `has type: ${type}, and a list of values`;
      report(list, reason, "enum lists texts, numbers or booleans, at least one");
      continue;
    }
    for (const item of list.items) {
      if (!isOfType(item, type))
        report(item, `has type: ${type}, and a value of another type`, "write it in its type");
    }
  }
}

/** Also true for an unknown type, which has its own finding. */
function isOfType(node: DocumentNode, type: string | undefined): boolean {
  if (type === "array") return node.kind === "list";
  if (type === "object") return node.kind === "map";
  if (type === "integer") return node.kind === "scalar" && Number.isInteger(node.value);
  const isNamed = type === "string" || type === "number" || type === "boolean";
  return !isNamed || (node.kind === "scalar" && typeof node.value === type);
}

function lintStyles(node: DocumentNode, params: readonly ReadParam[], place: Place): void {
  const encoding = stringOf(fieldOf(node, "encoding"));
  for (const { node: param, name, place: where, type } of params) {
    const styleNode = fieldOf(param, "style");
    const style = stringOf(styleNode);
    if (styleNode === undefined || style === undefined) continue;
    if (!["repeat", "comma", "brackets", "json"].includes(style)) continue;
    const isStyled = where === "query" || (where === "body" && encoding === "form");
    const allowed = type === "array" ? ["repeat", "comma", "brackets", "json"] : ["brackets", "json"];
    const state = !isStyled
      ? "it is neither in a query nor in a form"
      : type !== "array" && type !== "object"
        ? "it is neither an array nor an object"
        : allowed.includes(style)
          ? undefined
          : `an object is written as ${listOf(allowed)}`;
    if (state === undefined) continue;
    const message = `Parameter ${quote(name)} cannot have style: ${style}: ${state}`;
    reportAt(styleNode, at(place, "params"), { code: "TOOLSPEC_STYLE_INVALID", message });
  }
}

function lintEncoding(node: DocumentNode, params: readonly ReadParam[], place: Place): void {
  const encodingNode = fieldOf(node, "encoding");
  const encoding = stringOf(encodingNode);
  const body = params.filter((param) => param.place === "body");
  if (encoding === "raw" && encodingNode !== undefined && body.length !== 1) {
    const message = `encoding: raw sends one body parameter unchanged, but the tool has ${body.length}`;
    reportAt(encodingNode, at(place, "encoding"), { code: "TOOLSPEC_BODY_INVALID", message });
  }
  for (const param of params) {
    for (const field of ["contentEncoding", "contentType", "filename"]) {
      const found = fieldOf(param.node, field);
      if (found === undefined) continue;
      const isFitting =
        param.place === "body" &&
        (encoding === "multipart" || (encoding === "raw" && field !== "filename")) &&
        (field !== "contentEncoding" || param.type === "string");
      if (isFitting) continue;
      const allowed =
        field === "contentEncoding"
          ? "it is for strings in multipart and raw bodies"
          : `it is for ${field === "filename" ? "multipart" : "multipart and raw"} bodies`;
      const message = `Parameter ${quote(param.name)} cannot have ${field}: ${allowed}`;
      reportAt(found, at(place, "params"), { code: "TOOLSPEC_BODY_INVALID", message });
    }
  }
}

/** Fields of each kind of pagination in addition to `kind`, and the JSONPath that it requires. */
const paging: {
  readonly [kind: string]: { readonly takes: readonly string[]; readonly path?: string };
} = {
  cursor: { takes: ["param", "next"], path: "of the next cursor" },
  page: { takes: ["param", "next", "first", "total"], path: "of the items of a page" },
  offset: { takes: ["param", "next", "first", "total"], path: "of the items of a page" },
  link: { takes: ["next"] },
};

function lintPagination(node: DocumentNode, params: readonly ReadParam[], place: Place): void {
  const pagination = fieldOf(node, "pagination");
  if (pagination?.kind !== "map") return;
  const kind = stringOf(fieldOf(pagination, "kind")) ?? "";
  const own = Object.hasOwn(paging, kind) ? paging[kind] : undefined;
  if (own === undefined) return;
  const report = (found: DocumentNode, message: string, hint: string) =>
    reportAt(found, at(place, "pagination"), {
      code: "TOOLSPEC_PAGINATION_INVALID",
      message,
      hint,
      ...(found === pagination ? { span: pagination.entries[0]?.keySpan } : {}),
    });
  for (const field of ["param", "next", "first", "total"]) {
    const found = fieldOf(pagination, field);
    if (found === undefined || own.takes.includes(field)) continue;
    report(found, `kind: ${kind} takes no ${field}`, "remove the field");
  }
  if (own.path === undefined) return;
  lintPageParam(pagination, kind, params, report);
  if (fieldOf(pagination, "next") === undefined)
    report(pagination, `kind: ${kind} needs the JSONPath ${own.path}`, "add next");
}

function lintPageParam(
  pagination: DocumentNode,
  kind: string,
  params: readonly ReadParam[],
  report: (found: DocumentNode, message: string, hint: string) => void,
): void {
  const paramNode = fieldOf(pagination, "param");
  const name = stringOf(paramNode);
  if (paramNode === undefined || name === undefined) {
    report(pagination, `kind: ${kind} needs the parameter that asks for a page`, "add param");
    return;
  }
  const { param, field } = findPageParam(params, name) ?? {};
  const isPaging = param?.place === "query" || param?.place === "body";
  // The type of a field is unknown.
  const isCounted = kind === "cursor" || field !== undefined || param?.type === "integer";
  if (!isPaging) {
    const message = `Cannot page by ${quote(name)}: no query or body parameter has that name`;
    report(paramNode, message, "name a parameter of the tool");
  } else if (!isCounted) {
    const counts = kind === "page" ? "number pages" : "count items";
    report(paramNode, `Cannot ${counts} by ${quote(name)}: it is not an integer`, "write type: integer");
  }
}
