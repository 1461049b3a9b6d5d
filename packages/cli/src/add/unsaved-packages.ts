/**
 * Handles what an add or update fetched into the home when nothing is saved in the end. After an answer of no, or a dry
 * run, it is removed again; so is what an update fetched for a version that fails its trial. After a failed add it stays,
 * because the next attempt needs it, and a note names the command that removes it; so does what an earlier add left, such
 * as one that was killed, and what was fetched without a terminal to ask on. A package that an entry of a known
 * configuration of the home uses is left alone.
 */

import type { ToolServerConfig } from "@toolcrib/config";
import type { StoredPackage } from "@toolcrib/runners";
import type { CliContext } from "../cli-context.ts";
import { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { noteWrapped } from "../output/note-wrapped.ts";
import { safeLine } from "../output/output.ts";
import { canAsk } from "../prompt/ask-line.ts";
import { loadOtherConfigs } from "../remove/other-configs.ts";
import { fetchedStore, namedBy, packageWordsOf } from "../sandbox/fetched-store.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";

/**
 * Runs an add that can fetch packages.
 *
 * @param options `packages`: their names, also with versions. `isDry`: whether nothing is to be saved
 * @param add returns `done` where something was saved
 */
export async function withoutUnsaved(
  context: CliContext,
  { packages, isDry }: { readonly packages: readonly string[]; readonly isDry: boolean },
  add: () => Promise<ExitCode>,
): Promise<ExitCode> {
  if (packages.length === 0) return await add();
  const before = await fetchedKeys(context);
  let code: ExitCode;
  try {
    code = await add();
  } catch (error) {
    noteKept(context, await unusedOf(context, packages));
    throw error;
  }
  if (code === exitCodes.done && !isDry) return code;
  const unused = await unusedOf(context, packages);
  // Without a terminal, the same command comes again with --yes.
  if (!isDry && !canAsk(context)) noteKept(context, unused);
  else {
    await removeAgain(
      context,
      unused.filter(({ key }) => !before.has(key)),
    );
    // Another command can need what this one did not fetch.
    noteKept(
      context,
      unused.filter(({ key }) => before.has(key)),
    );
  }
  return code;
}

/**
 * Removes what the update of a server fetched and did not save. Without a terminal it stays after `shown`, because the
 * same command comes again with --yes, and a note names the command that removes it.
 *
 * @param name of its package
 * @param kept the packages of the version that stays, as its command line names them
 * @param before keys of what was fetched before the update
 */
export async function dropUnsavedUpdate(
  context: CliContext,
  {
    name,
    kept,
    before,
  }: { readonly name: string; readonly kept: readonly string[]; readonly before: ReadonlySet<string> },
  options: { readonly comesAgain: boolean },
): Promise<void> {
  const fetched = (await fetchedStore(context).list()).filter(
    (one) =>
      !before.has(one.key) &&
      namedBy(one, [name]) &&
      one.receipt.recorded === undefined &&
      JSON.stringify(one.receipt.packages) !== JSON.stringify(kept),
  );
  if (options.comesAgain) noteKept(context, fetched);
  else await removeAgain(context, fetched);
}

/** Returns the keys of what is fetched. */
export async function fetchedKeys(context: CliContext): Promise<ReadonlySet<string>> {
  return new Set((await fetchedStore(context).list()).map(({ key }) => key));
}

async function removeAgain(context: CliContext, fetched: readonly StoredPackage[]): Promise<void> {
  for (const one of fetched) await fetchedStore(context).remove(one);
  if (fetched.length > 0)
    noteWrapped(context, `Removed again what was fetched for it: ${fetched.map(shownOf).join(", ")}`);
}

function noteKept(context: CliContext, packages: readonly StoredPackage[]): void {
  for (const one of packages) {
    context.output.note(
      `note: kept, and used by no entry: ${shownOf(one)}; another attempt needs no fetch. Remove it with:`,
      `  ${ownCommand(context)} fetched remove ${shellQuote(one.key)}`,
    );
  }
}

function shownOf({ shown, receipt }: StoredPackage): string {
  return `${safeLine(shown)} (${(receipt.bytes / 1e6).toFixed(1)} MB)`;
}

/** The fetched ones of `packages` that no entry uses; none where that is not known. */
async function unusedOf(context: CliContext, packages: readonly string[]): Promise<readonly StoredPackage[]> {
  const found = (await fetchedStore(context).list()).filter((one) => namedBy(one, packages));
  if (found.length === 0) return [];
  try {
    const { config, files } = await loadConfigOrDefaults(context);
    const all = [config, ...(await loadOtherConfigs(context, files, () => undefined))];
    const used = all
      .flatMap(({ toolServers, disabled }): readonly ToolServerConfig[] => [
        ...toolServers,
        ...disabled.toolServers,
      ])
      .flatMap(packageWordsOf);
    return found.filter((one) => !namedBy(one, used));
  } catch {
    // What a broken configuration uses is not known; the error of the add is what has to be shown.
    return [];
  }
}
