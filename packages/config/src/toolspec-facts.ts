/** Values that follow from an entry of `toolspecs` and its files. Pure; imports only types. */

import type { Toolspec } from "@toolcrib/toolspec";
import type { ToolspecConfig, ToolspecPair } from "./config-types.ts";

/** Returns the suggested name of the secret of a credential. */
export function suggestedSecretName(id: string, credentialId: string): string {
  const folded = credentialId.replace(/[^A-Za-z0-9_-]+/g, "-").replaceAll("_", "-");
  return folded.toLowerCase().startsWith(`${id.toLowerCase()}-`) ? folded : `${id}-${folded}`;
}

/** The entry of a list of tools that stands for those that the manifest enables. */
export const defaultTools = "default";

/** Returns the names of the tools that an entry offers. In a list, `default` adds those that the manifest enables. */
export function offeredTools(
  { manifest, toolspec }: ToolspecPair,
  tools: ToolspecConfig["tools"],
): readonly string[] {
  if (tools === "all") return toolspec.tools.map(({ name }) => name);
  const enabled = (manifest.tools ?? []).flatMap((tool) => (tool.default === true ? [tool.name] : []));
  if (tools === defaultTools) return enabled;
  return [...new Set(tools.flatMap((name) => (name === defaultTools ? enabled : [name])))];
}

/** Returns the hosts of the base URLs, with the values of the variables. */
export function hostsOf(
  toolspec: Toolspec,
  { variables }: Pick<ToolspecConfig, "variables">,
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
