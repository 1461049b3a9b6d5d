/**
 * Edits JSON with comments and trailing commas, as clients accept it. A member is added on lines of its own after the
 * last one, and removed with these lines; nothing else is formatted.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import {
  createScanner,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { byteOrderMark, lineEndingOf, type ServerPlace, shapeError, syntaxError } from "./server-place.ts";

/** Returns `text` with the server. */
export function addToJson(text: string, place: ServerPlace, entry: JsonObject): string {
  if (withoutMark(text).trim() === "") {
    return `${JSON.stringify({ [place.section]: { [place.name]: entry } }, undefined, 2)}\n`;
  }
  const cleared = removeFromJson(text, place);
  const { root, section } = parse(cleared, place);
  return section === undefined
    ? withMember(cleared, root, place.section, { [place.name]: entry })
    : withMember(cleared, section, place.name, entry);
}

/** Returns `text` without the server. */
export function removeFromJson(text: string, place: ServerPlace): string {
  if (withoutMark(text).trim() === "") return text;
  const { section } = parse(text, place);
  const at = section?.children?.findIndex((member) => keyOf(member) === place.name) ?? -1;
  return section === undefined || at === -1 ? text : withoutMember(text, section, at);
}

/** Returns `text` without the section, where it is empty. */
export function removeEmptyFromJson(text: string, place: ServerPlace): string {
  const { root, section } = parse(text, place);
  if (
    section === undefined ||
    text.slice(section.offset + 1, section.offset + section.length - 1).trim() !== ""
  )
    return text;
  const at = root.children?.findIndex((member) => keyOf(member) === place.section) ?? -1;
  return withoutMember(text, root, at);
}

/** Returns the server. */
export function readFromJson(text: string, place: ServerPlace): JsonObject | undefined {
  if (withoutMark(text).trim() === "") return undefined;
  const member = parse(text, place).section?.children?.find((one) => keyOf(one) === place.name);
  if (member?.children?.[1] === undefined) return undefined;
  // Of its objects, which have no prototype, come usual ones.
  const value = JSON.parse(JSON.stringify(getNodeValue(member.children[1]))) as JsonValue;
  return isJsonObject(value) ? value : undefined;
}

/** Returns everything in the file. @throws {ClientsError} */
export function dataOfJson(text: string, place: ServerPlace): unknown {
  return withoutMark(text).trim() === "" ? {} : getNodeValue(parse(text, place).root);
}

/** A byte order mark becomes a space, so that places stay. */
function withoutMark(text: string): string {
  return text.startsWith(byteOrderMark) ? ` ${text.slice(1)}` : text;
}

/** Returns the object of the file, and that of its servers where there is one. @throws {ClientsError} */
function parse(
  text: string,
  { section, name }: ServerPlace,
): { readonly root: Node; readonly section?: Node } {
  const errors: ParseError[] = [];
  const root = parseTree(withoutMark(text), errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) throw syntaxError(text, error.offset, printParseErrorCode(error.error), "JSON");
  if (root?.type !== "object") throw shapeError("The file contains no object");
  const found = (root.children ?? []).filter((member) => keyOf(member) === section);
  const [member] = found;
  if (member === undefined) return { root };
  const value = member.children?.[1];
  if (found.length > 1) throw shapeError(`The file has ${found.length} members "${section}"`);
  if (value?.type !== "object") throw shapeError(`"${section}" in the file is no object`);
  const named = (value.children ?? []).filter((one) => keyOf(one) === name);
  if (named.length > 1) throw shapeError(`"${section}" has "${name}" more than once`);
  return { root, section: value };
}

function keyOf(member: Node): unknown {
  return member.children?.[0]?.value;
}

/** Kinds of tokens of jsonc-parser, whose own names exist only in its types. */
const kinds = { comma: 5, lineComment: 12, blockComment: 13, lineBreak: 14, space: 15 };

/** The text after a member, up to the next one or the end of its object. */
interface Following {
  /** Place of the comma after the member; undefined where there is none. */
  readonly comma: number | undefined;
  /** Place of the first line break that is in no comment; undefined where there is none. */
  readonly lineBreak: number | undefined;
}

function following(text: string, from: number): Following {
  const scanner = createScanner(withoutMark(text), false);
  scanner.setPosition(from);
  let comma: number | undefined;
  let lineBreak: number | undefined;
  for (;;) {
    const kind: number = scanner.scan();
    if (kind === kinds.lineBreak) lineBreak ??= scanner.getTokenOffset();
    else if (kind === kinds.comma && comma === undefined) comma = scanner.getTokenOffset();
    else if (kind !== kinds.space && kind !== kinds.lineComment && kind !== kinds.blockComment)
      return { comma, lineBreak };
  }
}

function withMember(text: string, object: Node, key: string, value: JsonObject): string {
  const members = object.children ?? [];
  const last = members.at(-1);
  const newline = lineEndingOf(text);
  const unit = unitOf(text);
  const base = indentationAt(text, object.offset);
  const isOneLine = !text.slice(object.offset, object.offset + object.length).includes("\n");
  if (last === undefined) {
    const end = object.offset + object.length - 1;
    const inner = text.slice(object.offset + 1, end);
    // An object in a file of one line stays in it.
    if (!text.trim().includes("\n") && text.trim().length > 2) {
      return `${text.slice(0, object.offset + 1)}${oneLine(key, value)}${text.slice(object.offset + 1)}`;
    }
    const lines = `${newline}${base}${unit}${memberText(key, value, base + unit, unit, newline)}`;
    const rest = inner.trim() === "" ? `${newline}${base}` : inner;
    return text.slice(0, object.offset + 1) + lines + rest + text.slice(end);
  }
  const lastEnd = last.offset + last.length;
  const { comma, lineBreak } = following(text, lastEnd);
  if (isOneLine || lineBreak === undefined) {
    const at = comma === undefined ? lastEnd : comma + 1;
    const added = `${comma === undefined ? "," : ""} ${oneLine(key, value)}`;
    return text.slice(0, at) + added + text.slice(at);
  }
  const indentation = indentationAt(text, last.offset);
  const lines = `${newline}${indentation}${memberText(key, value, indentation, unit, newline)}`;
  return comma === undefined
    ? `${text.slice(0, lastEnd)},${text.slice(lastEnd, lineBreak)}${lines}${text.slice(lineBreak)}`
    : `${text.slice(0, lineBreak)}${lines},${text.slice(lineBreak)}`;
}

function withoutMember(text: string, object: Node, at: number): string {
  const members = object.children ?? [];
  const member = members[at] as Node;
  const previous = members[at - 1];
  const isLast = at === members.length - 1;
  const end = member.offset + member.length;
  const { comma } = following(text, end);
  // With the line break before it, where it begins a line.
  const before = /\r?\n?[^\S\n]*$/.exec(text.slice(0, member.offset));
  const start = before?.[0].includes("\n") === true ? before.index : member.offset;
  const stop = comma === undefined ? end : comma + 1;
  const isOwnLine = start < member.offset;
  if (isLast && comma === undefined && previous !== undefined) {
    const previousEnd = previous.offset + previous.length;
    const separator = following(text, previousEnd).comma ?? previousEnd;
    const head =
      text.slice(0, separator) + text.slice(separator + 1, start).replace(isOwnLine ? /$/ : /[^\S\n]+$/, "");
    return head + text.slice(stop);
  }
  const rest = text.slice(stop);
  const removed = text.slice(0, start) + (isOwnLine ? rest : rest.replace(/^ /, ""));
  if (members.length > 1) return removed;
  const closing = text.slice(stop, object.offset + object.length - 1);
  const inner = text.slice(object.offset + 1, start) + closing;
  return inner.trim() === ""
    ? text.slice(0, object.offset + 1) + text.slice(object.offset + object.length - 1)
    : removed;
}

function memberText(
  key: string,
  value: JsonObject,
  indentation: string,
  unit: string,
  newline: string,
): string {
  const lines = JSON.stringify(value, undefined, unit).split("\n");
  return `${JSON.stringify(key)}: ${lines.join(`${newline}${indentation}`)}`;
}

function oneLine(key: string, value: JsonObject): string {
  return `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
}

/** The indentation of the line of a place. */
function indentationAt(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const line = text.slice(start, at);
  // A mark is white space in expressions, and no indentation.
  return /^[^\S\n]*/.exec(line.startsWith(byteOrderMark) ? line.slice(1) : line)?.[0] ?? "";
}

/** The indentation of one level. */
function unitOf(text: string): string {
  return /^[^\S\r\n]+(?=["}\]/])/m.exec(text)?.[0] ?? "  ";
}
