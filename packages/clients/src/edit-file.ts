/**
 * Adds a server to the text of a client's file and removes it, in the format of the file. Everything else keeps its
 * bytes: comments, order, layout. A file in a form that cannot be edited this way is an error, and never changed.
 * Pure.
 */

import type { JsonObject } from "@toolcrib/json";
import type { ClientProgram } from "./client-program.ts";
import { ClientsError } from "./clients-error.ts";
import { addToJson, readFromJson, removeFromJson } from "./edit-json.ts";
import { addToToml, readFromToml, removeFromToml } from "./edit-toml.ts";
import { addToYaml, readFromYaml, removeFromYaml } from "./edit-yaml.ts";
import type { ServerPlace } from "./server-place.ts";

/** Largest text that is edited, in characters. Claude Code keeps its history in its file. */
const textMaxLength = 64 * 1024 * 1024;

const formats = {
  json: { add: addToJson, remove: removeFromJson, read: readFromJson },
  toml: { add: addToToml, remove: removeFromToml, read: readFromToml },
  yaml: { add: addToYaml, remove: removeFromYaml, read: readFromYaml },
};

/**
 * Returns `text` with `entry` as the server `name`, which replaces one with that name.
 *
 * @param text an empty text where there is no file
 * @throws {ClientsError}
 */
export function withServer(text: string, program: ClientProgram, name: string, entry: JsonObject): string {
  return formats[program.format].add(checked(text), placeOf(program, name), entry);
}

/**
 * Returns `text` without the server `name`; the same text where it has none.
 *
 * @throws {ClientsError}
 */
export function withoutServer(text: string, program: ClientProgram, name: string): string {
  return formats[program.format].remove(checked(text), placeOf(program, name));
}

/**
 * Returns the entry of the server `name`; undefined where there is none.
 *
 * @throws {ClientsError}
 */
export function serverIn(text: string, program: ClientProgram, name: string): JsonObject | undefined {
  return formats[program.format].read(checked(text), placeOf(program, name));
}

function placeOf({ section, isList }: ClientProgram, name: string): ServerPlace {
  return { section, name, isList: isList === true };
}

function checked(text: string): string {
  if (text.length <= textMaxLength) return text;
  throw new ClientsError(
    "CLIENTS_FILE_TOO_LARGE",
    `The file has ${text.length} characters; at most ${textMaxLength} are edited`,
    { hint: "add the server in the client itself" },
  );
}
