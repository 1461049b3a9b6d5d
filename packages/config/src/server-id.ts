/**
 * Rules for the ids of tool servers. An id is the first part of the names of its
 * tools (`id:name`, on the wire `id__name`), so it must be valid there, and differ
 * from other ids in more than case and separators.
 */

/** Longest id. At least 22 of the 64 characters of a wire name remain for the tool. */
export const serverIdMaxLength = 40;

/** Source of the regular expression that a whole id matches: no `__`, no `_` at the end. */
export const serverIdPattern = "[A-Za-z0-9](?:_?[A-Za-z0-9.-])*";

/** Namespaces of Toolcrib's own tools. */
const reservedIds: ReadonlySet<string> = new Set(["saved", "toolcrib"]);

const wholeId = new RegExp(`^(?:${serverIdPattern})$`);

/** Returns why `id` (trimmed) cannot be the id of a tool server; `undefined` when it can. */
export function lintServerId(id: string): { readonly reason: string; readonly fix: string } | undefined {
  if (reservedIds.has(foldServerId(id))) {
    return { reason: "this name is reserved for Toolcrib's own tools", fix: `${id}-server` };
  }
  if (id.length <= serverIdMaxLength && wholeId.test(id)) return undefined;
  return { reason: reasonOf(id), fix: toServerId(id) };
}

function reasonOf(id: string): string {
  if (id.includes("__")) return "__ separates server and tool in tool names";
  if (id.length > serverIdMaxLength) return `it is longer than ${serverIdMaxLength} characters`;
  if (!/^[A-Za-z0-9]/.test(id)) return "it must begin with a letter or digit";
  if (id.endsWith("_")) return "it cannot end with _, because __ follows it in tool names";
  return "letters, digits and _ . - are allowed";
}

/** Returns the form in which two easily confused ids are equal: lower case, with one separator. */
export function foldServerId(id: string): string {
  return id.toLowerCase().replace(/[_.-]+/g, "-");
}

/** Returns the most similar valid id: `My Server` becomes `My-Server`. */
export function toServerId(name: string): string {
  const id = name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .trim()
    .replace(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/__+/g, "_")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, serverIdMaxLength)
    .replace(/[_-]+$/, "");
  if (id === "") return "server";
  return reservedIds.has(foldServerId(id)) ? `${id}-server` : id;
}
