/** `toolcrib reload`: lets the running gateways of a home load their configurations again, and shows what became of it. */

import { postToGateway } from "../access/gateway-api.ts";
import { findReachableGateways } from "../access/open-tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine, safeText } from "../output/output.ts";
import { printReport } from "../output/print-report.ts";
import type { ReloadOutcome } from "./config-reloader.ts";

/** Runs the command. */
export async function reloadGateways(context: CliContext): Promise<ExitCode> {
  const { options, output, signal } = context;
  const running = await findReachableGateways(options.home);
  if (running.length === 0) {
    output.json({ gateways: [] });
    output.print(`No gateway is running for ${options.home}`);
    return exitCodes.unavailable;
  }
  const gateways: (ReloadOutcome & { readonly url: string; readonly pid: number })[] = [];
  for (const one of running) {
    const outcome = (await postToGateway(one, "/api/v1/reload", signal)) as unknown as ReloadOutcome;
    gateways.push({ url: one.url, pid: one.pid, ...outcome });
  }
  output.json({ gateways });
  for (const gateway of gateways) show(context, gateway, gateways.length > 1);
  if (gateways.some(({ error }) => error !== undefined)) return exitCodes.usage;
  return gateways.some(({ incomplete }) => incomplete !== undefined) ? exitCodes.failed : exitCodes.done;
}

function show(
  context: CliContext,
  outcome: ReloadOutcome & { readonly url: string },
  isNamed: boolean,
): void {
  const { output } = context;
  const { url, applied, needsRestart, incomplete = [], error, warnings, loadedAt } = outcome;
  if (isNamed) output.print(`${safeLine(url)}:`);
  if (error !== undefined) {
    output.print(
      `${output.style("yellow", "not applied")}: the configuration has errors, and nothing was changed`,
    );
    printReport(context, safeText(error));
    return;
  }
  for (const path of applied) output.print(`${output.style("green", "applied")} ${safeLine(path)}`);
  for (const path of needsRestart) {
    output.print(`${output.style("yellow", "needs a restart")} ${safeLine(path)}`);
  }
  for (const reason of incomplete)
    output.print(
      `${output.style("red", "not in force")} a part of the change; restart the gateway: ${safeLine(reason)}`,
    );
  if (applied.length + needsRestart.length + incomplete.length === 0) {
    // Changed files apply by themselves within a second or two, often before this command.
    const since = loadedAt === undefined ? "" : `, since ${safeLine(loadedAt)}`;
    output.prose(`Nothing to apply: the configuration in the files is already in use${since}`);
  }
  if (warnings !== undefined) printReport(context, safeText(warnings));
}
