/**
 * `toolcrib chains optimize`: finds a faster variant of an installed chain, and writes it as a new version of the package.
 * A variant counts when it passes the tests of the chain and is faster than the chain in pairs of runs. Every run is
 * that of `toolcrib test`: governed calls in a gateway of this command, contained, on the audit trail. Nothing is
 * installed, and where nothing is faster, nothing is written.
 */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  alternativesOf,
  type ChainChange,
  type PairComparison,
  replaceTool,
  simplifyChain,
} from "@toolcrib/dise";
import { SchemaValidator } from "@toolcrib/json";
import type { ToolPackage } from "@toolcrib/mcpkg";
import { type InstalledPackage, openInstalledPackage } from "@toolcrib/mcpkg-install";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { installedPackage } from "../package/installed-packages.ts";
import { publisherKey } from "../package/publisher-key-file.ts";
import { measure, openVariant, type Variant } from "./measure-variants.ts";
import { nextVersion, optimizedPackage, writeOptimized } from "./optimized-package.ts";
import { readStepTools, type StepTools } from "./step-tools.ts";

/** Options of the command. */
export interface OptimizeFlags {
  readonly out?: string;
  readonly sign?: boolean;
  readonly key?: string;
  readonly allowCalls?: boolean;
  readonly pairs?: number;
  /** Smallest share of the time that is saved. */
  readonly minGain?: number;
  /** Milliseconds. */
  readonly timeout?: number;
}

/** A variant that was tried, or why it was not. */
interface Attempt {
  readonly change: ChainChange;
  readonly outcome: "faster" | "passes" | "slower" | "fails" | "not tried";
  readonly reason: string;
  readonly measured?: PairComparison;
}

/** Alternatives of one step that are tried. */
const alternativesMaxCount = 5;
/** Variants of one chain that are tried. */
const variantsMaxCount = 30;

/** Runs the command. */
export async function optimizeChain(
  context: CliContext,
  toolId: string,
  flags: OptimizeFlags,
): Promise<ExitCode> {
  const found = await openChain(context, toolId);
  const version = nextVersion(found.manifest.version);
  const isSigning = flags.sign === true || flags.key !== undefined;
  const out = flags.out ?? `${toolId}-${version}${isSigning ? ".mcpkg" : ""}`;
  if (existsSync(resolve(context.directory, out))) {
    throw new CliError("CLI_FILE_EXISTS", `"${out}" exists`, {
      hint: "remove it, or choose another name with --out",
    });
  }
  const key = isSigning ? await publisherKey(context, flags.key) : undefined;
  const { config, files: configFiles } = await loadConfigOrDefaults(context);
  // Whether a program may change something follows from its sandbox, so that none runs without one here.
  const sandbox = { ...config.sandbox, mode: "required" } as const;
  const tools = await readStepTools(context, { config: { ...config, sandbox }, files: configFiles });
  if (flags.allowCalls !== true) refuseWrites(toolId, tools.writersOf(found.manifest));
  const search = new Search(context, { found, tools, flags });
  const best = await search.run();
  const { output } = context;
  if (best === undefined) {
    output.json({ toolId, version: found.manifest.version, attempts: search.attempts, written: null });
    output.print(
      `Nothing faster passes the tests of ${toolId} ${found.manifest.version}: nothing was written`,
    );
    return exitCodes.done;
  }
  const files = optimizedPackage(found, {
    steps: best.steps,
    version,
    changes: best.changes,
    measured: best.measured,
    now: context.now(),
    digest: search.digest,
  });
  const written = await writeOptimized(context, files, { out, key });
  const { measured, changes } = best;
  output.json({ toolId, version, attempts: search.attempts, changes, measured: measured ?? null, written });
  output.print(
    `Wrote ${safeLine(out)}: ${toolId} ${version}${measured === undefined ? ", which passes its tests" : `, ${gainOf(measured)}`}`,
    ...(written.keyId === undefined ? [] : [`Signed by ${written.keyId}`]),
    `Read its steps, then install it: toolcrib${context.options.homeFlag} install ${safeLine(out.includes("/") || out.endsWith(".mcpkg") ? out : `./${out}`)}${found.scope === "user" ? " --user" : ""}`,
  );
  return exitCodes.done;
}

async function openChain(
  context: CliContext,
  toolId: string,
): Promise<ToolPackage & Pick<InstalledPackage, "digest" | "scope">> {
  const hint =
    "chains optimize takes the toolId of an installed chain; toolcrib info lists what is installed";
  const installed = await installedPackage(context, toolId, hint);
  const found = openInstalledPackage(installed, new SchemaValidator());
  if (found.manifest.chain === undefined) {
    throw new CliError("CLI_USAGE", `${toolId} is not a chain: it has no steps that could be optimized`, {
      hint,
    });
  }
  if (found.tests.size === 0) {
    throw new CliError("CLI_PACKAGE_UNTESTED", `The chain ${toolId} ${found.manifest.version} has no tests`, {
      hint: "without tests nothing says whether a variant does the same: write tests/NAME.test.json, name it in tests of the manifest, and install it again",
    });
  }
  return { ...found, digest: installed.digest, scope: installed.scope };
}

/** @throws {CliError} `CLI_TEST_CALLS_OTHERS` */
function refuseWrites(toolId: string, writers: readonly string[]): void {
  if (writers.length === 0) return;
  throw new CliError(
    "CLI_TEST_CALLS_OTHERS",
    `The tests of ${toolId} would run many times, and these tools of its steps may change something: ${writers.map(safeLine).join(", ")}`,
    {
      hint: "where that is wanted, such as on a test account, add --allow-calls; a tool that only reads can have mutability_class: read_only in its entry below packages",
      data: { tools: writers },
    },
  );
}

/** The best variant until now. */
interface Best extends Pick<Variant, "steps"> {
  readonly changes: readonly ChainChange[];
  /** Compared with the chain as it is installed; undefined where that fails its tests. */
  readonly measured: PairComparison | undefined;
}

/** One search for a faster variant. */
class Search {
  readonly attempts: Attempt[] = [];
  readonly digest: string;
  readonly #context: CliContext;
  readonly #found: ToolPackage;
  readonly #tools: StepTools;
  readonly #flags: OptimizeFlags;
  readonly #until: number;
  #tried = 0;

  constructor(
    context: CliContext,
    {
      found,
      tools,
      flags,
    }: {
      readonly found: ToolPackage & { readonly digest: string };
      readonly tools: StepTools;
      readonly flags: OptimizeFlags;
    },
  ) {
    this.#context = context;
    this.#found = found;
    this.digest = found.digest;
    this.#tools = tools;
    this.#flags = flags;
    this.#until = performance.now() + (flags.timeout ?? 600_000);
  }

  async run(): Promise<Best | undefined> {
    const steps = this.#tools.stepsOf(this.#found.manifest);
    await using original = await this.#open(steps);
    const first = await original.test();
    const { output } = this.#context;
    output.print(
      `${this.#found.manifest.toolId} ${this.#found.manifest.version}: ${counted(steps.length, "step")}, ${first.passed} of ${counted(first.passed + first.failed, "test")} passed`,
    );
    let best: Best = { steps, changes: [], measured: undefined };
    const isBroken = first.failed > 0;
    const simpler = simplifyChain(steps, (tool) => this.#tools.mayWrite(tool));
    if (simpler !== undefined) {
      best = (await this.#try(original, best, simpler.steps, simpler.changes, isBroken)) ?? best;
    }
    for (const { step } of steps) {
      best = await this.#replace(original, best, step, isBroken);
    }
    return best.changes.length === 0 ? undefined : best;
  }

  /** Tries the alternatives of a step. @returns the best variant after that */
  async #replace(original: Variant, best: Best, name: string, isBroken: boolean): Promise<Best> {
    const index = best.steps.findIndex(({ step }) => step === name);
    const step = best.steps[index];
    const current = step && this.#tools.find(step.tool);
    // Tools that are not packages have no alternatives that could be compared.
    if (step === undefined || current === undefined) return best;
    const ranked = await this.#tools.ranked(current);
    // The chain itself can have the same capabilities, and cannot be a step of its own.
    const others = ranked.filter(({ toolId }) => toolId !== this.#found.manifest.toolId);
    const { tools, excluded } = alternativesOf(step, current, others);
    const changeTo = (to: string): ChainChange => ({
      kind: "replaced",
      step: name,
      from: step.tool,
      to,
      reason: "it is faster",
    });
    for (const { toolId, reason } of excluded) {
      this.#report({ change: changeTo(toolId), outcome: "not tried", reason });
    }
    let better = best;
    for (const { toolId } of tools.slice(0, alternativesMaxCount)) {
      const steps = replaceTool(better.steps, index, toolId);
      const repairs = isBroken && better.changes.length === 0;
      const reason = repairs ? "the chain fails its tests, and passes them with it" : "it is faster";
      const changes = [...best.changes, { ...changeTo(toolId), reason }];
      better = (await this.#try(original, better, steps, changes, isBroken)) ?? better;
    }
    return better;
  }

  /** @returns the variant where it is better than `best` */
  async #try(
    original: Variant,
    best: Best,
    steps: Variant["steps"],
    changes: readonly ChainChange[],
    isBroken: boolean,
  ): Promise<Best | undefined> {
    const change = changes.at(-1) as ChainChange;
    const isOver = performance.now() > this.#until;
    if (isOver || this.#tried >= variantsMaxCount) {
      const reason = isOver ? "the time of --timeout is over" : `${variantsMaxCount} variants were tried`;
      this.#report({ change, outcome: "not tried", reason });
      return undefined;
    }
    this.#tried += 1;
    await using variant = await this.#open(steps);
    const results = await variant.test();
    const failing = results.results.find(({ outcome }) => outcome !== "passed");
    if (failing !== undefined) {
      const reason = `${failing.path}: ${failing.failures[0] ?? failing.outcome}`;
      this.#report({ change, outcome: "fails", reason });
      return undefined;
    }
    if (isBroken && best.changes.length === 0) {
      this.#report({ change, outcome: "passes", reason: change.reason });
      return { steps, changes, measured: undefined };
    }
    const measured = await this.#compare(original, best, variant, isBroken);
    if (measured.failure !== undefined) {
      this.#report({ change, outcome: "fails", reason: measured.failure });
      return undefined;
    }
    const { step, whole } = measured;
    this.#report({
      change,
      outcome: step.isFaster ? "faster" : "slower",
      reason: gainOf(step),
      measured: step,
    });
    return step.isFaster ? { steps, changes, measured: whole } : undefined;
  }

  /** Compares a variant with the best one, and with the installed chain. */
  async #compare(
    original: Variant,
    best: Best,
    variant: Variant,
    isBroken: boolean,
  ): Promise<
    | {
        readonly step: PairComparison;
        readonly whole: PairComparison | undefined;
        readonly failure?: undefined;
      }
    | { readonly failure: string }
  > {
    const { pairs = 7, minGain = 0.1 } = this.#flags;
    if (best.changes.length === 0) {
      const step = await measure(original, variant, { pairs, minGain });
      return "failure" in step ? step : { step, whole: step };
    }
    await using before = await this.#open(best.steps);
    await before.test();
    const step = await measure(before, variant, { pairs, minGain });
    if ("failure" in step) return step;
    const whole =
      !step.isFaster || isBroken ? undefined : await measure(original, variant, { pairs, minGain });
    return whole !== undefined && "failure" in whole ? whole : { step, whole };
  }

  #open(steps: Variant["steps"]): Promise<Variant> {
    return openVariant(this.#context, this.#found, { steps, loaded: this.#tools.loaded });
  }

  #report(attempt: Attempt): void {
    this.attempts.push(attempt);
    const { output } = this.#context;
    const mark = { faster: "✓", passes: "✓", slower: "–", fails: "✗", "not tried": "–" }[attempt.outcome];
    output.print(
      `${mark} ${safeLine(textOf(attempt.change))}: ${outcomes[attempt.outcome]}${safeLine(attempt.reason)}`,
    );
  }
}

const outcomes: { readonly [Outcome in Attempt["outcome"]]: string } = {
  faster: "",
  passes: "",
  slower: "not faster: ",
  fails: "fails ",
  "not tried": "not tried: ",
};

function textOf({ kind, step, from, to }: ChainChange): string {
  if (kind === "replaced") return `step ${step}: ${to} in place of ${from}`;
  return kind === "removed" ? `without step ${step}` : `step ${step} together with ${to}`;
}

function gainOf({ beforeMs, afterMs, fasterPairs, pairs }: PairComparison): string {
  return `${afterMs.toFixed(1)} ms instead of ${beforeMs.toFixed(1)} ms for its tests, faster in ${fasterPairs} of ${pairs} pairs`;
}
