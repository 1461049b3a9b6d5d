/**
 * Shows the binding of each name in a program, in source order: `x:local0
 * len:universal`. No I/O.
 */

import type { Expression, File } from "@toolcrib/starlark";

type Identifier = Extract<Expression, { readonly kind: "Identifier" }>;
type Binding = NonNullable<Identifier["binding"]>;

type Scope = NonNullable<File["scope"]>;

export function showBindings(file: File): string {
  const names: Identifier[] = [];
  collectNames(file, names);
  return names
    .sort((a, b) => a.start - b.start)
    .map(({ name, binding }) => `${name}:${showBinding(binding)}`)
    .join(" ");
}

export function showBinding(binding: Binding | undefined): string {
  if (binding === undefined) return "?";
  return `${binding.kind}${binding.index < 0 ? "" : binding.index}`;
}

/**
 * `x y
 * z`: the locals (cells with a `&`), and the captured variables.
 */
export function showScope(scope: Scope | undefined): string {
  const locals = scope?.locals.map(({ kind, name }) => (kind === "cell" ? `&${name}` : name)) ?? [];
  const free = scope?.free.map(({ kind, name }) => `${name}(${kind})`) ?? [];
  return `${locals.join(" ")} | ${free.join(" ")}`.trim();
}

/** Names with bindings: not those of fields, keyword arguments or exported names. */
function collectNames(node: object, names: Identifier[]): void {
  if ("kind" in node && node.kind === "Identifier") {
    names.push(node as Identifier);
    return;
  }
  for (const [field, value] of Object.entries(node)) {
    if (field === "source" || field === "scope" || field === "globals") continue;
    if (field === "name" && "kind" in node && node.kind === "named") continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === "object" && child !== null && "start" in child) collectNames(child, names);
    }
  }
}
