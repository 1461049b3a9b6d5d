/**
 * An entry of `tool_servers` as previews, `--json` and errors show it: without values that look like secrets, of
 * which `toolcrib add` warns and which the configuration gets as they are. Pure.
 */

import { judgeArguments } from "@toolcrib/config";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { secretVerdict } from "@toolcrib/redaction";

const notShown = "[not shown]";

/** Returns `entry` with the literals that look like secrets replaced: in the URL, arguments, variables and headers. */
export function shownEntry(entry: JsonObject): JsonObject {
  const { transport } = entry;
  if (!isJsonObject(transport)) return entry;
  const { url, command, args, env, headers } = transport;
  const shown: { [name: string]: JsonValue | undefined } = { ...transport };
  if (typeof url === "string") shown["url"] = shownUrl(url);
  if (Array.isArray(args)) shown["args"] = shownWords(typeof command === "string" ? command : "", args);
  if (isJsonObject(env)) shown["env"] = shownMembers("variable", env);
  if (isJsonObject(headers)) shown["headers"] = shownMembers("header", headers);
  return { ...entry, transport: shown };
}

/** Returns a URL, or its origin where it looks like a secret or contains one. */
export function shownUrl(text: string): string {
  if (secretVerdict("url", "", text) === undefined) return text;
  // Other schemes have none.
  const site = URL.canParse(text) ? new URL(text).origin : "null";
  return site === "null" ? notShown : `${site}/${notShown}`;
}

/** Returns the arguments of a command without those that look like secrets. */
export function shownWords<Word extends JsonValue>(
  command: string,
  words: readonly Word[],
): readonly (Word | string)[] {
  const { secrets } = judgeArguments(
    command,
    words.map((word) => (typeof word === "string" ? word : undefined)),
  );
  return words.map((word, at) => (typeof word === "string" && secrets.has(at) ? notShown : word));
}

function shownMembers(role: "variable" | "header", members: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      typeof value === "string" && secretVerdict(role, name, value) !== undefined ? notShown : value,
    ]),
  );
}
