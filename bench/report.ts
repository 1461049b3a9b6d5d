/**
 * Formats the measurements as tables. Rounds and compares, never measures.
 * Every ratio is against the best npm peer of the same run: above 1 is better
 * for calls per second, below 1 is better for everything else.
 */

import type { Contender } from "./contenders.ts";
import type { LoadFigures, LoadResult } from "./load.ts";
import type { StartUpResult } from "./start-up.ts";
import type { Table } from "./table.ts";

type Measured = Extract<LoadResult, { kind: "measured" }>;

const none = "–";

function ratio(value: number | undefined, best: number | undefined): string {
  return value === undefined || best === undefined ? none : `${(value / best).toFixed(2)}×`;
}

function shown(value: number | undefined, digits: number): string {
  return value === undefined ? none : value.toFixed(digits);
}

function lowest(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** A ratio to the best peer that counts as tied, because runs differ by as much. */
const tied = 1.05;

/**
 * Says why the installed Toolcrib is not the best, where it is not.
 *
 * @param ratios its values and those of the best peer, so that a ratio above 1 is worse
 */
function whyNotBest(
  ratios: readonly (readonly [number | undefined, number | undefined])[],
  why: string,
): readonly string[] {
  const isBehind = ratios.some(
    ([value, best]) => value !== undefined && best !== undefined && value / best > tied,
  );
  return isBehind ? [`Why toolcrib is not the best here: ${why}`] : [];
}

const isInstalled = ({ contender }: { readonly contender: Contender }) => contender.id === "toolcrib";

function failures(results: readonly (LoadResult | StartUpResult)[]): readonly string[] {
  return results.flatMap((result) =>
    result.kind === "failed" ? [`${result.contender.id} has no figures here: ${result.reason}`] : [],
  );
}

/** Calls per second, latency and CPU at one concurrency. */
export function loadTable(results: readonly LoadResult[], concurrency: number): Table {
  const rows: { result: Measured; figures: LoadFigures }[] = results.flatMap((result) => {
    const figures = result.kind === "measured" ? result.figures.get(concurrency) : undefined;
    return result.kind === "measured" && figures !== undefined ? [{ result, figures }] : [];
  });
  const peers = rows.filter((row) => row.result.contender.kind === "peer");
  const bestRate =
    peers.length === 0 ? undefined : Math.max(...peers.map((row) => row.figures.callsPerSecond));
  const bestCpu = lowest(peers.map((row) => row.figures.cpuMsPerCall));
  const clientCpu = rows.map((row) => row.figures.clientCpuMsPerCall);
  const own = rows.find(({ result }) => isInstalled(result))?.figures;
  return {
    title: concurrency === 1 ? "Calls, one at a time" : `Calls, ${concurrency} at a time`,
    columns: [
      "contender",
      "version",
      "wire",
      "calls/s",
      "ratio",
      "min–max",
      "p50 ms",
      "p99 ms",
      "CPU ms/call",
      "ratio ",
    ],
    rows: rows.map(({ result, figures }) => [
      result.contender.id,
      result.contender.version,
      result.contender.wire,
      shown(figures.callsPerSecond, 0),
      ratio(figures.callsPerSecond, bestRate),
      figures.range.map((rate) => shown(rate, 0)).join("–"),
      shown(figures.p50Ms, 2),
      shown(figures.p99Ms, 2),
      shown(figures.cpuMsPerCall, 3),
      ratio(figures.cpuMsPerCall, bestCpu),
    ]),
    notes: [
      ...failures(results),
      ...whyNotBest(
        [
          [bestRate, own?.callsPerSecond],
          [own?.cpuMsPerCall, bestCpu],
        ],
        "it authorizes each call, compares the tool with its accepted definition, and records the call in a chain of hashes before it is dispatched and when it ends. The peers pass calls on.",
      ),
      ...(rows.length === 0
        ? []
        : [
            `The load client itself took ${Math.min(...clientCpu).toFixed(3)} to ${Math.max(...clientCpu).toFixed(3)} ms CPU per call.`,
          ]),
    ],
  };
}

/** Resident memory after the load. */
export function memoryTable(results: readonly LoadResult[], restMs: number): Table {
  const rows = results.filter((result) => result.kind === "measured" && result.rssBytes !== undefined);
  const measured = rows as readonly Measured[];
  const peers = measured.filter((row) => row.contender.kind === "peer");
  const best = lowest(peers.map((row) => row.rssBytes));
  const bestRested = lowest(peers.map((row) => row.restedRssBytes));
  return {
    title: "Resident memory after the load",
    columns: ["contender", "version", "wire", "MB", "ratio", `MB ${restMs / 1000} s later`, "ratio "],
    rows: measured.map(({ contender, rssBytes, restedRssBytes }) => [
      contender.id,
      contender.version,
      contender.wire,
      megabytes(rssBytes),
      ratio(rssBytes, best),
      megabytes(restedRssBytes),
      ratio(restedRssBytes, bestRested),
    ]),
    notes: whyNotBest(
      [
        [measured.find(isInstalled)?.rssBytes, best],
        [measured.find(isInstalled)?.restedRssBytes, bestRested],
      ],
      "after more calls than the peers made, a thread indexes their records, and ends when it was idle for ten seconds; V8 keeps some of the memory that short-lived objects of calls took.",
    ),
  };
}

/** Resident memory of gateways that no client uses. */
export function idleMemoryTable(title: string, results: readonly StartUpResult[], restMs: number): Table {
  const measured = results.filter((result) => result.kind === "measured");
  const peers = measured.filter((row) => row.contender.kind === "peer");
  const best = lowest(peers.map((row) => row.rssBytes));
  const bestOwn = lowest(peers.map((row) => row.ownBytes));
  return {
    title,
    columns: ["contender", "version", "MB", "ratio", "MB without files", "ratio "],
    rows: measured.map(({ contender, rssBytes, ownBytes }) => [
      contender.id,
      contender.version,
      megabytes(rssBytes),
      ratio(rssBytes, best),
      megabytes(ownBytes),
      ratio(ownBytes, bestOwn),
    ]),
    notes: [
      ...failures(results),
      ...whyNotBest(
        [
          [measured.find(isInstalled)?.rssBytes, best],
          [measured.find(isInstalled)?.ownBytes, bestOwn],
        ],
        "policies, sandboxes, the audit trail, search and composites are loaded, which the peers do not have.",
      ),
      `${restMs / 1000} s after the list, without the upstreams. Resident memory includes the pages of the program of Node, which all Node processes of a machine share; the second figure is what the process has for itself.`,
    ],
  };
}

function megabytes(bytes: number | undefined): string {
  return shown(bytes === undefined ? undefined : bytes / 1e6, 0);
}

/** Time from the start of the process to the first complete `tools/list`. @param why Toolcrib is not the best, if so */
export function startUpTable(title: string, results: readonly StartUpResult[], why: string): Table {
  const measured = results.filter((result) => result.kind === "measured");
  const best = lowest(measured.filter((row) => row.contender.kind === "peer").map((row) => row.medianMs));
  return {
    title,
    columns: ["contender", "version", "wire", "ms", "ratio"],
    rows: measured.map(({ contender, medianMs }) => [
      contender.id,
      contender.version,
      contender.wire,
      shown(medianMs, 0),
      ratio(medianMs, best),
    ]),
    notes: [...failures(results), ...whyNotBest([[measured.find(isInstalled)?.medianMs, best]], why)],
  };
}
