/**
 * The saved tools as they are listed now: kept in step with the store and with
 * the tools that they call. A list that came out the same is not announced.
 */

import { isDeepStrictEqual } from "node:util";
import type { SourceChange, Tool, Unsubscribe } from "@toolcrib/tool";
import type { MetatoolDeps } from "./metatool.ts";
import { createAssessment, toTool } from "./saved-entries.ts";

/** The list, and who hears of its changes. */
export interface SavedListing extends Disposable {
  tools(): readonly Tool[];
  /** Make the list anew. */
  refresh(): void;
  onChange(listener: (change: SourceChange) => void): Unsubscribe;
}

/** Create the listing of `deps.saved`. */
export function createSavedListing(deps: MetatoolDeps): SavedListing {
  const { saved, validator } = deps;
  const listeners = new Set<(change: SourceChange) => void>();
  const warned = new Set<string>();
  let tools: readonly Tool[] = [];

  function refresh(): void {
    const all = saved.current();
    const assess = createAssessment(deps.wholeCatalog(), all);
    const known = new Map(tools.map((tool) => [tool.id, tool]));
    const fresh = all.flatMap((one) => {
      const tool = toTool(assess(one), validator);
      if (tool === undefined) {
        warnOnce(one.name, "its input schema is none that clients can take; save it again");
        return [];
      }
      const before = known.get(tool.id);
      return [before !== undefined && isDeepStrictEqual(before, tool) ? before : tool];
    });
    for (const { message, source } of saved.diagnostics()) warnOnce(source?.name ?? "", message);
    const isSame = fresh.length === tools.length && fresh.every((tool, at) => tool === tools[at]);
    if (isSame) return;
    tools = fresh;
    for (const listener of listeners) listener({ kind: "tools" });
  }

  function warnOnce(file: string, reason: string): void {
    const key = `${file}\n${reason}`;
    if (warned.has(key) || warned.size >= maxWarnings) return;
    warned.add(key);
    deps.onWarning({ file, reason }, "a saved tool cannot be used");
  }

  const unsubscribe = saved.onChange(refresh);
  refresh();
  return {
    tools: () => tools,
    refresh,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    [Symbol.dispose]() {
      unsubscribe();
      listeners.clear();
    },
  };
}

/** Most different warnings; files that change all the time are not to fill a log. */
const maxWarnings = 10_000;
