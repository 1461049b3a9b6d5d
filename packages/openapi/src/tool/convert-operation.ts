/** Converts one operation to one tool. */

import { quote } from "@toolcrib/document";
import type { Toolspec, ToolspecParam, ToolspecTool } from "@toolcrib/toolspec";
import { textOf } from "../document/node.ts";
import type { Operation } from "../operations.ts";
import type { SchemaContext } from "../schema/read-schema.ts";
import type { CredentialArguments } from "../service/credential-arguments.ts";
import type { Server } from "../service/read-server.ts";
import { toParamName } from "../write/names.ts";
import { sentences, toPlainLine } from "../write/plain-text.ts";
import { type DraftParam, UnfitOperation } from "./draft-param.ts";
import { readBody } from "./read-body.ts";
import { readExample } from "./read-example.ts";
import { readPagination } from "./read-pagination.ts";
import { type PathDraft, readParameters } from "./read-parameters.ts";
import { limitParams, resolveClashes } from "./resolve-clashes.ts";

/** Longest summary and longest description of a tool, in characters. */
const summaryMaxLength = 200;
const descriptionMaxLength = 600;

/** Context of converting an operation. */
export interface Conversion {
  readonly name: string;
  readonly context: SchemaContext;
  readonly server: Server;
  /** Server of the toolspec; a tool on another server states its own base URL. */
  readonly spec: Omit<Toolspec, "tools">;
  readonly credentials: CredentialArguments;
}

/** Returns the tool of `operation`. @throws {UnfitOperation} when a toolspec cannot express the call. */
export function convertOperation(operation: Operation, conversion: Conversion): ToolspecTool {
  const { context, server, spec } = conversion;
  const { findings } = context;
  const read = readParameters(operation, context);
  const body = readBody(operation, context);
  const fixed = fixedQuery(operation);
  const others = conversion.credentials.remove([...read.others, ...fixed, ...body.params], operation);
  const path = completePath(operation, read.path, context);
  const resolved = resolveClashes(path, others, { label: operation.label, findings });
  const drafts = limitParams([...resolved.path, ...resolved.others], operation.label, findings);
  const params = drafts.map(({ param }) => param);
  const pagination = readPagination(operation, drafts, context);
  const tool: ToolspecTool = {
    name: conversion.name,
    description: descriptionOf(operation),
    method: operation.method as ToolspecTool["method"],
    path: `${writePrefix(operation, resolved.path, conversion)}${writePath(operation, resolved.path, resolved.pathNames)}`,
    ...(server.baseUrl === spec.baseUrl ? {} : { baseUrl: server.baseUrl }),
    ...(body.encoding === undefined || body.encoding === "json" || !hasBody(params)
      ? {}
      : { encoding: body.encoding }),
    ...(params.length === 0 ? {} : { params }),
    ...(pagination === undefined ? {} : { pagination }),
  };
  const example = readExample(tool, drafts, body.example, spec);
  return example === undefined ? tool : { ...tool, examples: [example] };
}

function hasBody(params: readonly ToolspecParam[]): boolean {
  return params.some((param) => param.in === "body");
}

function descriptionOf(operation: Operation): string {
  const summary = toPlainLine(textOf(operation.node, "summary") ?? "", summaryMaxLength);
  const described = toPlainLine(textOf(operation.node, "description") ?? "", descriptionMaxLength);
  const isRepeated = described.toLowerCase().startsWith(summary.toLowerCase().replace(/\.$/, ""));
  const both = isRepeated ? described : sentences([summary, described]);
  const text = both.length <= descriptionMaxLength ? both : toPlainLine(both, descriptionMaxLength);
  const said = text === "" ? `${operation.method} ${operation.path}` : text;
  return operation.isDeprecated ? `Deprecated. ${said}` : said;
}

/** Moves a query that is part of the path, such as `/do?action=list`, to parameters. */
function fixedQuery(operation: Operation): readonly DraftParam[] {
  const { path, place } = operation;
  if (path.includes("#")) throw new UnfitOperation("its path has a fragment, which is never sent", place);
  const query = path.includes("?") ? path.slice(path.indexOf("?") + 1) : "";
  if (/[{}]/.test(query))
    throw new UnfitOperation(
      "its path has a query with placeholders",
      place,
      "write them as parameters with in: query",
    );
  return [...new URLSearchParams(query)].map(([name, value]) => ({
    param: { name, in: "query", type: "string", value },
    place,
    example: undefined,
  }));
}

/** Checks that each placeholder has a parameter and each path parameter a placeholder. */
function completePath(
  operation: Operation,
  declared: readonly PathDraft[],
  { findings }: SchemaContext,
): readonly PathDraft[] {
  const names = new Set(placeholdersOf(operation.path));
  const kept = declared.filter(({ param, place }) => {
    if (names.has(param.name)) return true;
    const message = `Parameter ${quote(param.name)} of operation ${quote(operation.label)} is left out: its path has no such placeholder`;
    findings.report({ code: "OPENAPI_PARAMETER_UNFIT", message, place });
    return false;
  });
  const missing = [...names].filter((name) => !kept.some(({ param }) => param.name === name));
  for (const name of missing) {
    const message = `Placeholder ${quote(`{${name}}`)} of operation ${quote(operation.label)} has no parameter and is treated as a text`;
    findings.report({ code: "OPENAPI_PARAMETER_CHANGED", message, place: operation.place });
  }
  return [
    ...kept,
    ...missing.map(
      (name): PathDraft => ({
        param: { name, in: "path", type: "string", required: true },
        frame: (placeholder) => placeholder,
        place: operation.place,
        example: undefined,
      }),
    ),
  ];
}

const placeholder = /\{([^{}]+)\}/g;

/** Returns the names in braces, without the modifiers of `{+name}` and `{name*}`. */
function placeholdersOf(path: string): readonly string[] {
  return [...path.replace(/\?.*$/s, "").matchAll(placeholder)].map(([, written = ""]) => plainName(written));
}

function plainName(written: string): string {
  return written.replace(/^\+|\*$/g, "");
}

/**
 * Returns the path prefix of the server. A variable is replaced by its default when
 * the path has a parameter of that name, or when its value differs on the server
 * that most operations use.
 */
function writePrefix(
  operation: Operation,
  params: readonly PathDraft[],
  { server, spec }: Conversion,
): string {
  return server.pathPrefix
    .split(/(\{[^{}]+\})/)
    .map((part) => {
      const name = /^\{(.+)\}$/.exec(part)?.[1];
      if (name === undefined) return literal(part);
      const own = server.variables[name]?.default;
      const isTaken = params.some(({ param }) => param.name === name);
      if (!isTaken && own === spec.variables?.[name]?.default) return part;
      if (own !== undefined) return literal(own);
      throw new UnfitOperation(
        `its server has a variable ${quote(name)} that is another one here`,
        operation.place,
      );
    })
    .join("");
}

function writePath(
  operation: Operation,
  params: readonly PathDraft[],
  names: ReadonlyMap<string, string>,
): string {
  const path = operation.path.replace(/\?.*$/s, "");
  let written = "";
  let at = 0;
  for (const found of path.matchAll(placeholder)) {
    const name = plainName(found[1] ?? "");
    const ours = names.get(name) ?? toParamName(name);
    const draft = params.find(({ param }) => param.name === ours);
    const isReserved = found[1]?.startsWith("+") === true;
    const own = `{${isReserved ? "+" : ""}${ours}}`;
    written += `${literal(path.slice(at, found.index))}${draft === undefined ? own : draft.frame(own)}`;
    at = found.index + found[0].length;
  }
  return written + literal(path.slice(at));
}

/** Encodes literal path text: characters that are illegal in a path are percent-encoded. */
function literal(text: string): string {
  return text
    .toWellFormed()
    .replace(/%(?![0-9A-Fa-f]{2})/g, "%25")
    .replace(/[^\x21-\x7e]|[\\"<>^`|{}]/gu, (character) => encodeURIComponent(character));
}
