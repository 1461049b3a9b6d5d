/**
 * Converts the request body of an operation: each field of a JSON object or a form
 * becomes a parameter; any other body is one parameter. Of several media types,
 * the one that a toolspec expresses best is used.
 */

import { quote } from "@toolcrib/document";
import type { ParamStyle, ToolspecParam, ToolspecTool } from "@toolcrib/toolspec";
import { listOf, type Place } from "../document/findings.ts";
import { entriesOf, fieldOf, isMap, isSet, type Node, textOf } from "../document/node.ts";
import type { Operation } from "../operations.ts";
import { describeSchema, itemsOfSchema } from "../schema/describe-schema.ts";
import {
  isBinary,
  isMarked,
  readSchema,
  type Schema,
  type SchemaContext,
  type SchemaPart,
} from "../schema/read-schema.ts";
import { fieldsOf, typeOfSchema, typesOf } from "../schema/type-of-schema.ts";
import { toPlainLine } from "../write/plain-text.ts";
import { type DraftParam, UnfitOperation } from "./draft-param.ts";

/** A body as parameters. */
export interface Body {
  /** `undefined` when there is no body. */
  readonly encoding: ToolspecTool["encoding"] | undefined;
  readonly params: readonly DraftParam[];
  /** Example of the whole body in the document. */
  readonly example: Node | undefined;
}

const none: Body = { encoding: undefined, params: [], example: undefined };
const bodyMethods: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);
const mediaPattern = /^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+(?:; ?[A-Za-z0-9_-]+=[A-Za-z0-9_.-]+)*$/;

interface Media {
  readonly type: string;
  readonly node: Node;
  readonly rank: number;
}

/** Converts the body of `operation`. @throws {UnfitOperation} when the body is required and cannot be sent. */
export function readBody(operation: Operation, context: SchemaContext): Body {
  const own = { file: operation.file, owner: operation.node, key: "requestBody" };
  const written = fieldOf(operation.node, "requestBody");
  if (written === undefined) return none;
  const { node, file } = context.documents.follow(
    { node: written, file: operation.file },
    context.findings,
    own,
  );
  const isRequired = isSet(node, "required");
  if (!bodyMethods.has(operation.method)) {
    if (isRequired)
      throw new UnfitOperation(`${operation.method} is sent without a body, and its body is required`, own);
    context.findings.report({
      code: "OPENAPI_BODY_UNFIT",
      message: `The body of operation ${quote(operation.label)} is left out: ${operation.method} is sent without one`,
      place: own,
    });
    return none;
  }
  const all = entriesOf(node, "content").map(
    ([type, media]): Media => ({ type, node: media, rank: rankOf(type) }),
  );
  const [media] = all.filter(({ rank }) => rank > 0).sort((a, b) => b.rank - a.rank);
  if (media === undefined) {
    if (all.length === 0) return none;
    const reason = `its body is of ${listOf(all.map(({ type }) => quote(type)))}, which cannot be sent`;
    if (isRequired) throw new UnfitOperation(reason, own);
    context.findings.report({
      code: "OPENAPI_BODY_UNFIT",
      message: `The body of operation ${quote(operation.label)} is left out: ${reason}`,
      place: own,
    });
    return none;
  }
  const owner = fieldOf(node, "content");
  const place: Place = { file, owner, key: media.type };
  const part = { node: fieldOf(media.node, "schema"), file, place };
  const body = readMedia({
    operation,
    context,
    media,
    part,
    place,
    isRequired,
    description: textOf(node, "description"),
  });
  const [first] = entriesOf(media.node, "examples");
  const named =
    first === undefined
      ? undefined
      : context.documents.follow({ node: first[1], file }, context.findings, place).node;
  return { ...body, example: fieldOf(media.node, "example") ?? fieldOf(named, "value") ?? body.example };
}

function rankOf(type: string): number {
  const plain = essence(type);
  if (plain === "application/json") return 9;
  if (plain === "*/*") return 3;
  if (!mediaPattern.test(type) || type.includes("*")) return plain.endsWith("/*") ? 1 : 0;
  if (plain.endsWith("+json")) return plain.includes("patch") ? 6 : 8;
  if (plain === "application/x-www-form-urlencoded") return 7;
  if (plain === "multipart/form-data") return 5;
  if (plain.startsWith("multipart/")) return 0;
  return plain.startsWith("text/") ? 4 : 2;
}

function essence(type: string): string {
  return type.replace(/;.*$/s, "").trim().toLowerCase();
}

interface MediaReading {
  readonly operation: Operation;
  readonly context: SchemaContext;
  readonly media: Media;
  readonly part: SchemaPart;
  readonly place: Place;
  readonly isRequired: boolean;
  readonly description: string | undefined;
}

function readMedia(reading: MediaReading): Body {
  const { media, context, part } = reading;
  const schema = readSchema(part, context);
  const plain = essence(media.type);
  if (plain === "application/x-www-form-urlencoded") return readFields(reading, schema, "form");
  if (plain === "multipart/form-data") return readFields(reading, schema, "multipart");
  const isJson = plain === "application/json" || plain.endsWith("+json");
  const { fields } = fieldsOf(schema);
  const isObject = typesOf(schema, 0)[0] === "object" && fields.size > 0;
  if (!isJson || !isObject) return readWhole(reading, schema, isJson);
  const body = readFields(reading, schema, "json");
  return plain === "application/json" ? body : { ...body, params: [...body.params, mediaHeader(reading)] };
}

/** Whether a media type other than application/json is JSON. */
function mediaHeader({ media, place }: MediaReading): DraftParam {
  return {
    param: { name: "Content-Type", in: "header", type: "string", value: media.type },
    place,
    example: undefined,
  };
}

function readFields(reading: MediaReading, schema: Schema, encoding: "json" | "form" | "multipart"): Body {
  const { context, media, operation } = reading;
  const { fields, required, takesMore } = fieldsOf(schema);
  const params: DraftParam[] = [];
  for (const [name, part] of fields) {
    const field = readSchema(part, context);
    if (isMarked(field, "readOnly") && encoding === "json") continue;
    if (name === "" || name.length > 256 || name.includes("\0")) continue;
    const isRequired = required.has(name);
    const settings = fieldOf(fieldOf(media.node, "encoding"), name);
    params.push({
      param: toParam({ name, part, field, isRequired, encoding, settings, operation, context }),
      place: part.place,
      example: field.example,
    });
  }
  if (takesMore && params.length > 0 && encoding === "json" && fields.size === 0)
    return readWhole(reading, schema, true);
  return {
    encoding: params.length === 0 && encoding !== "json" ? undefined : encoding,
    params,
    example: schema.example,
  };
}

interface FieldReading {
  readonly name: string;
  readonly part: SchemaPart;
  readonly field: Schema;
  readonly isRequired: boolean;
  readonly encoding: "json" | "form" | "multipart";
  /** From `encoding` of the media type. */
  readonly settings: Node | undefined;
  readonly operation: Operation;
  readonly context: SchemaContext;
}

function toParam(one: FieldReading): ToolspecParam {
  const { name, part, field, isRequired, encoding, settings, operation, context } = one;
  const items = itemsOfSchema(field);
  // One item of a list of files: base64 applies to strings only.
  const isFileList = encoding === "multipart" && items !== undefined && isBinary(readSchema(items, context));
  const isFile = encoding === "multipart" && (isBinary(field) || isFileList);
  const chosen = typeOfSchema(field, { isText: encoding !== "json" });
  const type = isFile ? "string" : chosen.type;
  if (isFileList) report(`may be several files; the tool sends one`);
  else if (chosen.lost.length > 0 && !isFile)
    report(`may be ${listOf([type, ...chosen.lost])}; the tool takes it as ${type}`);
  function report(state: string): void {
    context.findings.report({
      code: "OPENAPI_TYPE_NARROWED",
      message: `Parameter ${quote(name)} of operation ${quote(operation.label)} ${state}`,
      hint: "change the type in the toolspec if another type is needed",
      place: part.place,
    });
  }
  const said = describeSchema(field, isFile ? { ...chosen, type } : chosen, undefined, context);
  const description = isFile ? inBase64(said) : said;
  const media = textOf(settings, "contentType")?.trim();
  const isMedia = encoding === "multipart" && media !== undefined && mediaPattern.test(media);
  const style = encoding === "form" ? formStyle(settings, type) : undefined;
  return {
    name,
    in: "body",
    type,
    ...(isRequired ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    ...(chosen.values === undefined || isFile ? {} : { enum: chosen.values }),
    ...(style === undefined ? {} : { style }),
    ...(isFile ? { contentEncoding: "base64" as const } : {}),
    ...(isMedia ? { contentType: media } : {}),
  };
}

function inBase64(said: string | undefined): string {
  return said === undefined ? "In base64" : `${said.replace(/\.$/, "")}. In base64`;
}

function formStyle(settings: Node | undefined, type: ToolspecParam["type"]): ParamStyle | undefined {
  const style = textOf(settings, "style");
  if (type !== "array" && type !== "object") return undefined;
  if (style === "deepObject") return "brackets";
  const isJoined = type === "array" && fieldOf(settings, "explode") === false;
  return isJoined ? "comma" : undefined;
}

/** Returns one parameter that is the whole body. */
function readWhole(reading: MediaReading, schema: Schema, isJson: boolean): Body {
  const { media, place, isRequired, context, description } = reading;
  const plain = essence(media.type);
  const hasType = mediaPattern.test(media.type) && !media.type.includes("*");
  const isText = /^text\/|\bxml\b|\+xml$|yaml|graphql|csv|ndjson|jsonl|javascript|html/.test(plain);
  const isBytes = !isJson && !isText;
  // JSON without a schema is usually an object.
  const chosen =
    typesOf(schema, 0).length === 0 && isJson
      ? { type: "object" as const, lost: [], values: undefined }
      : typeOfSchema(schema, { isText: !isJson });
  const type = isJson && chosen.type !== "string" ? chosen.type : "string";
  // A JSON string needs quotes, which a raw body does not add.
  if (isJson && type !== "object" && type !== "array")
    throw new UnfitOperation(`its body is a JSON ${chosen.type}, which cannot be sent`, place);
  const said =
    describeSchema(schema, { ...chosen, type }, description, context) ??
    `The body, as ${toPlainLine(plain, 80)}.`;
  const param: ToolspecParam = {
    name: "body",
    in: "body",
    type,
    required: true,
    description: isBytes ? inBase64(said) : said,
    ...(isBytes ? { contentEncoding: "base64" as const } : {}),
    ...(hasType && plain !== "application/octet-stream" ? { contentType: media.type } : {}),
  };
  const optional = { ...param };
  if (!isRequired) delete (optional as { required?: boolean }).required;
  return {
    encoding: "raw",
    params: [{ param: isRequired ? param : optional, place, example: undefined }],
    example: isMap(schema.example) ? schema.example : undefined,
  };
}
