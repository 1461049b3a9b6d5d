/**
 * Search: how long it takes to index 1,000, 10,000 and 100,000 tools, to add
 * one more, and to answer a query; and how much memory the index keeps.
 *
 * Goals: 100,000 tools indexed within 6 s; at 10,000 tools 99 of 100 searches
 * within 10 ms.
 */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createToolSearch } from "@toolcrib/search";
import { syntheticQueries, syntheticTools } from "./synthetic-tools.ts";
import { type Table, toMarkdown } from "./table.ts";

const sizes = [1_000, 10_000, 100_000] as const;
const searchesPerSize = 2_000;
const replacementsPerSize = 500;

/** Measures and returns the table; takes about half a minute. */
export async function benchSearch(): Promise<Table> {
  const rows = sizes.map(measure);
  return {
    title: "Search",
    columns: [
      "tools",
      "index ms",
      "add one ms",
      "search p50 ms",
      "search p99 ms",
      "search max ms",
      "memory MB",
    ],
    rows,
    notes: [
      "Tools are synthetic: 40 services, names of two to six words, descriptions of one to three sentences, two to nine described parameters.",
      `Searches: ${searchesPerSize} queries of one to fifteen words (sentences, keywords, names, beginnings, misspellings), limit 20 with reasons.`,
      "Add one: the median of replacing a random tool, which is one removal and one addition.",
      "Memory: size of the index after a garbage collection, including typed arrays, without the tools themselves.",
    ],
  };
}

function measure(size: number): string[] {
  const collect = garbageCollector();
  const tools = syntheticTools(size);
  const before = memoryAfter(collect);
  const index = createToolSearch();
  const startedAt = performance.now();
  for (const tool of tools) index.add(tool);
  const indexMs = performance.now() - startedAt;
  const memory = memoryAfter(collect) - before;
  for (const query of syntheticQueries(200, 2)) index.search(query);
  const searches = syntheticQueries(searchesPerSize).map((query) => timed(() => index.search(query)));
  const replacements = Array.from({ length: replacementsPerSize }, (_, round) => {
    const old = tools[(round * 7_919) % size]!;
    const other = tools[(round * 104_729 + 1) % size]!;
    return timed(() => index.add({ ...other, id: old.id, name: old.name, namespace: old.namespace }));
  });
  return [
    size.toLocaleString("en"),
    indexMs.toFixed(0),
    quantile(replacements, 0.5).toFixed(3),
    quantile(searches, 0.5).toFixed(2),
    quantile(searches, 0.99).toFixed(2),
    Math.max(...searches).toFixed(2),
    (memory / 2 ** 20).toFixed(1),
  ];
}

function timed(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

function memoryAfter(collect: () => void): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

if (import.meta.main) console.log(toMarkdown(await benchSearch()));
