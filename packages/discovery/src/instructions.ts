/** Instructions for models about the endpoint of all servers, or of a profile. Pure. */

import type { FeatureSource } from "@toolcrib/inventory";
import { metaToolNames } from "@toolcrib/tool";

/** Longest instructions of one server that are passed on, in characters. @limit server */
const instructionsMaxLength = 4000;
/** Longest instructions of all servers together, in characters. @limit server */
const allInstructionsMaxLength = 32_000;

/** The tool whose description explains composites. */
const saveTool = "save_tool";

/**
 * Composes the text about Toolcrib's own tools, of which `listed` are listed, and the instructions of `sources`.
 *
 * @param own those of a profile, in place of the instructions of its servers
 */
export function composeInstructions(
  sources: readonly FeatureSource[],
  listed: ReadonlySet<string>,
  own: string | undefined,
): string {
  let text = [
    ...(own === undefined ? [] : [own.trim(), ""]),
    "Tools of several servers behind one endpoint. A tool's name is its server's name, two underscores, and the server's own name for it.",
    ...(listed.has(metaToolNames.search) ? [`Find tools by what they do with ${metaToolNames.search}.`] : []),
    ...(listed.has(metaToolNames.waiting)
      ? [
          `Tools of some servers wait for the approval of the operator: ${metaToolNames.waiting} names the servers.`,
        ]
      : []),
    ...(listed.has(saveTool)
      ? [`Make many calls in one step, or save a program as a tool: see ${saveTool}.`]
      : []),
    ...(listed.has(metaToolNames.readMore)
      ? [`Long results are cut: their end says how to go on with ${metaToolNames.readMore}.`]
      : []),
  ].join("\n");
  if (own !== undefined) return text;
  for (const { id, features } of sources) {
    const own = features.instructions()?.trim() ?? "";
    if (own === "") continue;
    const part = `\n\n## ${id}\n${own.slice(0, instructionsMaxLength)}`;
    if (text.length + part.length > allInstructionsMaxLength) break;
    text += part;
  }
  return text;
}
