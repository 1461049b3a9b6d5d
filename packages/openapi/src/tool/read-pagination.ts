/**
 * Detects the pagination of a list where the document is unambiguous: a parameter
 * and a response field that match by name, the URL of the next page in a field or
 * a Link header, pages numbered from zero or one, or items to skip. Nothing less
 * certain is guessed.
 */

import type { ToolspecParam, ToolspecTool } from "@toolcrib/toolspec";
import { entriesOf, fieldOf, type Node } from "../document/node.ts";
import type { Operation } from "../operations.ts";
import {
  factText,
  readSchema,
  type Schema,
  type SchemaContext,
  type SchemaPart,
} from "../schema/read-schema.ts";
import { fieldsOf, typesOf } from "../schema/type-of-schema.ts";
import type { DraftParam } from "./draft-param.ts";

/** Parameters that select a page, and the response fields that belong to them, by JSONPath. */
const cursors: readonly (readonly [param: RegExp, paths: readonly string[]])[] = [
  [/^page_?token$/i, ["$.nextPageToken", "$.next_page_token"]],
  [/^next_?token$/i, ["$.nextToken", "$.next_token", "$.NextToken", "$.meta.next_token"]],
  [
    /^cursor$/i,
    [
      "$.next_cursor",
      "$.nextCursor",
      "$.response_metadata.next_cursor",
      "$.meta.next_cursor",
      "$.meta.nextCursor",
      "$.pagination.next_cursor",
      "$.pagination.nextCursor",
      "$.paging.next_cursor",
      "$.cursors.next",
    ],
  ],
  [/^start_cursor$/i, ["$.next_cursor"]],
  [/^after$/i, ["$.paging.next.after", "$.paging.cursors.after", "$.cursors.after"]],
  [/^continuation_?token$/i, ["$.continuationToken", "$.continuation_token", "$.nextContinuationToken"]],
  [/^continue$/, ["$.metadata.continue"]],
];

/** Fields with the URL of the next page. */
const addresses = [
  "$.next",
  "$.next_url",
  "$.next_page_url",
  "$.links.next",
  "$.links.next.href",
  "$._links.next",
  "$._links.next.href",
  "$.paging.next",
  "$.pagination.next",
];

/** Fields with the total number of items. */
const totals = [
  "$.total",
  "$.total_count",
  "$.totalCount",
  "$.total_items",
  "$.totalItems",
  "$.total_results",
  "$.totalResults",
  "$.meta.total",
  "$.meta.total_count",
  "$.pagination.total",
];

/** Parameters in the URL of a next page. */
const asking = /^(?:page(?:_?number|_?no|_?token)?|cursor|after|since|starting_after|offset|skip)$/i;

/** Names of the list in a page. */
const lists = ["data", "items", "results", "records", "entries", "values"];

/** Returns the pagination of the list that `operation` returns; `undefined` when it is uncertain. */
export function readPagination(
  operation: Operation,
  params: readonly DraftParam[],
  context: SchemaContext,
): ToolspecTool["pagination"] | undefined {
  if (operation.method !== "GET") return undefined;
  const queries = params.filter(
    ({ param }) => param.in === "query" && param.type !== "object" && param.type !== "array",
  );
  if (queries.length === 0) return undefined;
  const answer = readAnswer(operation, context);
  if (answer === undefined) return undefined;
  const { schema } = answer;
  for (const { param } of queries) {
    if (schema === undefined) break;
    const paths = cursors.find(([pattern]) => pattern.test(param.name))?.[1] ?? [];
    const next = paths.find((path) => isOfType(fieldAt(schema, path, context), ["string", "integer"]));
    if (next !== undefined) return { kind: "cursor", param: param.name, next };
  }
  const page = queries.find(({ param }) => pageName.test(param.name));
  if (
    answer.hasLink &&
    (page !== undefined ||
      queries.some(({ param }) => /^(?:cursor|after|since|page_?token)$/i.test(param.name)))
  )
    return { kind: "link" };
  if (schema === undefined) return undefined;
  const next = addresses.find((path) => isAddressAt(schema, path, context));
  if (next !== undefined && queries.some(({ param }) => asking.test(param.name)))
    return { kind: "link", next };
  const items = listAt(schema, context);
  return items === undefined ? undefined : readCount(queries, items, schema, context);
}

/** Numbered pages or skipped items, over the list at `items`. */
function readCount(
  queries: readonly DraftParam[],
  items: string,
  schema: Schema,
  context: SchemaContext,
): ToolspecTool["pagination"] | undefined {
  const counting = (pattern: RegExp) =>
    queries.find(({ param }) => param.type === "integer" && pattern.test(param.name))?.param;
  const page = counting(pageName);
  const first = firstOf(page);
  if (page !== undefined && (first === "0" || first === "1"))
    return { kind: "page", param: page.name, next: items, ...(first === "0" ? { first: 0 } : {}) };
  const offset = counting(/^(?:offset|skip)$/i);
  const isFromStart = (firstOf(offset) ?? "0") === "0";
  if (page !== undefined || offset === undefined || !isFromStart) return undefined;
  const total = totals.find((path) => isOfType(fieldAt(schema, path, context), ["integer", "number"]));
  return { kind: "offset", param: offset.name, next: items, ...(total === undefined ? {} : { total }) };
}

const pageName = /^page(?:_?number|_?no)?$/i;

/** Returns the default that the description of a parameter mentions. */
function firstOf(param: ToolspecParam | undefined): string | undefined {
  return /\bDefault: (\d+)\b/.exec(param?.description ?? "")?.[1];
}

interface Answer {
  readonly schema: Schema | undefined;
  readonly hasLink: boolean;
}

/** Returns the JSON schema of the success response. */
function readAnswer(operation: Operation, context: SchemaContext): Answer | undefined {
  const owner = fieldOf(operation.node, "responses");
  const [code, written] =
    entriesOf(operation.node, "responses").find(([name]) => /^2(?:\d\d|XX)$/i.test(name)) ?? [];
  if (code === undefined || written === undefined) return undefined;
  const place = { file: operation.file, owner, key: code };
  const { node, file } = context.documents.follow(
    { node: written, file: operation.file },
    context.findings,
    place,
  );
  const hasLink = entriesOf(node, "headers").some(([name]) => name.toLowerCase() === "link");
  const json = entriesOf(node, "content").find(([type]) =>
    /^application\/(?:[\w.-]+\+)?json\b/i.test(type),
  )?.[1];
  const schema: Node | undefined = fieldOf(json, "schema");
  if (schema === undefined) return { schema: undefined, hasLink };
  return { schema: readSchema({ node: schema, file, place }, context), hasLink };
}

/** Returns the schema at `path`, a JSONPath of names. */
function fieldAt(schema: Schema, path: string, context: SchemaContext): Schema | undefined {
  let found: Schema | undefined = schema;
  for (const name of path.split(".").slice(1)) {
    const part: SchemaPart | undefined = fieldsOf(found).fields.get(name);
    if (part === undefined) return undefined;
    found = readSchema(part, context);
  }
  return found;
}

function isOfType(schema: Schema | undefined, allowed: readonly string[]): boolean {
  const types = schema === undefined ? [] : typesOf(schema, 0);
  return types.length > 0 && types.every((type) => allowed.includes(type));
}

/** Whether the text at `path` is declared as a URL. */
function isAddressAt(schema: Schema, path: string, context: SchemaContext): boolean {
  const found = fieldAt(schema, path, context);
  if (found === undefined || !isOfType(found, ["string"])) return false;
  return /^(?:uri|url)(?:-reference)?$/.test(factText(found, "format") ?? "");
}

/** Finds the list of a page: the whole response, or the only list in it. */
function listAt(schema: Schema, context: SchemaContext): string | undefined {
  const types = typesOf(schema, 0);
  if (types.length === 1 && types[0] === "array") return "$";
  const { fields } = fieldsOf(schema);
  const found = lists.filter((name) => {
    const part = fields.get(name);
    return part !== undefined && typesOf(readSchema(part, context), 0)[0] === "array";
  });
  return found.length === 1 ? `$.${found[0]}` : undefined;
}
