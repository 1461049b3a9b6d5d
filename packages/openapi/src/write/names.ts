/** Names that models and clients take, from whatever a document calls things. Pure. */

/** Longest name of a tool. */
const toolNameMaxLength = 64;

/** `text` in snake_case of ASCII; empty where nothing of it is left. */
export function toSnakeCase(text: string): string {
  return (
    text
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      // OAuth is one word, and so are IDs.
      .replaceAll("OAuth", "Oauth")
      .replace(
        /([A-Z])([A-Z]+)s(?![a-z])/g,
        (_, first: string, rest: string) => `${first}${rest.toLowerCase()}s`,
      )
      .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
      .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
      .replace(/[^A-Za-z0-9]+/g, "_")
      .replace(/^_+|_+$/g, "")
      .toLowerCase()
  );
}

/** Makes names of tools that are used once only. */
export function createToolNames(): (operationId: string | undefined, method: string, path: string) => string {
  const taken = new Set<string>();
  return (operationId, method, path) => {
    const own = toSnakeCase(operationId ?? "");
    // An id of digits or of one letter says nothing.
    const name = /[a-z]{2}/.test(own) ? own : nameOfPath(method, path);
    const base = cut(name, toolNameMaxLength);
    let free = base;
    for (let count = 2; taken.has(free); count += 1)
      free = `${cut(base, toolNameMaxLength - String(count).length - 1)}_${count}`;
    taken.add(free);
    return free;
  };
}

/** `get_users_by_id_posts` of `GET /users/{id}/posts`. */
function nameOfPath(method: string, path: string): string {
  const words = path
    .split("/")
    .flatMap((segment) =>
      segment
        .split(/(\{[^{}]*\})/)
        .map((piece) => (piece.startsWith("{") ? `by_${toSnakeCase(piece)}` : toSnakeCase(piece))),
    )
    .filter((word) => word !== "");
  return [method.toLowerCase(), ...words].join("_");
}

function cut(name: string, maxLength: number): string {
  if (name.length <= maxLength) return name;
  const head = name.slice(0, maxLength);
  const word = head.lastIndexOf("_");
  return (word > maxLength / 2 && name[maxLength] !== "_" ? head.slice(0, word) : head).replace(/_+$/, "");
}

/** A title as the name of a manifest, `GitHub` as `github`; empty where nothing of it is left. */
export function toEntryName(text: string): string {
  return toSnakeCase(text.toLowerCase()).replaceAll("_", "-").slice(0, 64).replace(/-+$/, "");
}

/** `text` as the name of a parameter, where its name is ours to choose. */
export function toParamName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9_.-]+/g, "_").slice(0, 64);
  return /[A-Za-z0-9]/.test(name) ? name : "value";
}
