/**
 * A process that tries to install the archives of a group, and prints what happened.
 *
 * Arguments: home, project, group, number of the first case, distance of two cases, number of cases (0: all).
 */

import { writeSync } from "node:fs";
import { isCodedError } from "@toolcrib/diagnostics";
import { keyIdOf } from "@toolcrib/mcpkg";
import { hostileGroups } from "./hostile-cases.ts";
import { archiveOf, install, key, plan } from "./sample-packages.ts";

/** The result of the attacks. */
export interface HostileReport {
  readonly tried: number;
  readonly total: number;
  /** Titles of archives that were installed. */
  readonly installed: readonly string[];
  /** Refusals that are no error of the product, or say nothing. */
  readonly unclear: readonly string[];
  readonly codes: { readonly [code: string]: number };
  /** Greatest CPU time of one refusal in milliseconds. */
  readonly cpuMs: number;
  /** Memory that the process took beyond what it had before the first archive. */
  readonly memoryMb: number;
}

const [home = "", project = "", group = "", first = "0", distance = "1", count = "0"] = process.argv.slice(2);
const url = "https://tools.example.com/x.mcpkg";
const allowed = {
  unsigned: true,
  strippedSignature: true,
  keys: [keyIdOf(key)],
  downgrade: true,
  changedRelease: true,
  replacingFolder: true,
};
const cases = hostileGroups[group]?.() ?? [];
const chosen = cases.filter(
  (_, index) => index >= Number(first) && (index - Number(first)) % Number(distance) === 0,
);
const selected = Number(count) === 0 ? chosen : chosen.slice(0, Number(count));
const installed: string[] = [];
const unclear: string[] = [];
const codes: Record<string, number> = {};
let cpuMs = 0;

// What the code itself takes is not what an archive takes.
await plan({ home, project }, [url], { fetchBytes: async () => archiveOf(), allowed });
const archives = group === "heavy" ? selected.map(({ archive }) => archive()) : [];
globalThis.gc?.();
const before = process.memoryUsage.rss();
let peak = before;
for (const [index, { title, archive }] of selected.entries()) {
  const bytes = archives[index] ?? archive();
  const start = process.cpuUsage();
  try {
    await install({ home, project }, [url], { fetchBytes: async () => bytes, allowed });
    installed.push(title);
  } catch (error) {
    if (!isCodedError(error) || error.message.length < 20) unclear.push(`${title}: ${String(error)}`);
    else codes[error.code] = (codes[error.code] ?? 0) + 1;
  }
  const { user, system } = process.cpuUsage(start);
  cpuMs = Math.max(cpuMs, (user + system) / 1000);
  peak = Math.max(peak, process.memoryUsage.rss());
}
// The peak within an installation is that of the process, where there is one archive.
if (selected.length === 1) peak = Math.max(peak, process.resourceUsage().maxRSS * 1024);
const report: HostileReport = {
  tried: selected.length,
  total: cases.length,
  installed,
  unclear,
  codes,
  cpuMs: Math.round(cpuMs),
  memoryMb: Math.round((peak - before) / 1024 / 1024),
};
writeSync(1, JSON.stringify(report));
