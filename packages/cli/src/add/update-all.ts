/** `toolcrib update`: servers that are pinned to a version, and installed tool packages. */

import { parseConfigLayer } from "@toolcrib/config";
import { didYouMean } from "@toolcrib/diagnostics";
import { installedIds } from "../access/open-tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { noteWrapped } from "../output/note-wrapped.ts";
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
  const others = file.isNew ? [] : parseConfigLayer({ name: file.shown, text: file.text }).servers;
  // A server at a URL, or with a command that no runner fetches, has no version: only where it is named, that is an answer.
  const versionless = ids.filter((id) => !known.has(id) && others.some((server) => server.id === id));
  const packages = ids.filter((id) => !known.has(id) && !versionless.includes(id));
  const installed = packages.length === 0 ? [] : await installedIds(context);
  for (const id of packages.filter((one) => !installed.includes(one)))
    refuseUnknown(id, [...others.map((server) => server.id), ...installed]);
  for (const id of versionless)
    noteWrapped(
      context,
      `${safeLine(id)} is not updated: its entry names a command or a URL, which has no version`,
    );
  const left = unpinned.filter(({ id }) => ids.length === 0 || ids.includes(id));
  for (const { id, reason } of left)
    noteWrapped(context, `${safeLine(id)} is not updated: ${safeLine(reason)}`);
  if (left.some(({ canBePinned }) => canBePinned))
    output.note(
      `${output.noteStyle("cyan", "hint")}: to pin one, write its version into its args: NAME@1.2.3 for npx, NAME==1.2.3 for uvx`,
    );
  if (known.size === 0 && versionless.length === 0) return await updateTools(context, ids, flags);
  const { config, files } = await loadCliConfig(context);
  await using lookUps = openLookUps(context, config, files);
  const done = await updateServers(context, lookUps, servers, flags);
  let updated: unknown = null;
  let code: ExitCode = exitCodes.done;
  if (ids.length === 0 || packages.length > 0) {
    const json = (value: unknown) => {
      updated = value;
    };
    // What the servers have, or why they are not updated, was printed: that no package changes is no news beside it,
    // unless it was asked for.
    const isQuietIfCurrent = packages.length === 0;
    const asked = { ...flags, isQuietIfCurrent };
    code = await updateTools({ ...context, output: { ...output, json } }, packages, asked);
  }
  output.json({ servers: done, packages: updated });
  if (flags.dryRun === true && done.some(({ result }) => result === "shown"))
    output.print("Nothing was changed (--dry-run)");
  const own = exitOf(done, flags);
  return own === exitCodes.done ? code : own;
}

/** @throws {CliError} `CLI_SERVER_NOT_FOUND` for a name that looks like none of a package, which can be installed elsewhere */
function refuseUnknown(id: string, known: readonly string[]): void {
  if (id.includes(".")) return;
  throw new CliError(
    "CLI_SERVER_NOT_FOUND",
    `Nothing was updated: no server and no package is called "${safeLine(id)}"`,
    {
      hint:
        didYouMean(id, known) ?? (known.length === 0 ? "there are none" : `there are ${known.join(", ")}`),
    },
  );
}
