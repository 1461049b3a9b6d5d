/**
 * Start-up: from the start of the contender's process to the first
 * `tools/list` over HTTP that names the echo tools, with a fresh home each
 * time, or with the home of an earlier start. Contenders take turns here too.
 *
 * A contender that exceeds its limit once is not started again.
 */

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Contender, type Upstream, upstreamFile } from "./contenders.ts";
import { readUsage, type Usage } from "./process-tree.ts";
import { untilReady } from "./ready.ts";
import { median } from "./statistics.ts";

/** Number of rounds and time limit. */
export interface StartUpOptions {
  readonly rounds: number;
  readonly limitMs: number;
  readonly upstreams: readonly Upstream[];
  /** Number of upstreams that must be listed. */
  readonly count: number;
  /**
   * Starts each contender once before it counts, keeps its home, and reads its memory after the last start and this
   * time at rest, in milliseconds. @default each start has a fresh home
   */
  readonly knownRestMs?: number;
  readonly temporaryFolder: string;
  readonly signal: AbortSignal;
  readonly progress: (line: string) => void;
}

/** The median time of one contender, or the reason for its absence. */
export type StartUpResult =
  | {
      readonly kind: "measured";
      readonly contender: Contender;
      readonly medianMs: number;
      /** Memory at rest, of the contender without its upstreams, where it was read. */
      readonly rssBytes: number | undefined;
      /** The part of it that no file is mapped to. */
      readonly ownBytes: number | undefined;
    }
  | { readonly kind: "failed"; readonly contender: Contender; readonly reason: string };

interface Start {
  readonly ms: number;
  readonly usage: Usage | undefined;
}

/** @param restMs time at rest before memory is read; undefined reads none */
async function startOnce(
  contender: Contender,
  home: string,
  options: StartUpOptions,
  restMs: number | undefined,
): Promise<Start> {
  const launched = await contender.launch(home, options.upstreams);
  await using child = launched.child;
  const ready = await untilReady(launched, options);
  const ms = performance.now() - child.startedAt;
  ready.client.close();
  if (restMs === undefined) return { ms, usage: undefined };
  await sleep(restMs, undefined, { signal: options.signal });
  return { ms, usage: contender.separable ? readUsage(ready.child.pid, upstreamFile) : undefined };
}

/** Starts every contender `rounds` times, in turns. */
export async function measureStartUp(
  contenders: readonly Contender[],
  options: StartUpOptions,
): Promise<readonly StartUpResult[]> {
  const times = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
  const failed = new Map<Contender, string>();
  const usages = new Map<Contender, Usage | undefined>();
  const homes = new Map<Contender, string>();
  const { rounds, knownRestMs } = options;
  const homeOf = (contender: Contender) => {
    const home = homes.get(contender) ?? mkdtempSync(join(options.temporaryFolder, `${contender.id}-`));
    if (knownRestMs !== undefined) homes.set(contender, home);
    return home;
  };
  for (let round = knownRestMs === undefined ? 1 : 0; round <= rounds; round += 1) {
    for (const contender of contenders) {
      if (failed.has(contender)) continue;
      try {
        const restMs = round === rounds ? knownRestMs : undefined;
        const { ms, usage } = await startOnce(contender, homeOf(contender), options, restMs);
        if (round === 0) continue;
        times.get(contender)!.push(ms);
        usages.set(contender, usage);
        options.progress(`  round ${round}/${rounds} ${contender.id}: ${Math.round(ms)} ms`);
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
    return {
      kind: "measured",
      contender,
      medianMs: median(times.get(contender)!),
      rssBytes: usages.get(contender)?.rssBytes,
      ownBytes: usages.get(contender)?.ownBytes,
    };
  });
}
