/** Edits TOML: the table of a server is added at the end of the file, and removed with its own lines. */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { type AST, getStaticTOMLValue, ParseError, parseTOML } from "toml-eslint-parser";
import { byteOrderMark, lineEndingOf, type ServerPlace, shapeError, syntaxError } from "./server-place.ts";

/** Returns `text` with the server. */
export function addToToml(text: string, place: ServerPlace, entry: JsonObject): string {
  const cleared = removeFromToml(text, place);
  const section = parse(cleared).value[place.section];
  if (section !== undefined && !isJsonObject(section))
    throw shapeError(`"${place.section}" in the file is no table`);
  if (hasInline(cleared, place.section)) {
    throw shapeError(`"${place.section}" is written on one line, which cannot be extended`);
  }
  const newline = lineEndingOf(cleared);
  const gap = cleared.trim() === "" ? "" : cleared.endsWith("\n") ? newline : newline + newline;
  return cleared + gap + tableLines([place.section, place.name], entry).join(newline) + newline;
}

/** Returns `text` without the server. */
export function removeFromToml(text: string, place: ServerPlace): string {
  if (readFromToml(text, place) === undefined) return text;
  const tables = tablesOf(text, [place.section, place.name]);
  if (tables.length === 0)
    throw shapeError(`"${place.section}.${place.name}" is no table of its own in the file`);
  let rest = text;
  // From the last one, so that the places of the others stay.
  for (const [start, end] of tables.toReversed()) rest = rest.slice(0, start) + rest.slice(end);
  return rest;
}

/** Returns the server. */
export function readFromToml(text: string, { section, name }: ServerPlace): JsonObject | undefined {
  const servers = parse(text).value[section];
  const server = isJsonObject(servers) ? servers[name] : undefined;
  return isJsonObject(server) ? server : undefined;
}

/** Returns everything in the file. @throws {ClientsError} */
export function dataOfToml(text: string): unknown {
  return parse(text).value;
}

function parse(text: string): { readonly program: AST.TOMLProgram; readonly value: JsonObject } {
  const toml = withoutMark(text);
  try {
    const program = parseTOML(toml);
    return { program, value: getStaticTOMLValue(program) as JsonObject };
  } catch (error) {
    if (error instanceof ParseError) throw syntaxError(toml, error.index, error.message, "TOML");
    throw error;
  }
}

/** A byte order mark becomes a space, so that places stay. */
function withoutMark(text: string): string {
  return text.startsWith(byteOrderMark) ? ` ${text.slice(1)}` : text;
}

/** Whether the section is the value of a key, such as `servers = { … }`. */
function hasInline(text: string, section: string): boolean {
  const [top] = parse(text).program.body;
  return top.body.some((node) => node.type === "TOMLKeyValue" && keyName(node.key.keys[0]) === section);
}

/**
 * Returns the places of the tables at and below a name: from the first character of the header, or of the empty line
 * before it, to the next table.
 */
function tablesOf(text: string, name: readonly string[]): readonly (readonly [start: number, end: number])[] {
  const [top] = parse(text).program.body;
  const tables = top.body.filter((node) => node.type === "TOMLTable");
  return tables.flatMap((table) => {
    if (!name.every((part, at) => table.resolvedKey[at] === part)) return [];
    const last = table.body.at(-1) ?? table.key;
    const end = endOfLine(text, last.range[1]);
    const start = startOfLine(text, table.range[0]);
    const blank = /(?:^|\n)(\r?\n)$/.exec(text.slice(0, start));
    return [[start - (blank?.[1]?.length ?? 0), end]] as const;
  });
}

function startOfLine(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}

function keyName(key: AST.TOMLBare | AST.TOMLQuoted | undefined): string | undefined {
  return key?.type === "TOMLBare" ? key.name : key?.value;
}

/** Returns the lines of a table, with the tables in it after its values. */
function tableLines(name: readonly string[], entry: JsonObject): readonly string[] {
  const members = Object.entries(entry);
  const values = members.filter(([, value]) => !isJsonObject(value));
  const tables = members.filter((member): member is [string, JsonObject] => isJsonObject(member[1]));
  return [
    `[${name.map(tomlKey).join(".")}]`,
    ...values.map(([key, value]) => `${tomlKey(key)} = ${tomlValue(value)}`),
    ...tables.map(([key, table]) => `${tomlKey(key)} = ${inlineTable(table)}`),
  ];
}

function inlineTable(table: JsonObject): string {
  const members = Object.entries(table).map(([key, value]) => `${tomlKey(key)} = ${tomlValue(value)}`);
  return `{ ${members.join(", ")} }`;
}

function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : tomlText(key);
}

function tomlValue(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  return typeof value === "string" ? tomlText(value) : JSON.stringify(value);
}

/** A basic string of TOML has the escapes of JSON, and one character more that must be escaped. */
function tomlText(text: string): string {
  return JSON.stringify(text).replaceAll("\u007F", "\\u007F");
}
