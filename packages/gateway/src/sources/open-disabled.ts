/** Adds what the configuration switches off to the roster, so that status and errors can name it. Starts nothing. */

import { disabledSources } from "@toolcrib/inventory";
import type { OpenedSources, SourceContext } from "./open-sources.ts";

/** Adds the disabled entries. */
export async function openDisabled({ config, core, now }: SourceContext): Promise<OpenedSources> {
  let opened = disabledSources(config.disabled, now());
  const { roster } = core;
  for (const { source, facts } of opened) roster.add(source, facts);
  return {
    start: async () => {},
    async prepare({ disabled }) {
      const next = disabledSources(disabled, now());
      return {
        commit() {
          for (const { source } of opened) roster.remove(source);
          opened = next;
          for (const { source, facts } of opened) roster.add(source, facts);
        },
        start: async () => {},
        abandon: async () => {},
      };
    },
    async [Symbol.asyncDispose]() {},
  };
}
