/** Opens the toolspecs of a configuration. Loads the egress and its engines only if there are toolspecs. */

import type { OpenedSources, SourceContext } from "../sources/open-sources.ts";

/** Opens the entries of `toolspecs`. */
export async function openToolspecs(context: SourceContext): Promise<OpenedSources> {
  if (context.config.toolspecs.length === 0) {
    return { start: async () => {}, async [Symbol.asyncDispose]() {} };
  }
  const { ToolspecSources } = await import("./toolspec-sources.ts");
  return new ToolspecSources(context);
}
