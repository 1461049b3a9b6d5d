/**
 * Opens the files of this home's saved tools for the operator, with or without a
 * running gateway. The audit trail records the operator's changes.
 */

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { didYouMean } from "@toolcrib/diagnostics";
import { openSavedToolStore } from "@toolcrib/metatool";
import {
  type ApprovalStore,
  openApprovalStore,
  type SavedTool,
  type SavedToolEvent,
  type SavedToolStore,
} from "@toolcrib/store";
import { openTrail } from "../audit/open-trail.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { metatoolHomeName } from "../global-options.ts";
import { shellQuote } from "../serve/shell-quote.ts";

/** Opens the saved tools. @throws {MetatoolError} `METATOOL_DIRECTORY_UNUSABLE` */
export function openSaved(context: CliContext): Promise<SavedToolStore> {
  const { options, output } = context;
  return openSavedToolStore(
    {
      now: context.now,
      randomBytes,
      onProblem: ({ message }) => output.note(`${output.noteStyle("yellow", "warning")}: ${message}`),
    },
    { directory: join(options.home, "tools") },
  );
}

/** Opens the approvals of the saved tools. */
export function openApprovals({ options, output }: CliContext): Promise<ApprovalStore> {
  return openApprovalStore(options.home, {
    randomBytes,
    onProblem: ({ message }) => output.note(`${output.noteStyle("yellow", "warning")}: ${message}`),
  });
}

/** Returns the saved tool named `name`. @throws {CliError} `CLI_TOOL_NOT_FOUND` with a suggestion */
export async function requireSaved(
  context: CliContext,
  saved: SavedToolStore,
  name: string,
): Promise<SavedTool> {
  const tool = await saved.get(name);
  if (tool !== undefined) return tool;
  const names = saved.current().map((one) => one.name);
  throw new CliError("CLI_TOOL_NOT_FOUND", `No saved tool is named "${name.slice(0, 200)}"`, {
    hint: metatoolHint(context, name) ?? didYouMean(name, names) ?? "see toolcrib saved list",
  });
}

/** Returns the home to use for a tool that was saved through `mcp-metatool`; `undefined` for other tools. */
function metatoolHint({ options, userDirectory }: CliContext, name: string): string | undefined {
  const home = join(userDirectory, metatoolHomeName);
  if (options.home === home || !existsSync(join(home, "tools", `${name}.json`))) return undefined;
  return `it is in the home of mcp-metatool: add --home ${shellQuote(home)}`;
}

/** Records a change by the operator on the audit trail. */
export async function recordForAudit(
  context: CliContext,
  type: "tool.saved" | "tool.deleted" | "approval.granted",
  event: SavedToolEvent,
): Promise<void> {
  await using store = await openTrail(context);
  store.audit.record(type, event);
}
