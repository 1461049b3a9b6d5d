/** Creates the source of one installed package from what the gateway has: programs, egress, calls of other tools. */

import { isCodedError } from "@toolcrib/diagnostics";
import { type Manifest, type PackageFiles, readProgram } from "@toolcrib/mcpkg";
import { InstalledCheck, type InstalledPackage } from "@toolcrib/mcpkg-install";
import { type ChainDeps, createChainRunner } from "../chain/chain-runner.ts";
import { planChain } from "../chain/plan-chain.ts";
import type { EndpointRunner } from "../endpoint-runner.ts";
import { openPackageHttp, type PackageHttp, type PackageHttpDeps } from "../http/package-http.ts";
import { createImplementationsRunner } from "../implementations/implementations-runner.ts";
import { judgePackage } from "../implementations/judge-package.ts";
import type { Verdict } from "../implementations/select.ts";
import type { PackagePrograms } from "../local/package-programs.ts";
import type { StartProgram } from "../local/run-program.ts";
import { PackageSource } from "../package-source.ts";
import { McpkgRuntimeError } from "../runtime-error.ts";
import type { StarlarkRunnerDeps } from "../starlark/starlark-runner.ts";
import type { PackageConfig } from "./package-config.ts";
import { packageDeadlineMs } from "./package-facts.ts";
import type { CallLoad, PackagesContext } from "./packages-context.ts";

/** A package that is installed, and how it is configured. */
export interface OpenedPackage {
  readonly installed: InstalledPackage;
  readonly manifest: Manifest;
  readonly files: PackageFiles;
  /** Names of its tests and what they show. */
  readonly examples: readonly string[];
  readonly config: PackageConfig;
}

/** Dependencies of the source of a package. */
export interface CreatePackageDeps extends Omit<PackageHttpDeps, "context"> {
  readonly context: PackagesContext;
  readonly programs: PackagePrograms;
  /** Limits the concurrent calls. */
  readonly load: CallLoad;
  readonly chains: ChainDeps;
}

/** Creates the source of `opened`. */
export function createPackageSource(opened: OpenedPackage, deps: CreatePackageDeps): PackageSource {
  const { manifest, config } = opened;
  const { context, load } = deps;
  const files = new InstalledCheck(opened.installed);
  const { chain } = manifest;
  const { tools, monotonicMs } = deps.chains;
  return new PackageSource(
    {
      manifest,
      examples: opened.examples,
      deadlineMs: packageDeadlineMs(manifest, config),
      plan:
        chain && ((args, caller) => planChain(manifest, chain, args, { tools: tools(caller), monotonicMs })),
    },
    {
      now: context.now,
      async prepare(signal) {
        const runner =
          chain === undefined
            ? await prepareEndpoints(opened, files, deps, signal)
            : createChainRunner(manifest, chain, recordedChains(deps));
        return { run: (args, call) => load.run(call, () => runner.run(args, call)) };
      },
    },
  );
}

/** The calls of a chain, recorded or replayed where its tests run so. A replay needs no tool of a step. */
function recordedChains({ chains, replies }: CreatePackageDeps): ChainDeps {
  if (replies === undefined) return chains;
  return {
    ...chains,
    tools(context) {
      const tools = chains.tools(context);
      if (replies.mode === "record") return tools;
      return { ...tools, find: (name) => tools.find(name) ?? { source: name, inputSchema: {} } };
    },
    callTool: (context, name, args) =>
      replies.call(context.callId, name, args, () => chains.callTool(context, name, args)),
  };
}

/** @throws {CodedError} why no endpoint of the package can run */
async function prepareEndpoints(
  { installed, manifest, config, files: content }: OpenedPackage,
  files: InstalledCheck,
  deps: CreatePackageDeps,
  signal: AbortSignal,
): Promise<EndpointRunner> {
  const { toolId, folder } = installed;
  const { context, programs } = deps;
  const startUnchecked = programs.startOf({ toolId, folder, config });
  // What a program finds in its folder is what was installed, however long the gateway runs.
  const start: StartProgram = async (program, options) => {
    files.check();
    return await startUnchecked(program, options);
  };
  files.check();
  const verdicts = await judgePackage(
    { folder, manifest, config, digest: installed.digest, approvedTools: installed.approvedTools },
    { ...context, programs: { startOf: () => start } },
    signal,
  );
  const opened = new Map<string, PackageHttp>();
  const openHttp = async (verdict: Verdict): Promise<Verdict> => {
    const { endpoint } = verdict.candidate;
    if (!verdict.isUsable || endpoint.type !== "http") return verdict;
    try {
      const http = openPackageHttp(manifest, endpoint.url, config, deps);
      await http.check();
      opened.set(endpoint.url, http);
      return verdict;
    } catch (error) {
      // A single endpoint says itself why it cannot run.
      if (!isCodedError(error) || verdicts.length === 1) throw error;
      const reason = error.hint === undefined ? error.message : `${error.message}: ${error.hint}`;
      return { ...verdict, isUsable: false, reasons: [reason] };
    }
  };
  const judged = await Promise.all(verdicts.map(openHttp));
  if (!judged.some(({ isUsable }) => isUsable)) throw nothingRuns(toolId, judged);
  return createImplementationsRunner(judged, {
    toolId,
    folder,
    http: (url) => (opened.get(url) as PackageHttp).deps,
    starlark: programDeps({ installed, manifest, files: content }, deps),
    local: {
      start,
      withPlace: programs.withPlace,
      outputMaxBytes: config.limits.outputMaxBytes,
      leavesNothing: () => programs.leavesNothing({ toolId, folder, config }),
    },
    onRun:
      manifest.implementations === undefined
        ? undefined
        : ({ callId, implementation: ran, passedOver }) =>
            context.record("package.ran", {
              server: toolId,
              callId,
              ...(ran === undefined ? {} : { implementation: ran }),
              ...(passedOver.length === 0 ? {} : { passedOver: context.scrubber.value(passedOver) }),
            }),
  });
}

/** Runs the programs of a package with the tools that the operator approved, of those that it declares. */
function programDeps(
  { installed, manifest, files }: Pick<OpenedPackage, "installed" | "manifest" | "files">,
  { context: { packageRunner }, replies }: CreatePackageDeps,
): StarlarkRunnerDeps {
  const { toolId } = installed;
  const approved = new Set(installed.approvedTools);
  return {
    async run({ source, tools = [], timeoutMs }, args, context) {
      const { runner } = packageRunner;
      const code = readProgram(files, source);
      if (runner === undefined || code === undefined) {
        const reason =
          code === undefined ? `it has no program "${source}"` : "composite tools are not available";
        throw new McpkgRuntimeError("PACKAGE_UNUSABLE", `"${toolId}" cannot run: ${reason}`);
      }
      const program = {
        toolId,
        code,
        inputSchema: manifest.input_schema,
        tools: tools.filter((id) => approved.has(id)),
        timeoutMs,
        recorded: replies?.takeProgramReplies(),
      };
      return await runner.run(program, args, context);
    },
  };
}

function nothingRuns(toolId: string, verdicts: readonly Verdict[]): McpkgRuntimeError {
  const [only] = verdicts;
  const reasons =
    verdicts.length === 1 && only !== undefined
      ? only.reasons.join(", ")
      : verdicts.map(({ candidate, reasons: why }) => `${candidate.id}: ${why.join(", ")}`).join("; ");
  return new McpkgRuntimeError(
    "PACKAGE_UNUSABLE",
    verdicts.length === 1
      ? `"${toolId}" cannot run here: ${reasons}`
      : `No implementation of "${toolId}" runs here: ${reasons}`,
    { hint: `toolcrib info ${toolId} --why explains what it needs` },
  );
}
