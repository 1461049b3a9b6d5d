/** The installed packages as tools of steps: what each takes and gives, whether it may change something, and its rank. */

import { randomBytes } from "node:crypto";
import { type OptimizedStep, rankTools, type StepTool } from "@toolcrib/dise";
import { SchemaValidator } from "@toolcrib/json";
import type { Manifest } from "@toolcrib/mcpkg";
import { type InstalledPackage, openInstalledPackage } from "@toolcrib/mcpkg-install";
import { candidatesOf } from "@toolcrib/mcpkg-runtime";
import { createTestHistory } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import type { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { judgeInstalled } from "../package/explain-implementations.ts";
import { usableInstalled } from "../package/installed-packages.ts";
import { isCounted } from "../package/rank-packages.ts";

type Loaded = Awaited<ReturnType<typeof loadConfigOrDefaults>>;

interface Found {
  readonly installed: InstalledPackage;
  readonly manifest: Manifest;
}

/** Chains within each other. */
const nestedMaxCount = 8;

/** Reads the installed packages. @param loaded a configuration in which programs never run without their sandbox */
export async function readStepTools(context: CliContext, loaded: Loaded): Promise<StepTools> {
  const validator = new SchemaValidator();
  const packages = await usableInstalled(context);
  const found = packages.map((installed) => ({
    installed,
    manifest: openInstalledPackage(installed, validator).manifest,
  }));
  return new StepTools(context, loaded, new Map(found.map((one) => [one.installed.toolId, one])));
}

/** The installed packages. */
export class StepTools {
  readonly loaded: Loaded;
  readonly #context: CliContext;
  readonly #packages: ReadonlyMap<string, Found>;

  constructor(context: CliContext, loaded: Loaded, packages: ReadonlyMap<string, Found>) {
    this.#context = context;
    this.loaded = loaded;
    this.#packages = packages;
  }

  /** The steps of a chain as they are written. */
  stepsOf({ chain = [] }: Manifest): readonly OptimizedStep[] {
    return chain.map(({ step, tool, inputMapping, outputKey }) => ({
      step,
      tool,
      inputMapping: Object.fromEntries(Object.entries(inputMapping)) as OptimizedStep["inputMapping"],
      outputKey,
    }));
  }

  /** The tool that a step names; undefined where it is no installed package. */
  find(name: string): StepTool | undefined {
    const found = this.#find(name);
    return found && this.#toTool(found, undefined, 0);
  }

  /** Whether a call of the tool that a step names may change something; what is not an installed package may. */
  mayWrite(name: string): boolean {
    return this.#mayWrite(this.#find(name), 0);
  }

  /** Names of the tools that a chain calls and that may change something, those of chains within it too. */
  writersOf({ chain = [] }: Manifest, depth = 0): readonly string[] {
    const writers = chain.flatMap(({ tool }) => {
      const inner = this.#find(tool)?.manifest;
      if (inner?.chain !== undefined && depth < nestedMaxCount) return this.writersOf(inner, depth + 1);
      return this.mayWrite(tool) ? [tool] : [];
    });
    return [...new Set(writers)];
  }

  /** The packages with the capabilities of `current`, with their ranks and what speaks against their use. */
  async ranked(current: StepTool): Promise<readonly StepTool[]> {
    const { options } = this.#context;
    const history = createTestHistory(options.home, { randomBytes });
    const holds = await history.holds();
    const same = [...this.#packages.values()].filter(({ manifest }) =>
      current.capabilities.every((one) => manifest.capabilities.includes(one)),
    );
    const judged = await Promise.all(
      same.map(async (found) => {
        const { toolId, digest } = found.installed;
        const { chosen, reason } = await this.#choose(found);
        const runs = (await history.list(toolId)).filter((run) => isCounted(run, digest, chosen));
        const isHeld = holds.get(toolId)?.digest === digest;
        const unusable = isHeld
          ? "it is quarantined because its behaviour changed"
          : (failingOf(runs.at(-1)) ?? reason);
        return { found, runs, unusable };
      }),
    );
    const ranks = rankTools(
      judged.map(({ found, runs, unusable }) => ({
        toolId: found.installed.toolId,
        runs,
        fit: unusable === undefined ? 1 : 0,
      })),
    );
    const scores = new Map(ranks.map(({ toolId, score }) => [toolId, score]));
    return judged.map(({ found, unusable }) =>
      this.#toTool(found, unusable, scores.get(found.installed.toolId) ?? 0),
    );
  }

  #find(name: string): Found | undefined {
    return this.#packages.get(name.split(":", 1)[0] ?? "");
  }

  #configOf(toolId: string) {
    const { byId, others } = this.loaded.config.packages;
    return Object.hasOwn(byId, toolId) ? (byId[toolId] ?? others) : others;
  }

  /** The implementation that calls of a package use, or why it has none. */
  async #choose({
    installed,
    manifest,
  }: Found): Promise<{ readonly chosen?: string; readonly reason?: string }> {
    if (!this.#configOf(installed.toolId).isEnabled) return { reason: "it is disabled in the configuration" };
    if (manifest.chain !== undefined) return {};
    const verdicts = await judgeInstalled(this.#context, installed, manifest);
    const chosen = verdicts.find(({ isUsable }) => isUsable)?.candidate.id;
    if (chosen !== undefined) return { chosen };
    return {
      reason: `it does not run on this machine: ${verdicts[0]?.reasons[0] ?? "it has no implementation"}`,
    };
  }

  #toTool(found: Found, unusable: string | undefined, score: number): StepTool {
    const { toolId, capabilities, input_schema: inputSchema, output_schema: outputSchema } = found.manifest;
    return {
      toolId,
      capabilities,
      inputSchema,
      outputSchema,
      mayWrite: this.#mayWrite(found, 0),
      unusable,
      score,
    };
  }

  #mayWrite(found: Found | undefined, depth: number): boolean {
    if (found === undefined || depth > nestedMaxCount) return true;
    const { manifest } = found;
    const config = this.#configOf(manifest.toolId);
    if (config.mutabilityClass === "read_only") return false;
    if (manifest.chain !== undefined) {
      return manifest.chain.some(({ tool }) => this.#mayWrite(this.#find(tool), depth + 1));
    }
    const { networkEgress, filesystemWrite, hasState } = config.effective;
    const isContained = networkEgress === "deny" && filesystemWrite === "deny" && !hasState;
    return candidatesOf(manifest).some(({ endpoint }) => {
      if (endpoint.type === "http") return !["GET", "HEAD", "OPTIONS"].includes(endpoint.method);
      // A contained program has nothing that it could change.
      return endpoint.type !== "local" || !isContained;
    });
  }
}

/** Why a tool is not used whose own tests failed when they ran last. */
function failingOf(
  run: Parameters<typeof rankTools>[0][number]["runs"][number] | undefined,
): string | undefined {
  const failing = run?.tests.filter(({ outcome }) => outcome !== "passed") ?? [];
  return failing.length === 0 ? undefined : `its own test ${failing[0]?.path} failed when it ran last`;
}
