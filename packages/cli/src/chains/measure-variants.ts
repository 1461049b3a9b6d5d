/** Variants of a chain, each offered by a gateway of its own, and measured in pairs by the tests of the chain. */

import { comparePairs, type OptimizedStep, type PairComparison, type TimePair } from "@toolcrib/dise";
import { SchemaValidator } from "@toolcrib/json";
import { parsePackage, type ToolPackage } from "@toolcrib/mcpkg";
import { runPackageTests, type TestResults } from "@toolcrib/mcpkg-runtime";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import type { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { callTool, startTestGateway } from "../package/test-package.ts";
import { stagePackage } from "../package/test-target.ts";
import { withSteps } from "./optimized-package.ts";

/** A chain with certain steps, ready to run. Disposing stops its gateway and removes its files. */
export interface Variant extends AsyncDisposable {
  readonly steps: readonly OptimizedStep[];
  /** Runs the tests of the chain. */
  test(): Promise<TestResults>;
  /** Runs them and returns the milliseconds of all calls together. */
  time(): Promise<{ readonly milliseconds: number; readonly results: TestResults }>;
}

/** Opens a variant of `found`. @throws {CliError} `CLI_PACKAGE_INVALID` when its steps are no valid chain */
export async function openVariant(
  context: CliContext,
  found: ToolPackage,
  {
    steps,
    loaded,
  }: {
    readonly steps: readonly OptimizedStep[];
    readonly loaded: Awaited<ReturnType<typeof loadConfigOrDefaults>>;
  },
): Promise<Variant> {
  const { value, diagnostics } = parsePackage(withSteps(found.files, steps), new SchemaValidator());
  if (value === undefined) {
    throw new CliError(
      "CLI_PACKAGE_INVALID",
      `A variant of the chain is not valid: ${diagnostics[0]?.message ?? ""}`,
    );
  }
  await using stack = new AsyncDisposableStack();
  const target = stack.use(await stagePackage(context, value, "chains optimize"));
  // It calls installed tools only, so the settings of the chain itself give it nothing.
  const gateway = stack.use(await startTestGateway(context, loaded, { ...target.trial, usesConfig: true }));
  let spentMs = 0;
  const test = () =>
    runPackageTests(value, {
      async call(args, signal) {
        const startMs = performance.now();
        try {
          return await callTool(gateway, target.trial.toolId, args, signal);
        } finally {
          spentMs += performance.now() - startMs;
        }
      },
      validator: new SchemaValidator(),
      monotonicMs: () => performance.now(),
      signal: context.signal,
    });
  const owned = stack.move();
  return {
    steps,
    test,
    async time() {
      spentMs = 0;
      const results = await test();
      return { milliseconds: spentMs, results };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Measures both in pairs, in alternating order. @returns the first test that fails, where one does */
export async function measure(
  before: Variant,
  after: Variant,
  { pairs, minGain }: { readonly pairs: number; readonly minGain: number },
): Promise<PairComparison | { readonly failure: string }> {
  const times: TimePair[] = [];
  for (let count = 0; count < pairs; count += 1) {
    const order = count % 2 === 0 ? [before, after] : [after, before];
    const measured = new Map<Variant, number>();
    for (const variant of order) {
      const { milliseconds, results } = await variant.time();
      const failing = results.results.find(({ outcome }) => outcome !== "passed");
      if (failing !== undefined) {
        const which = variant === after ? "" : "the chain as it was, ";
        return { failure: `${which}${failing.path}: ${failing.failures[0] ?? failing.outcome}` };
      }
      measured.set(variant, milliseconds);
    }
    times.push({ before: measured.get(before) ?? 0, after: measured.get(after) ?? 0 });
  }
  return comparePairs(times, minGain);
}
