/** Opens the toolspecs of a configuration. Loads the egress and its engines with the first toolspec. */

import { SecretResolver } from "@toolcrib/config";
import { isSameToolspec } from "@toolcrib/config-changes";
import { readRegularFile } from "@toolcrib/files";
import type { ToolspecSources } from "@toolcrib/toolpack";
import { ServerLoad } from "@toolcrib/upstream";
import type { OpenedSources, SourceContext } from "./open-sources.ts";

/** Opens the entries of `toolspecs`. */
export async function openToolspecs(context: SourceContext): Promise<OpenedSources> {
  const { config } = context;
  let sources = config.toolspecs.length === 0 ? undefined : await openSources(context);
  return {
    start: async () => await sources?.start(),
    async prepare({ toolspecs }) {
      // Without any toolspec until now, they are opened empty.
      const isFirst = sources === undefined && toolspecs.length > 0;
      const none = { ...context, config: { ...config, toolspecs: [] } };
      const replaced = sources ?? (isFirst ? await openSources(none) : undefined);
      const prepared = replaced?.prepare(toolspecs, isSameToolspecOf);
      return {
        commit() {
          sources = replaced;
          prepared?.commit();
        },
        async start() {
          if (isFirst) await replaced?.start();
          await prepared?.start();
        },
        abandon: async () => (isFirst ? await replaced?.[Symbol.asyncDispose]() : undefined),
      };
    },
    [Symbol.asyncDispose]: async () => await sources?.[Symbol.asyncDispose](),
  };
}

type Toolspecs = Parameters<ToolspecSources["prepare"]>[0];

function isSameToolspecOf(one: Toolspecs[number], other: Toolspecs[number]): boolean {
  return isSameToolspec(one as never, other as never);
}

async function openSources(context: SourceContext): Promise<ToolspecSources> {
  const { config, env, home, now } = context;
  const { maxCallsPerServer: maxConcurrentCalls, maxQueuedCallsPerServer: maxQueuedCalls } =
    config.serve.limits;
  const { ToolspecSources } = await import("@toolcrib/toolpack");
  return new ToolspecSources({
    ...context,
    loadOf: (id) => new ServerLoad(id, now, { maxConcurrentCalls, maxQueuedCalls }),
    secretResolver: new SecretResolver({ env, readFile: readRegularFile, home }),
  });
}
