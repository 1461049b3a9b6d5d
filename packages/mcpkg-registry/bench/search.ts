/**
 * Measures searches over a registry of 10,000 packages: words of several topics with filters, as a
 * person or a model types them. Prints percentiles in milliseconds, of elapsed time
 * and of CPU time (on a busy machine they differ), and the time to read the index.
 */

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { changeRegistry, type IndexEntry, initRegistry } from "@toolcrib/mcpkg-registry";
import { at, open, registryKey } from "../test/fixtures.ts";

const count = 10_000;
const topics = [
  "pdf",
  "invoice",
  "image",
  "audio",
  "calendar",
  "mail",
  "payment",
  "search",
  "weather",
  "map",
];
const verbs = [
  "read",
  "write",
  "convert",
  "extract",
  "list",
  "delete",
  "merge",
  "translate",
  "summarize",
  "send",
];
const licenses = ["MIT", "Apache-2.0", "proprietary", "BSD-3-Clause"];
const languages = ["javascript", "python", "dotnet"];
const platforms = ["linux-x64", "win-x64", "darwin-arm64"];

function entry(index: number): IndexEntry {
  const pick = <T>(list: readonly T[], factor: number): T =>
    list[Math.floor(index / factor) % list.length] as T;
  const [topic, verb] = [pick(topics, 1), pick(verbs, 7)];
  return {
    toolId: `vendor${index % 997}.${topic}.${verb}_${index}`,
    version: `1.${index % 30}.0`,
    name: `${verb} ${topic} ${index}`,
    description: `Tool that can ${verb} ${topic} files and ${pick(verbs, 3)} ${pick(topics, 11)} documents on the local machine, quickly and without the cloud. Variant ${index}.`,
    capabilities: [topic, verb, "local"],
    tags: ["production"],
    license: pick(licenses, 5),
    publisher: `Vendor ${index % 997}`,
    kinds: ["local"],
    implementations: [{ language: pick(languages, 2), platforms: [pick(platforms, 1), pick(platforms, 4)] }],
    needs: [],
    tests: [`${verb}s_${topic}`, "refuses_empty_input"],
    examples: [`# Example\n\nCall it to ${verb} a ${topic} before you ${pick(verbs, 13)} it.`],
    digest: `sha256:${createHash("sha256").update(String(index)).digest("hex")}`,
    bytes: 1000 + index,
    addedAt: "2026-01-01T00:00:00.000Z",
  };
}

const folder = mkdtempSync(join(tmpdir(), "registry-bench-"));
try {
  await initRegistry(at(0), join(folder, "registry"), registryKey, { name: "bench" });
  await changeRegistry(at(0), join(folder, "registry"), registryKey, () =>
    Array.from({ length: count }, (_, index) => entry(index)),
  );
  const startedAt = performance.now();
  const registries = await open(join(folder, "home"), [
    { name: "bench", place: { kind: "folder", path: join(folder, "registry") } },
  ]);
  const readMs = performance.now() - startedAt;
  registries.search("warm up", {}, 10);
  const builtMs = performance.now() - startedAt - readMs;
  const times: number[] = [];
  const cpuTimes: number[] = [];
  let found = 0;
  for (let round = 0; round < 3000; round += 1) {
    const words = `${verbs[round % 10]} ${topics[(round * 7) % 10]}s locally without the cloud`;
    const filter = {
      language: round % 2 === 0 ? languages[round % 3] : undefined,
      platform: round % 3 === 0 ? platforms[round % 3] : undefined,
      capabilities: round % 4 === 0 ? [topics[(round * 7) % 10] as string] : undefined,
      license: round % 5 === 0 ? licenses[round % 4] : undefined,
    };
    const cpuBefore = process.threadCpuUsage();
    const before = performance.now();
    found += registries.search(words, filter, 10).length;
    times.push(performance.now() - before);
    const { user, system } = process.threadCpuUsage(cpuBefore);
    cpuTimes.push((user + system) / 1000);
  }
  const show = (all: number[]) => {
    all.sort((one, other) => one - other);
    const percentile = (share: number) => (all[Math.floor(all.length * share)] ?? 0).toFixed(2);
    return `p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms`;
  };
  process.stdout.write(
    `${count} packages: index read and checked in ${readMs.toFixed(0)} ms, search index built in ${builtMs.toFixed(0)} ms\n` +
      `${times.length} searches with ${found} results: ${show(times)}; of CPU time: ${show(cpuTimes)}\n`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
