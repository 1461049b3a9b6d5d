/** Derives names that models and clients accept from names in a document. Pure. */

/** Longest name of a tool. */
const toolNameMaxLength = 64;

/** Returns `text` in snake_case of ASCII; empty when no character can be kept. */
export function toSnakeCase(text: string): string {
  return (
    text
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      // OAuth and IDs are one word each.
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

/** Generates unique names of tools. */
export function createToolNames(): (operationId: string | undefined, method: string, path: string) => string {
  const taken = new Set<string>();
  return (operationId, method, path) => {
    const own = toSnakeCase(operationId ?? "");
    // An id of digits or of one letter carries no meaning.
    const name = /[a-z]{2}/.test(own) ? own : nameOfPath(method, path);
    const base = cut(name, toolNameMaxLength);
    let free = base;
    for (let count = 2; taken.has(free); count += 1)
      free = `${cut(base, toolNameMaxLength - String(count).length - 1)}_${count}`;
    taken.add(free);
    return free;
  };
}

/** Returns `get_users_by_id_posts` for `GET /users/{id}/posts`. */
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

/** Converts a title to the name of a manifest, `GitHub` to `github`; empty when no character can be kept. */
export function toEntryName(text: string): string {
  return toSnakeCase(text.toLowerCase()).replaceAll("_", "-").slice(0, 64).replace(/-+$/, "");
}

/** Converts `text` to the name of a parameter whose name is not sent. */
export function toParamName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9_.-]+/g, "_").slice(0, 64);
  return /[A-Za-z0-9]/.test(name) ? name : "value";
}
