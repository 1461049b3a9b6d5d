/** `toolcrib rank`: the installed packages with a capability, by the history of their tests and their fit to this machine. */

import { randomBytes } from "node:crypto";
import { rankTools } from "@toolcrib/dise";
import { SchemaValidator } from "@toolcrib/json";
import type { Manifest } from "@toolcrib/mcpkg";
import { type InstalledPackage, openInstalledPackage } from "@toolcrib/mcpkg-install";
import { createTestHistory, type TestRun } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { judgeInstalled } from "./explain-implementations.ts";
import { usableInstalled } from "./installed-packages.ts";

/** Options of the command. */
export interface RankFlags {
  readonly environment?: "cpu" | "gpu";
}

/** Fit of a package that runs where a graphics processor is wanted, and does not use it. */
const withoutGpuFit = 0.5;

/** Runs the command. */
export async function rankPackages(
  context: CliContext,
  capability: string,
  { environment }: RankFlags,
): Promise<ExitCode> {
  const { output, options } = context;
  const history = createTestHistory(options.home, { randomBytes });
  const validator = new SchemaValidator();
  const tools = [];
  const holds = await history.holds();
  const known = new Set<string>();
  for (const installed of await usableInstalled(context)) {
    const { manifest } = openInstalledPackage(installed, validator);
    const tags = [...manifest.capabilities, ...(manifest.meta?.tags ?? [])];
    for (const tag of tags) known.add(tag);
    if (!tags.some((tag) => tag.toLowerCase() === capability.toLowerCase())) continue;
    const { toolId, digest } = installed;
    const judged = await fitOf(context, installed, manifest, environment);
    const runs = (await history.list(toolId)).filter((run) => isCounted(run, digest, judged.chosen));
    // What is quarantined cannot run.
    const isHeld = holds.get(toolId)?.digest === digest;
    const fit = isHeld ? 0 : judged.fit;
    tools.push({ toolId, runs, fit });
  }
  const ranks = rankTools(tools);
  output.json(ranks);
  if (ranks.length === 0) {
    output.print(`No installed package has the capability "${safeLine(capability)}".`);
    if (known.size === 0)
      output.note(
        `No package is installed here: toolcrib${context.options.homeFlag} install FILE installs one`,
      );
    else output.note(`known: ${[...known].toSorted().slice(0, 50).map(safeLine).join(", ")}`);
    return exitCodes.done;
  }
  const shown = (part: number | undefined) => (part === undefined ? "–" : part.toFixed(2));
  output.table(
    [
      { title: "TOOL", canShrink: true },
      { title: "SCORE" },
      { title: "PASS RATE" },
      { title: "STABILITY" },
      { title: "LATENCY" },
      { title: "FIT" },
      { title: "MEDIAN" },
      { title: "RUNS" },
    ],
    ranks.map(({ toolId, score, parts, latencyMs, runs }) => [
      toolId,
      score.toFixed(2),
      shown(parts.passRate),
      shown(parts.stability),
      shown(parts.latency),
      shown(parts.fit),
      latencyMs === undefined ? "–" : `${Math.round(latencyMs)} ms`,
      String(runs),
    ]),
  );
  return exitCodes.done;
}

/** Whether a run of tests counts for a package: of the installed archive, on the implementation that calls use. */
export function isCounted(run: TestRun, digest: string, chosen: string | undefined): boolean {
  const { implementation } = run;
  return run.digest === digest && (implementation === undefined || implementation === chosen);
}

/**
 * The fit of a package: 0 where none of its implementations can run. The steps of a chain have a choice of their own.
 * With the id of the implementation that calls use.
 */
async function fitOf(
  context: CliContext,
  installed: InstalledPackage,
  manifest: Manifest,
  environment: RankFlags["environment"],
): Promise<{ readonly fit: number; readonly chosen: string | undefined }> {
  if (manifest.chain !== undefined) return { fit: 1, chosen: undefined };
  const usable = (await judgeInstalled(context, installed, manifest)).filter(({ isUsable }) => isUsable);
  const chosen = usable[0]?.candidate.id;
  const withGpu = usable.filter(({ candidate }) => candidate.requirements["gpu"] === true);
  if (usable.length === 0) return { fit: 0, chosen };
  if (environment === "gpu") return { fit: withGpu.length > 0 ? 1 : withoutGpuFit, chosen };
  return { fit: environment === "cpu" && withGpu.length === usable.length ? 0 : 1, chosen };
}
