/** `toolcrib update`: servers that are pinned to a version, and installed tool packages. */

import type { CliContext } from "../cli-context.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { updateTools } from "../package/update-tools.ts";
import { openConfigFile } from "../toolspec/config-file.ts";
import { openLookUps } from "./open-look-ups.ts";
import { pinnedServers } from "./pinned-servers.ts";
import { exitOf, updateServers } from "./update-servers.ts";

/** Runs the command. @param ids of servers and packages. @default all */
export async function updateAll(
  context: CliContext,
  ids: readonly string[],
  flags: Parameters<typeof updateTools>[2],
): Promise<ExitCode> {
  const { output } = context;
  const file = openConfigFile(context);
  const { pinned, unpinned } = file.isNew
    ? { pinned: [], unpinned: [] }
    : pinnedServers(file.shown, file.text);
  const servers = pinned.filter(({ id }) => ids.length === 0 || ids.includes(id));
  const known = new Set([...pinned, ...unpinned].map(({ id }) => id));
  const packages = ids.filter((id) => !known.has(id));
  for (const { id, reason } of unpinned)
    if (ids.length === 0 || ids.includes(id))
      output.note(`${safeLine(id)} is not updated: ${safeLine(reason)}`);
  if (unpinned.some(({ canBePinned }) => canBePinned))
    output.note(
      `${output.noteStyle("cyan", "hint")}: to pin one, write its version into its args: NAME@1.2.3 for npx, NAME==1.2.3 for uvx`,
    );
  if (known.size === 0) return await updateTools(context, ids, flags);
  const { config, files } = await loadCliConfig(context);
  await using lookUps = openLookUps(context, config, files);
  const done = await updateServers(context, lookUps, servers, flags);
  let others: unknown = null;
  let code: ExitCode = exitCodes.done;
  if (ids.length === 0 || packages.length > 0) {
    const json = (value: unknown) => {
      others = value;
    };
    code = await updateTools({ ...context, output: { ...output, json } }, packages, flags);
  }
  output.json({ servers: done, packages: others });
  const own = exitOf(done, flags);
  return own === exitCodes.done ? code : own;
}
