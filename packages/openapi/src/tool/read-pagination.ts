/**
 * How a list goes on, where the document leaves no doubt: a parameter and the
 * field of the response that belong together by their names, pages that are
 * counted from one over a list, or a Link header. Anything less certain is not
 * guessed.
 */

import type { ToolspecPagination } from "@toolcrib/toolspec";
import { entriesOf, fieldOf, type Node } from "../document/node.ts";
import type { Operation } from "../operations.ts";
import { readSchema, type Schema, type SchemaContext, type SchemaPart } from "../schema/read-schema.ts";
import { fieldsOf, typesOf } from "../schema/type-of-schema.ts";
import type { DraftParam } from "./draft-param.ts";

/** Parameters that ask for a page, and the fields that answer them, by JSONPath. */
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

/** Names of the list of a page. */
const lists = ["data", "items", "results", "records", "entries", "values"];

/** How the list that `operation` gives goes on; `undefined` where that is not certain. */
export function readPagination(
  operation: Operation,
  params: readonly DraftParam[],
  context: SchemaContext,
): ToolspecPagination | undefined {
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
    const next = paths.find((path) => isCursorAt(schema, path.split(".").slice(1), context));
    if (next !== undefined) return { kind: "cursor", param: param.name, next };
  }
  const page = queries.find(({ param }) => /^page(?:_?number|_?no)?$/i.test(param.name));
  if (
    answer.hasLink &&
    (page !== undefined ||
      queries.some(({ param }) => /^(?:cursor|after|since|page_?token)$/i.test(param.name)))
  )
    return { kind: "link" };
  const isCounted = page?.param.type === "integer" && /\bDefault: 1\b/.test(page.param.description ?? "");
  const items = schema === undefined ? undefined : listAt(schema, context);
  return isCounted && items !== undefined ? { kind: "page", param: page.param.name, next: items } : undefined;
}

interface Answer {
  readonly schema: Schema | undefined;
  readonly hasLink: boolean;
}

/** The JSON of a response that says that it went well. */
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

/** Whether a text or number stands at `path`. */
function isCursorAt(schema: Schema, path: readonly string[], context: SchemaContext): boolean {
  const [name = "", ...rest] = path;
  const field: SchemaPart | undefined = fieldsOf(schema).fields.get(name);
  if (field === undefined) return false;
  const inner = readSchema(field, context);
  if (rest.length > 0) return isCursorAt(inner, rest, context);
  const types = typesOf(inner, 0);
  return types.length > 0 && types.every((type) => type === "string" || type === "integer");
}

/** Where the list of a page stands: the whole response, or the only list in it. */
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
