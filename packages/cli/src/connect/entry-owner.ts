/** Which gateway an entry in the file of a client is for, whatever else its user or the client changed in it. Pure. */

import { type ClientProgram, serverIn } from "@toolcrib/clients";
import { isJsonObject, type JsonValue } from "@toolcrib/json";
import { type Connection, sha256Of } from "./connection-store.ts";

/**
 * Returns a digest of the gateway that an entry names: the home in the arguments of its command, or its address and
 * token. Two homes can have the same address, at different times.
 */
export function ownerOf(entry: JsonValue | undefined): string {
  const texts = textsOf(entry);
  const home = texts.indexOf("--home");
  const named =
    home === -1
      ? texts.filter((text) => /^(?:https?:\/\/|Bearer )/.test(text)).sort()
      : [texts[home + 1] ?? ""];
  return sha256Of(JSON.stringify(named));
}

/** Whether the entry of a connection in `text` is still for the gateway that wrote it; also where there is no entry. */
export function isOwnEntry(text: string, program: ClientProgram, { server, owner }: Connection): boolean {
  const entry = serverIn(text, program, server);
  // Records of earlier versions do not say.
  return entry === undefined || owner === undefined || ownerOf(entry) === owner;
}

/** All texts in a value, in their order. */
function textsOf(value: JsonValue | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return isJsonObject(value) ? Object.values(value).flatMap(textsOf) : [];
}
