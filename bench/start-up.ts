/**
 * Start-up: from the start of the contender's process to the first
 * `tools/list` over HTTP that names the echo tools, with a fresh home each
 * time. Contenders take turns here too.
 *
 * A contender that exceeds its limit once is not started again.
 */

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Contender, Upstream } from "./contenders.ts";
import { untilReady } from "./ready.ts";
import { median } from "./statistics.ts";

/** Number of rounds and time limit. */
export interface StartUpOptions {
  readonly rounds: number;
  readonly limitMs: number;
  readonly upstreams: readonly Upstream[];
  /** Number of upstreams that must be listed. */
  readonly count: number;
  readonly temporaryFolder: string;
  readonly signal: AbortSignal;
  readonly progress: (line: string) => void;
}

/** The median time of one contender, or the reason for its absence. */
export type StartUpResult =
  | { readonly kind: "measured"; readonly contender: Contender; readonly medianMs: number }
  | { readonly kind: "failed"; readonly contender: Contender; readonly reason: string };

async function startOnce(contender: Contender, options: StartUpOptions): Promise<number> {
  const home = mkdtempSync(join(options.temporaryFolder, `${contender.id}-`));
  const launched = await contender.launch(home, options.upstreams);
  await using child = launched.child;
  const ready = await untilReady(launched, options);
  const ms = performance.now() - child.startedAt;
  ready.client.close();
  return ms;
}

/** Starts every contender `rounds` times, in turns. */
export async function measureStartUp(
  contenders: readonly Contender[],
  options: StartUpOptions,
): Promise<readonly StartUpResult[]> {
  const times = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
  const failed = new Map<Contender, string>();
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const contender of contenders) {
      if (failed.has(contender)) continue;
      try {
        const ms = await startOnce(contender, options);
        times.get(contender)!.push(ms);
        options.progress(`  round ${round}/${options.rounds} ${contender.id}: ${Math.round(ms)} ms`);
      } catch (error) {
        options.signal.throwIfAborted();
        failed.set(contender, (error as Error).message);
        options.progress(`  ${contender.id} is out: ${(error as Error).message}`);
      }
    }
  }
  return contenders.map((contender): StartUpResult => {
    const reason = failed.get(contender);
    if (reason !== undefined) return { kind: "failed", contender, reason };
    return { kind: "measured", contender, medianMs: median(times.get(contender)!) };
  });
}
