/**
 * Time that fingerprints of values add to a call: `npm run bench -w packages/store`. Prints the
 * 50th and 99th percentile of batches of 100 calls, in microseconds for each call.
 */

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFingerprints } from "@toolcrib/store";

const home = mkdtempSync(join(tmpdir(), "toolcrib-bench-"));
const fingerprints = await openFingerprints(home, { randomBytes });
rmSync(home, { recursive: true });
const text = (value: string) => ({ content: [{ type: "text", text: value }] });
const rows = Array.from({ length: 40 }, (_, at) => ({ id: 10_000 + at, name: `row number ${at}`, ok: true }));

const calls: {
  readonly [name: string]: { readonly args: object; readonly result: { readonly [name: string]: unknown } };
} = {
  "echo: one text": { args: { text: "hello world" }, result: text("hello world") },
  "read a file of 2 kB": {
    args: { path: "/home/me/notes.md" },
    result: text("a line of text\n".repeat(140)),
  },
  "issue as JSON text": {
    args: { owner: "acme", repo: "crib", number: 1234 },
    result: text(JSON.stringify({ id: 987_654, title: "It fails", state: "open", user: { login: "jane" } })),
  },
  "40 rows as structured content": {
    args: { query: "select 1" },
    result: { ...text("40 rows"), structuredContent: { rows } },
  },
  "text of 1 MB": { args: { path: "/var/log/all" }, result: text("x".repeat(1 << 20)) },
};

const clean = (places: string) => places;
const batchCount = 2000;
const batchSize = 100;

for (const [name, { args, result }] of Object.entries(calls)) {
  const times: number[] = [];
  for (let batch = 0; batch < batchCount; batch += 1) {
    const startedAt = performance.now();
    for (let at = 0; at < batchSize; at += 1) {
      fingerprints.ofArguments(args, clean);
      fingerprints.ofResult(result);
    }
    times.push(((performance.now() - startedAt) * 1000) / batchSize);
  }
  const sorted = times.slice(batchCount / 10).sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1).padStart(7);
  process.stdout.write(`${name.padEnd(32)} p50 ${at(0.5)} us   p99 ${at(0.99)} us\n`);
}
