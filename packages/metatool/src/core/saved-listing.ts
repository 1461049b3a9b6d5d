/**
 * The saved tools as they are listed: updated when the store or the tools that
 * they call change. A list that did not change is not announced.
 */

import { isSameJson } from "@toolcrib/json";
import { ListenerSet } from "@toolcrib/lifecycle";
import type { SourceChange, Tool, Unsubscribe } from "@toolcrib/tool";
import type { MetatoolDeps } from "./metatool.ts";
import { Assessment, toTool } from "./saved-entries.ts";

/** Maximum number of different warnings, so that files that change all the time do not fill the log. */
const maxWarnings = 10_000;

/** The list, and notifications of its changes. */
export class SavedListing implements Disposable {
  readonly #context: MetatoolDeps;
  readonly #listeners = new ListenerSet<[change: SourceChange]>();
  readonly #warned = new Set<string>();
  readonly #unsubscribe: readonly Unsubscribe[];
  #tools: readonly Tool[] = [];
  #isOpen = true;

  constructor(context: MetatoolDeps) {
    this.#context = context;
    this.#unsubscribe = [
      context.saved.onChange(() => this.refresh()),
      context.approvals.onChange(() => this.refresh()),
    ];
    this.refresh();
  }

  tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Rebuilds the list. */
  refresh(): void {
    const { saved, validator } = this.#context;
    const all = saved.current();
    const assessment = new Assessment(this.#context, all);
    const known = new Map(this.#tools.map((tool) => [tool.id, tool]));
    const fresh = all.flatMap((one) => {
      const tool = toTool(assessment.entryOf(one), validator);
      if (tool === undefined) {
        this.#warnOnce(one.name, "clients do not support its input schema; save it again");
        return [];
      }
      const before = known.get(tool.id);
      return [before !== undefined && isSameJson(before, tool) ? before : tool];
    });
    for (const { message, source } of saved.diagnostics()) this.#warnOnce(source?.name ?? "", message);
    const isSame = fresh.length === this.#tools.length && fresh.every((tool, at) => tool === this.#tools[at]);
    if (isSame) return;
    this.#tools = fresh;
    if (this.#isOpen) this.#listeners.emit({ kind: "tools" });
  }

  onChange(listener: (change: SourceChange) => void): Unsubscribe {
    return this.#listeners.add(listener);
  }

  [Symbol.dispose](): void {
    this.#isOpen = false;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #warnOnce(file: string, reason: string): void {
    const key = `${file}\n${reason}`;
    if (this.#warned.has(key) || this.#warned.size >= maxWarnings) return;
    this.#warned.add(key);
    this.#context.onWarning({ file, reason }, "a saved tool cannot be used");
  }
}
