/** Adds what the configuration switches off to the roster, so that status and errors can name it. Starts nothing. */

import { disabledSources } from "@toolcrib/inventory";
import type { OpenedSources, SourceContext } from "./open-sources.ts";

/** Adds the disabled entries. */
export async function openDisabled({ config, core, now }: SourceContext): Promise<OpenedSources> {
  for (const { source, facts } of disabledSources(config.disabled, now())) core.roster.add(source, facts);
  return { start: async () => {}, async [Symbol.asyncDispose]() {} };
}
