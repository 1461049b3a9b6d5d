/**
 * One of several processes that change one directory. It saves `shared` ten times with
 * `expectedModified`, retries after a conflict, and counts an execution for each save;
 * it also saves its own tool. Prints the number of successes and conflicts.
 *
 * Arguments: directory, name of the process.
 */

import { writeSync } from "node:fs";
import { MetatoolError } from "@toolcrib/metatool";
import { definitionOf, openTest } from "./saved-harness.ts";

const [directory = "", writer = ""] = process.argv.slice(2);
let won = 0;
let lost = 0;
{
  await using saved = await openTest(directory, { now: Date.now }, { flushMs: 5, lockTimeoutMs: 60_000 });
  await saved.save(definitionOf({ name: `tool_${writer}` }));
  while (won < 10) {
    const seen = await saved.get("shared");
    const version = Number(seen?.inputSchema["version"] ?? 0) + 1;
    const round = won;
    const definition = definitionOf({
      name: "shared",
      code: `# from ${writer} ${round}\n${"# and so on\n".repeat(500)}`,
      inputSchema: { type: "object", version },
      toolcrib: { writer, round },
    });
    try {
      await saved.save(definition, { expectedModified: seen?.metadata.modified ?? "" });
      saved.recordExecution("shared", Date.now());
      won += 1;
    } catch (error) {
      if (!(error instanceof MetatoolError) || error.code !== "METATOOL_CHANGED_MEANWHILE") throw error;
      lost += 1;
    }
  }
}
writeSync(1, JSON.stringify({ won, lost }));
