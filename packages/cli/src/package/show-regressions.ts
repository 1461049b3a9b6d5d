/** `toolcrib regressions`: the newest run of the tests of each installed package, compared with the runs before. Runs no test. */

import { randomBytes } from "node:crypto";
import { findRegressions, type Regression } from "@toolcrib/dise";
import { createTestHistory, type TestRun } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { installedPackage, usableInstalled } from "./installed-packages.ts";

/** A package and what became worse. */
interface ComparedPackage {
  readonly toolId: string;
  readonly version: string;
  readonly runs: number;
  readonly regressions: readonly Regression[];
}

/** Compares runs of the same implementation: another one takes another time. */
function regressionsOf(runs: readonly TestRun[]): readonly Regression[] {
  const compared = Map.groupBy(runs, ({ implementation }) => implementation);
  return [...compared].flatMap(([id, own]) =>
    findRegressions(own).map((one) =>
      id === undefined ? one : { ...one, message: `${id}: ${one.message}` },
    ),
  );
}

/** Runs the command. Fails where something became worse. */
export async function showRegressions(context: CliContext, toolId: string | undefined): Promise<ExitCode> {
  const { output, options } = context;
  const hint = "toolcrib info lists the installed packages";
  const wanted =
    toolId === undefined ? await usableInstalled(context) : [await installedPackage(context, toolId, hint)];
  const history = createTestHistory(options.home, { randomBytes });
  const compared: ComparedPackage[] = [];
  for (const { toolId: id, version } of wanted) {
    const runs = await history.list(id);
    compared.push({ toolId: id, version, runs: runs.length, regressions: regressionsOf(runs) });
  }
  output.json(compared);
  const worse = compared.filter(({ regressions }) => regressions.length > 0);
  for (const { toolId: id, version, regressions } of worse) {
    output.print(`${output.style("red", id)} ${version}`);
    for (const { test, message } of regressions) output.print(`  ${safeLine(test)}: ${safeLine(message)}`);
  }
  if (worse.length === 0) {
    const measured = compared.filter(({ runs }) => runs > 1).length;
    output.print(
      measured === 0
        ? "Nothing was compared: no installed package has two runs of its tests."
        : `No regression in ${counted(measured, "package")} with earlier runs.`,
    );
  }
  const untested = compared.filter(({ runs }) => runs < 2);
  if (untested.length > 0) {
    output.note(
      `Fewer than two runs: ${untested.map((one) => one.toolId).join(", ")}; toolcrib${context.options.homeFlag} test TOOLID makes one`,
    );
  }
  return worse.length === 0 ? exitCodes.done : exitCodes.failed;
}
