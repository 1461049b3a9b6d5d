/**
 * A process that drops its privileges, lists a directory of saved tools, and replaces
 * `double`. Prints the results.
 *
 * Arguments: directory, the user to become or `-`.
 */

import { writeSync } from "node:fs";
import { MetatoolError } from "@toolcrib/metatool";
import type { SavedToolStore } from "@toolcrib/store";
import { definitionOf, openTest } from "./saved-harness.ts";

const [directory = "", user = "-"] = process.argv.slice(2);
if (user !== "-") {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}

function toReport(error: unknown): unknown {
  if (!(error instanceof MetatoolError)) throw error;
  const { errno } = (error.data ?? {}) as { readonly errno?: string };
  const hint = error.code === "METATOOL_UNWRITABLE" ? error.hint : undefined;
  return { code: error.code, errno, hint };
}

async function look(saved: SavedToolStore, problems: readonly string[]): Promise<unknown> {
  const names = (await saved.list()).map(({ name }) => name);
  const diagnostics = saved.diagnostics().map(({ code, message }) => `${code} ${message}`);
  const save = await saved.save(definitionOf({ code: "return 0\n" })).then(() => "saved", toReport);
  return { names, diagnostics, save, problems };
}

const problems: string[] = [];
const report = await openTest(directory, { onProblem: ({ code }) => problems.push(code) }).then(
  async (saved) => {
    await using opened = saved;
    return await look(opened, problems);
  },
  (error: unknown) => ({ open: toReport(error) }),
);
writeSync(1, JSON.stringify(report));
