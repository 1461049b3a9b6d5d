/**
 * Converts the parameters of an operation outside its body: path, query and
 * headers, each with its style. An optional parameter that cannot be sent is left
 * out and reported; a required one makes the operation unfit for import.
 */

import { quote } from "@toolcrib/document";
import type { ParamStyle, ToolspecParam } from "@toolcrib/toolspec";
import { listOf, type Place } from "../document/findings.ts";
import { entriesOf, fieldOf, isList, isMap, isSet, type Node, textOf } from "../document/node.ts";
import type { Part } from "../document/references.ts";
import type { Operation } from "../operations.ts";
import { describeSchema } from "../schema/describe-schema.ts";
import { readSchema, type Schema, type SchemaContext, type SchemaPart } from "../schema/read-schema.ts";
import { type ChosenType, fieldsOf, typeOfSchema } from "../schema/type-of-schema.ts";
import { type DraftParam, UnfitOperation } from "./draft-param.ts";

/** Headers that OpenAPI excludes from parameters. */
const describedElsewhere: ReadonlySet<string> = new Set(["accept", "content-type", "authorization"]);
/** Headers that the HTTP client sets. */
const ofTheClient =
  /^(?:connection|content-length|cookie|expect|host|http2-settings|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*)$/i;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** Longest name that a toolspec accepts. */
const nameMaxLength = 256;

/** A path parameter, and its text in the path. */
export interface PathDraft extends DraftParam {
  /** `{id}`, or with the delimiters of its style `;id={id}`. */
  readonly frame: (placeholder: string) => string;
}

/** The parameters of an operation, by place. */
export interface Parameters {
  readonly path: readonly PathDraft[];
  readonly others: readonly DraftParam[];
}

interface Written {
  readonly node: Node;
  readonly part: Part;
  readonly name: string;
  readonly where: string;
  readonly isRequired: boolean;
  readonly place: Place;
}

/** Converts the parameters of `operation`. @throws {UnfitOperation} */
export function readParameters(operation: Operation, context: SchemaContext): Parameters {
  const path: PathDraft[] = [];
  const others: DraftParam[] = [];
  for (const written of listParameters(operation, context)) {
    try {
      if (written.where === "path") path.push(readPath(written, context));
      else others.push(...readOther(written, context));
    } catch (error) {
      if (!(error instanceof UnfitOperation)) throw error;
      const isNeeded = written.isRequired || written.where === "path";
      if (isNeeded) throw error;
      context.findings.report({
        code: "OPENAPI_PARAMETER_UNFIT",
        message: `Parameter ${quote(written.name)} of operation ${quote(operation.label)} is left out: ${error.message}`,
        hint: error.hint,
        place: written.place,
      });
    }
  }
  return { path, others };
}

/** Returns the parameters of the path item, overridden by those of the operation. */
function listParameters(operation: Operation, context: SchemaContext): readonly Written[] {
  const found = new Map<string, Written>();
  for (const { node: owner, file } of [operation.item, operation]) {
    const list = fieldOf(owner, "parameters");
    for (const [index, one] of (isList(list) ? list.items : []).entries()) {
      const place = { file, owner: list, key: index };
      const part = context.documents.follow({ node: one, file }, context.findings, place);
      const name = textOf(part.node, "name");
      const where = textOf(part.node, "in");
      if (part.node === undefined || name === undefined || where === undefined) continue;
      const isRequired = isSet(part.node, "required") || where === "path";
      found.set(`${where} ${name}`, { node: part.node, part, name, where, isRequired, place });
    }
  }
  return [...found.values()];
}

function schemaPart({ part, node, place }: Written): SchemaPart & { readonly media: string | undefined } {
  const [content] = entriesOf(node, "content");
  const schema = content === undefined ? fieldOf(node, "schema") : fieldOf(content[1], "schema");
  return { node: schema, file: part.file, place, media: content?.[0] };
}

function exampleOf(node: Node, schema: Schema, context: SchemaContext, part: Part): Node | undefined {
  const [first] = entriesOf(node, "examples");
  const place = { file: part.file, owner: node, key: "examples" };
  const named =
    first === undefined
      ? undefined
      : context.documents.follow({ node: first[1], file: part.file }, context.findings, place);
  return fieldOf(node, "example") ?? fieldOf(named?.node, "value") ?? schema.example;
}

function readPath(written: Written, context: SchemaContext): PathDraft {
  const { node, name, place } = written;
  const schema = readSchema(schemaPart(written), context);
  const chosen = typeOfSchema(schema, { isText: true });
  if (chosen.type === "object") throw new UnfitOperation(`path parameter ${quote(name)} is an object`, place);
  const style = textOf(node, "style") ?? "simple";
  const isFramed = style === "label" || style === "matrix";
  if (isFramed && chosen.type === "array")
    throw new UnfitOperation(`path parameter ${quote(name)} is a list in style: ${style}`, place);
  const frame = (placeholder: string) =>
    style === "label"
      ? `.${placeholder}`
      : style === "matrix"
        ? `;${encodeURIComponent(name)}=${placeholder}`
        : placeholder;
  const param = toParam(written, "path", schema, chosen, context);
  return {
    param: { ...param, required: true },
    frame,
    place,
    example: exampleOf(node, schema, context, written.part),
  };
}

function readOther(written: Written, context: SchemaContext): readonly DraftParam[] {
  const { name, where, node, place } = written;
  if (where === "cookie")
    throw new UnfitOperation(
      `cookie ${quote(name)} cannot be sent`,
      place,
      "send it as a credential in a header, if the API takes one",
    );
  if (where !== "query" && where !== "header")
    throw new UnfitOperation(`parameter ${quote(name)} has in: ${where}, which is not known`, place);
  if (name.length > nameMaxLength || name.includes("\0"))
    throw new UnfitOperation(`the name of parameter ${quote(name)} cannot be sent`, place);
  if (where === "header") {
    if (describedElsewhere.has(name.toLowerCase())) return [];
    if (!headerName.test(name) || ofTheClient.test(name))
      throw new UnfitOperation(`header ${quote(name)} cannot be a parameter`, place);
  }
  const part = schemaPart(written);
  const schema = readSchema(part, context);
  const isJson = part.media !== undefined && /[/+]json\b/i.test(part.media);
  const chosen = typeOfSchema(schema, { isText: !isJson });
  const example = exampleOf(node, schema, context, written.part);
  const isComposite = chosen.type === "object" || chosen.type === "array";
  if (where === "header") {
    if (chosen.type === "object" && !isJson)
      throw new UnfitOperation(`header ${quote(name)} is an object`, place);
    return [{ param: toParam(written, where, schema, chosen, context), place, example }];
  }
  if (isJson) {
    const param = toParam(written, where, schema, chosen, context);
    return [{ param: isComposite ? { ...param, style: "json" } : param, place, example }];
  }
  if (chosen.type === "object") return readObject(written, schema, chosen, context);
  const param = toParam(written, where, schema, chosen, context);
  if (chosen.type !== "array") return [{ param, place, example }];
  const style = arrayStyle(node);
  if (style.kind === "style")
    return [{ param: style.style === undefined ? param : { ...param, style: style.style }, place, example }];
  const several = `Several values are separated by ${style.name}.`;
  const description =
    param.description === undefined ? several : `${param.description.replace(/\.$/, "")}. ${several}`;
  return [{ param: { ...param, type: "string", description }, place, example: undefined }];
}

type ArrayStyle =
  | { readonly kind: "style"; readonly style: ParamStyle | undefined }
  | { readonly kind: "separated"; readonly name: string };

function arrayStyle(node: Node): ArrayStyle {
  const style = textOf(node, "style") ?? "form";
  const explode = fieldOf(node, "explode") ?? style === "form";
  if (style === "deepObject") return { kind: "style", style: "brackets" };
  if (explode === true) return { kind: "style", style: undefined };
  if (style === "pipeDelimited") return { kind: "separated", name: "|" };
  if (style === "spaceDelimited") return { kind: "separated", name: "a space" };
  return { kind: "style", style: "comma" };
}

/** Converts an object in the query: brackets, or one parameter per field. */
function readObject(
  written: Written,
  schema: Schema,
  chosen: ChosenType,
  context: SchemaContext,
): readonly DraftParam[] {
  const { node, name, place } = written;
  const style = textOf(node, "style") ?? "form";
  const example = exampleOf(node, schema, context, written.part);
  if (style === "deepObject")
    return [
      { param: { ...toParam(written, "query", schema, chosen, context), style: "brackets" }, place, example },
    ];
  const explode = fieldOf(node, "explode") ?? style === "form";
  const { fields, required } = fieldsOf(schema);
  if (style !== "form" || explode !== true || fields.size === 0)
    throw new UnfitOperation(
      `query parameter ${quote(name)} is an object, and is not written as deepObject or field by field`,
      place,
    );
  return [...fields].map(([field, part]): DraftParam => {
    const inner = readSchema(part, context);
    const type = typeOfSchema(inner, { isText: true });
    const isRequired = written.isRequired && required.has(field);
    const one = { ...written, name: field, isRequired, place: part.place, node: part.node ?? node };
    const given = isMap(example) ? example.fields.get(field) : inner.example;
    return { param: toParam(one, "query", inner, type, context, false), place: part.place, example: given };
  });
}

/** Returns the toolspec parameter for `schema`. */
function toParam(
  written: Written,
  where: ToolspecParam["in"],
  schema: Schema,
  chosen: ChosenType,
  context: SchemaContext,
  isDescribed = true,
): ToolspecParam {
  const { name, node, isRequired } = written;
  reportNarrowed(written, chosen, context);
  const own = isDescribed ? textOf(node, "description") : undefined;
  const description = describeSchema(schema, chosen, own, context);
  return {
    name,
    in: where,
    type: chosen.type,
    ...(isRequired ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    ...(chosen.values === undefined ? {} : { enum: chosen.values }),
  };
}

function reportNarrowed({ name, place }: Written, { type, lost }: ChosenType, context: SchemaContext): void {
  if (lost.length === 0) return;
  context.findings.report({
    code: "OPENAPI_TYPE_NARROWED",
    message: `Parameter ${quote(name)} may be ${listOf([type, ...lost])}; the tool takes it as ${type}`,
    hint: "change the type in the toolspec if another type is needed",
    place,
  });
}
