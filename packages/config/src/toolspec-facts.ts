/** Values that follow from an entry of `toolspecs` and its files. Pure; imports only types. */

import type { Toolspec } from "@toolcrib/toolspec";
import type { ToolspecConfig } from "./config-types.ts";

/** Returns the suggested name of the secret of a credential. */
export function suggestedSecretName(id: string, credentialId: string): string {
  const folded = credentialId.replace(/[^A-Za-z0-9_-]+/g, "-").replaceAll("_", "-");
  return folded.toLowerCase().startsWith(`${id.toLowerCase()}-`) ? folded : `${id}-${folded}`;
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
