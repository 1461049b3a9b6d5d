/** Opens the toolspecs of a configuration. Loads the egress and its engines only if there are toolspecs. */

import { SecretResolver } from "@toolcrib/config";
import { readRegularFile } from "@toolcrib/files";
import { ServerLoad } from "@toolcrib/upstream";
import type { OpenedSources, SourceContext } from "./open-sources.ts";

/** Opens the entries of `toolspecs`. */
export async function openToolspecs(context: SourceContext): Promise<OpenedSources> {
  const { config, env, home, now } = context;
  if (config.toolspecs.length === 0) {
    return { start: async () => {}, async [Symbol.asyncDispose]() {} };
  }
  const { maxCallsPerServer: maxConcurrentCalls, maxQueuedCallsPerServer: maxQueuedCalls } =
    config.serve.limits;
  const { ToolspecSources } = await import("@toolcrib/toolpack");
  return new ToolspecSources({
    ...context,
    loadOf: (id) => new ServerLoad(id, now, { maxConcurrentCalls, maxQueuedCalls }),
    secretResolver: new SecretResolver({ env, readFile: readRegularFile, home }),
  });
}
