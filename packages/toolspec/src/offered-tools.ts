/** Values that follow from a manifest, a toolspec and their entry in a configuration. Pure. */

import type { Manifest } from "./manifest/manifest.ts";
import type { Toolspec } from "./spec/toolspec.ts";

/** The entry of a list of tools that stands for those that the manifest enables. */
const defaultTools = "default";

/**
 * Returns the names of the tools that an entry offers: `all`, those that the manifest enables (`default`), or a list,
 * in which `default` adds those that the manifest enables.
 */
export function offeredTools(
  { tools = [] }: Pick<Manifest, "tools">,
  all: readonly { readonly name: string }[],
  chosen: "all" | "default" | readonly string[],
): readonly string[] {
  if (chosen === "all") return all.map(({ name }) => name);
  const enabled = tools.flatMap((tool) => (tool.default === true ? [tool.name] : []));
  if (chosen === defaultTools) return enabled;
  return [...new Set(chosen.flatMap((name) => (name === defaultTools ? enabled : [name])))];
}

/** Returns the hosts of the base URLs, with the values of the variables. */
export function hostsOf(
  toolspec: Toolspec,
  variables: { readonly [name: string]: string },
): ReadonlySet<string> {
  const urls = [toolspec.baseUrl, ...toolspec.tools.flatMap(({ baseUrl }) => baseUrl ?? [])];
  return new Set(
    urls.map((url) =>
      url
        .replace(/^https:\/\//, "")
        .replace(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, name: string) =>
          Object.hasOwn(variables, name)
            ? (variables[name] ?? whole)
            : (toolspec.variables?.[name]?.default ?? whole),
        ),
    ),
  );
}
