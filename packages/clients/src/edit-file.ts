/**
 * Adds a server to the text of a client's file and removes it, in the format of the file. Everything else keeps its
 * bytes: comments, order, layout. A file in a form that cannot be edited this way is an error, and never changed.
 * Pure.
 */

import type { JsonObject } from "@toolcrib/json";
import type { ClientProgram } from "./client-program.ts";
import { ClientsError } from "./clients-error.ts";
import { addToJson, dataOfJson, readFromJson, removeEmptyFromJson, removeFromJson } from "./edit-json.ts";
import { addToToml, dataOfToml, readFromToml, removeFromToml } from "./edit-toml.ts";
import { addToYaml, dataOfYaml, readFromYaml, removeEmptyFromYaml, removeFromYaml } from "./edit-yaml.ts";
import { memberOf, parseFile, textOf } from "./file-tree.ts";
import { type ServerPlace, shapeError } from "./server-place.ts";

/** Largest text that is edited, in characters. Claude Code keeps its history in its file. */
const textMaxLength = 64 * 1024 * 1024;

const formats = {
  json: {
    add: addToJson,
    remove: removeFromJson,
    removeEmpty: removeEmptyFromJson,
    read: readFromJson,
    data: dataOfJson,
  },
  toml: {
    add: addToToml,
    remove: removeFromToml,
    // The section is part of the names of its tables.
    removeEmpty: (text: string) => text,
    read: readFromToml,
    data: dataOfToml,
  },
  yaml: {
    add: addToYaml,
    remove: removeFromYaml,
    removeEmpty: removeEmptyFromYaml,
    read: readFromYaml,
    data: dataOfYaml,
  },
};

/**
 * Returns `text` with `entry` as the server `name`, which replaces one with that name.
 *
 * @param text an empty text where there is no file
 * @throws {ClientsError}
 */
export function withServer(text: string, program: ClientProgram, name: string, entry: JsonObject): string {
  const whole = bounded(text, () => withSection(text, program));
  return edited(whole, program, name, (place) => formats[program.format].add(whole, place, entry));
}

/** Whether the section of the servers has an entry of this name, in any form. @throws {ClientsError} */
export function hasServer(text: string, program: ClientProgram, name: string): boolean {
  return bounded(text, () => {
    const section = memberOf(parseFile(text, program.format), program.section);
    if (section?.kind === "list")
      return section.items.some((item) => textOf(memberOf(item, "name")) === name);
    return section?.kind === "map" && section.members.some(({ key }) => key === name);
  });
}

/** Writes a section that is null as an empty one, which can be extended. */
function withSection(text: string, { section, format, isList, isSectionOptional }: ClientProgram): string {
  if (format === "toml") return text;
  const root = parseFile(text, format);
  if (isSectionOptional === true && root?.kind === "map" && root.members.length > 0) {
    // With the section, the client would not see the servers beside it any more.
    if (!root.members.some(({ key }) => key === section))
      throw shapeError(`The file lists servers without "${section}" around them`);
  }
  const member = root?.kind === "map" ? root.members.find(({ key }) => key === section) : undefined;
  if (member?.value.kind !== "scalar" || member.value.value !== null) return text;
  const empty = isList === true ? "[]" : "{}";
  const { at } = member.value;
  const written = /^(?:null|~)(?![\w])/i.exec(text.slice(at))?.[0];
  if (written !== undefined) return text.slice(0, at) + empty + text.slice(at + written.length);
  const colon = text.indexOf(":", member.at + section.length) + 1;
  return `${text.slice(0, colon)} ${empty}${text.slice(colon)}`;
}

/**
 * Returns `text` without the server `name`; the same text where it has none.
 *
 * @param before the file as it was without the server: where that has no section, an empty one is removed, too
 * @throws {ClientsError}
 */
export function withoutServer(text: string, program: ClientProgram, name: string, before?: string): string {
  return edited(text, program, name, (place) => {
    const { remove, removeEmpty } = formats[program.format];
    const rest = remove(text, place);
    if (rest === text || before === undefined || hasSection(before, program)) return rest;
    return removeEmpty(rest, place);
  });
}

/** Whether a file has a section of servers; also where it is not readable, so that nobody knows. */
function hasSection(text: string, { format, section }: ClientProgram): boolean {
  try {
    const root = parseFile(text, format);
    return root?.kind === "map" && root.members.some(({ key }) => key === section);
  } catch (error) {
    if (error instanceof ClientsError) return true;
    throw error;
  }
}

/**
 * Returns the entry of the server `name`; undefined where there is none.
 *
 * @throws {ClientsError}
 */
export function serverIn(text: string, program: ClientProgram, name: string): JsonObject | undefined {
  return bounded(text, () => formats[program.format].read(text, placeOf(program, name)));
}

/** Returns the edited text, after a check that it says the same about everything else. @throws {ClientsError} */
function edited(
  text: string,
  program: ClientProgram,
  name: string,
  edit: (place: ServerPlace) => string,
): string {
  const place = placeOf(program, name);
  return bounded(text, () => {
    const after = edit(place);
    if (after === text) return text;
    const { data } = formats[program.format];
    const before = othersIn(data(text, place), place);
    const read = dataAfter(() => data(after, place));
    if (isSame(before, othersIn(read, place))) return after;
    throw unsafeForm(place);
  });
}

/** Whether two values of files are the same, with times, which are objects without members. */
function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  if (one instanceof Date || other instanceof Date) {
    return one instanceof Date && other instanceof Date && Object.is(one.getTime(), other.getTime());
  }
  const others = new Map<string, unknown>(Object.entries(other));
  const members = Object.entries(one);
  return (
    members.length === others.size &&
    members.every(([key, value]) => others.has(key) && isSame(value, others.get(key)))
  );
}

/** Reads the result of an edit, which its user did not write: an error of it says nothing about the file. */
function dataAfter(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof ClientsError) return undefined;
    throw error;
  }
}

function unsafeForm({ section, name }: ServerPlace): ClientsError {
  return shapeError(
    `"${section}" in the file is written in a form in which "${name}" cannot be changed without a change of other entries`,
  );
}

/** Returns what a file says besides the server; a section without other servers is as good as none. */
function othersIn(data: unknown, { section, name }: ServerPlace): unknown {
  if (data === null) return {};
  if (typeof data !== "object") return data;
  const members = Object.entries(data).map(([key, value]): [string, unknown] => [
    key,
    key === section ? othersOf(value, name) : value,
  ]);
  return Object.fromEntries(members.filter(([key, value]) => key !== section || !isEmpty(value)));
}

function othersOf(section: unknown, name: string): unknown {
  if (Array.isArray(section)) return section.filter((server) => server?.name !== name);
  if (typeof section !== "object" || section === null) return section;
  return Object.fromEntries(Object.entries(section).filter(([key]) => key !== name));
}

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === "object" && Object.keys(value).length === 0);
}

function placeOf({ section, isList }: ClientProgram, name: string): ServerPlace {
  return { section, name, isList: isList === true };
}

/** Works on a text that is not too large and not too deep for the parsers, which are recursive. @throws {ClientsError} */
function bounded<Result>(text: string, work: () => Result): Result {
  if (text.length > textMaxLength) {
    throw new ClientsError(
      "CLIENTS_FILE_TOO_LARGE",
      `The file has ${text.length} characters; at most ${textMaxLength} are edited`,
      { hint: "add the server in the client itself" },
    );
  }
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw shapeError("The values in the file are nested too deeply");
    throw error;
  }
}
